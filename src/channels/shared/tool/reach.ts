// Which chats a turn may touch. Its own (in a forum: its topic), always; further ones only for an owner, and only chats
// that the bot knows.
// Whoever else is at the other end (a webhook, a page, an approved stranger) can never send the agent elsewhere.
import type { ToolContext } from "../../../agent/tool.ts"
import { AppError } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"

export interface Reach {
  route: Route
  /** The chat that the turn's reply goes to. */
  isOwn: boolean
}

/** True for a turn of an owner: it is offered tools also where it has no chat. */
export function isOwnersTurn({ origin, trusted }: Pick<ToolContext, "origin" | "trusted">): boolean {
  return origin === "owner" && trusted
}

/** True for a call that an owner has caused and nobody else's words are part of, or has allowed: it may name further chats. */
export function isOwners({ origin, trusted, tainted, approved }: Standing): boolean {
  return approved || (isOwnersTurn({ origin, trusted }) && !tainted)
}

type Standing = Pick<ToolContext, "origin" | "trusted" | "tainted" | "approved">

/** Throws `forbidden`. `target` undefined means the turn's own chat. */
export function reachOf(
  target: Route | undefined,
  { route, ...standing }: Standing & Pick<ToolContext, "route">,
  knows: (route: Route) => boolean,
): Reach {
  const isOwner = isOwners(standing)
  if (route && (target === undefined || isSameChat(target, route))) {
    const threadId = target?.threadId ?? route.threadId
    if (threadId !== route.threadId && !isOwner)
      throw new AppError("forbidden", "This turn may only write to the topic that it answers")
    const { threadId: _own, ...chat } = route
    return { route: threadId === undefined ? chat : { ...chat, threadId }, isOwn: true }
  }
  if (target === undefined) {
    throw new AppError("forbidden", "This turn has no chat of its own", { hint: "Name the chat with `to`" })
  }
  if (!isOwner) {
    throw new AppError("forbidden", "This turn may only reach the chat that it answers")
  }
  if (!knows(target)) {
    throw new AppError("forbidden", "The bot does not know this chat", {
      hint: "It can be reached once its people have written to the bot, or when the configuration lists it",
    })
  }
  return { route: target, isOwn: false }
}

export function isSameChat(one: Route, other: Route): boolean {
  return one.channel === other.channel && one.account === other.account && one.chatId === other.chatId
}
