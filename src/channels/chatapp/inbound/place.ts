// Where a message was said: the route of its answer and the session it belongs to. Fixed here, once.
import type { Chat, Message } from "grammy/types"
import { groupKey, mainKey } from "../../../sessions/keys.ts"
import type { Route } from "../../../sessions/route.ts"
import { type AccountSettings, channelName } from "../settings.ts"
import type { Lookups } from "./lookups.ts"

export interface Place {
  route: Route
  /** Who answers there. */
  agentId: string
  sessionKey: string
  /** Topic of a forum; the general topic is "1", though its messages carry no thread id. */
  topicId?: string
}

export const generalTopic = "1"

/**
 * Where somebody is heard: a guest who writes directly has a session of his own, whatever others share. With
 * `session.scope: global` everybody of standing shares the main session, in groups too; members without stay in the group's.
 */
export function placeFor(
  place: Place,
  { trusted }: { trusted: boolean },
  { settings }: { settings: Pick<AccountSettings, "guestSession" | "isOneSession"> },
): Place {
  const { agentId } = place
  const { chatKind, chatId } = place.route
  if (trusted && settings.isOneSession) return { ...place, sessionKey: mainKey(agentId) }
  if (trusted || chatKind !== "private") return place
  return { ...place, sessionKey: settings.guestSession(agentId, chatId) }
}

export function placeOf(
  message: Message,
  {
    settings,
    agentId: defaultAgent,
    look,
  }: {
    settings: Pick<AccountSettings, "accountId" | "directSession" | "boundAgent">
    agentId: string
    look?: Pick<Lookups, "sentRoute">
  },
): Place {
  const chatId = String(message.chat.id)
  const topicId = topicOf(message)
  const agentId = settings.boundAgent({ chatKind: message.chat.type, chatId, topicId }) ?? defaultAgent
  const threadId = topicId ?? directThread(message)
  const post = commentsOf(message, look)
  const route: Route = {
    channel: channelName,
    account: settings.accountId,
    chatId,
    chatKind: message.chat.type,
    ...(threadId === undefined ? {} : { threadId }),
    ...(post === undefined ? {} : { commentsOf: post }),
    messageId: String(message.message_id),
  }
  // A thread of a direct chat changes where the answer appears, not which conversation it is.
  const sessionKey = isDirect(message.chat)
    ? settings.directSession(agentId, chatId)
    : groupKey(agentId, channelName, chatId, topicId)
  return { route, agentId, sessionKey, ...(topicId === undefined ? {} : { topicId }) }
}

export function isDirect(chat: Pick<Chat, "type">): boolean {
  return chat.type === "private"
}

/** Groups without topics also number the comments under a post: only a forum's threads are topics. */
function topicOf(message: Message): string | undefined {
  if (message.chat.type !== "supergroup" || !message.chat.is_forum) return undefined
  const isTopic = message.is_topic_message && message.message_thread_id !== undefined
  return isTopic ? String(message.message_thread_id) : generalTopic
}

/**
 * The post of a linked channel that this is a comment on: it answers the post, or an answer of ours below it. The
 * platform names the thread of any reply, so a number alone does not tell.
 */
function commentsOf(message: Message, look: Pick<Lookups, "sentRoute"> | undefined): string | undefined {
  const { chat, reply_to_message: replied } = message
  if (chat.type !== "supergroup" || chat.is_forum) return undefined
  if (replied?.is_automatic_forward) return String(replied.message_id)
  const ours = [message, replied].find((each) => each?.from?.is_bot)
  return ours && look?.sentRoute(chat, ours.message_id)?.commentsOf
}

function directThread(message: Message): string | undefined {
  return isDirect(message.chat) && message.message_thread_id !== undefined
    ? String(message.message_thread_id)
    : undefined
}
