// The emoji that the platform lets a bot react with.
import type { ReactionTypeEmoji } from "grammy/types"

export type ReactionEmoji = ReactionTypeEmoji["emoji"]

const allowed: ReadonlySet<string> = new Set([
  ..."👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈".split(
    " ",
  ),
  ..."😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡".split(" "),
])

/** With or without the selector that asks for the coloured form; undefined when it is not allowed. */
export function reactionEmoji(text: string): ReactionEmoji | undefined {
  const plain = text.trim().replaceAll("\ufe0f", "")
  return allowed.has(plain) ? (plain as ReactionEmoji) : undefined
}
