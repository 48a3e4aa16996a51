// Was the bot addressed? By the platform's marks, by its exact username, by a reply, or by the agent's own words.
import type { Message } from "grammy/types"
import type { MentionPatterns } from "../../mentions.ts"

export interface BotIdentity {
  id: string
  /** Without the `@`; undefined until the platform has said it. */
  username: string | undefined
}

export function isMentioned(message: Message, bot: BotIdentity, words: MentionPatterns): boolean {
  if (isReplyTo(message, bot)) return true
  const text = message.text ?? message.caption
  if (text === undefined) return false
  const entities = message.entities ?? message.caption_entities ?? []
  if (entities.some((entity) => entity.type === "text_mention" && String(entity.user.id) === bot.id)) return true
  if (bot.username !== undefined && namesUser(text, bot.username)) return true
  return words.match(text)
}

/** `@name` as a whole: neither part of a longer name nor of an address. Commands with `@name` are covered by it. */
export function namesUser(text: string, username: string): boolean {
  const wanted = `@${username.toLowerCase()}`
  const lower = text.toLowerCase()
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    if (!isNamePart(lower[at + wanted.length]) && !isAddressPart(lower, at)) return true
  }
  return false
}

function isNamePart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character)
}

/** `/cmd@name` is a call, `someone@name` is not. */
function isAddressPart(text: string, at: number): boolean {
  if (!isNamePart(text[at - 1])) return text[at - 1] === "@"
  return !/(?:^|\s)\/[a-z0-9_]+$/.test(text.slice(0, at))
}

/** In a topic every message without a reply of its own refers to the message that made the topic. */
function isReplyTo(message: Message, bot: BotIdentity): boolean {
  const replied = message.reply_to_message
  if (!replied || String(replied.from?.id) !== bot.id || replied.sender_chat) return false
  const isTopicStart = message.is_topic_message === true && replied.message_id === message.message_thread_id
  return !isTopicStart && replied.forum_topic_created === undefined
}
