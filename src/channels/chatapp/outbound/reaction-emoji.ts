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

/** What says nearly the same, for emoji that people like to choose and the platform does not take. */
const nearest = new Map<string, string>(
  [
    ["👍", "✅ ✔ ☑ 🆗 💪 🫰"],
    ["👎", "❌ ✖ 🚫 ⛔"],
    ["👀", "⏳ ⌛ 🔍 🔎 👁 🧐 📨 📩 👓"],
    ["❤", "💙 💚 💛 💜 🧡 🖤 🤍 🤎 💗 💖 🫶 ♥"],
    ["😁", "😊 🙂 😀 😃 😄 😆 ☺"],
    ["🤣", "😂 😹"],
    ["🔥", "🚀 💥 🧨"],
    ["🤩", "⭐ 🌟 ✨"],
    ["👏", "🙌"],
    ["🤗", "👋 🖐 ✋"],
    ["✍", "📝 ✏ 🖊"],
    ["🤔", "💡 ❓ 💭"],
    ["👾", "🤖 🛸"],
  ].flatMap(([emoji = "", others = ""]) => others.split(" ").map((other) => [other, emoji] as const)),
)

/** The emoji itself, without its skin tone, or one that says nearly the same; undefined when there is none. */
export function nearestReaction(text: string): ReactionEmoji | undefined {
  const plain = text.trim().replaceAll(/\ufe0f|\p{EMod}/gu, "")
  return reactionEmoji(plain) ?? reactionEmoji(nearest.get(plain) ?? "")
}
