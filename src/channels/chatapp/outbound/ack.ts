// The reaction that says "seen" while a turn runs: decided from configuration and message alone, set by a call of its own
// at the turn's start. It is decoration: it never delays or fails a reply, and nobody tries it twice.
import type { TurnInput } from "../../../agent/turn-input.ts"
import type { Config } from "../../../config/index.ts"
import type { Background, Log } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { NewOutbox, OutboxRow } from "../../../store/index.ts"
import type { Client } from "../client.ts"
import { describeFailure } from "../failure.ts"
import type { AccountSettings } from "../settings.ts"
import type { ReactPayload } from "./payload.ts"
import type { DraftCalls } from "./draft.ts"
import { reactRow } from "./decoration.ts"
import { type ReactionEmoji, nearestReaction } from "./reaction-emoji.ts"
import type { ActionBudget } from "./typing.ts"

const usual = "👀"
/** What is done to the message afterwards waits for it, so this bounds how late that can be. */
const callTimeoutMs = 4_000

type AckInput = Pick<TurnInput, "agentId" | "route" | "mentioned" | "purpose">

export interface Ack {
  route: Route & { messageId: string }
  /** As configured. */
  wanted: string
  /** What the platform takes for it; undefined when there is nothing like it. */
  emoji: ReactionEmoji | undefined
}

/** The reaction that a turn begins with; undefined when it has none. */
export function ackOf(config: Config, settings: AccountSettings, input: AckInput): Ack | undefined {
  const { route } = input
  const messageId = route?.messageId
  if (!route || messageId === undefined || input.purpose !== "chat" || settings.reactionLevel === "off")
    return undefined
  const { ackReaction, ackReactionScope: scope } = config.messages
  // With reactionLevel `ack` this is what reactions are for: it is shown everywhere unless a scope says where.
  if (!isInScope(scope ?? (settings.reactionLevel === "ack" ? "all" : "group-mentions"), input)) return undefined
  const identity = config.agents.list.find(({ id }) => id === input.agentId)?.identity?.emoji
  const wanted = (ackReaction ?? identity ?? usual).trim()
  if (wanted === "") return undefined
  // An agent's own emoji was not chosen for this; the usual one stands in for it.
  const emoji = nearestReaction(wanted) ?? (ackReaction === undefined ? nearestReaction(usual) : undefined)
  return { route: { ...route, messageId }, wanted, emoji }
}

function isInScope(
  scope: NonNullable<Config["messages"]["ackReactionScope"]>,
  { route, mentioned }: AckInput,
): boolean {
  const isDirect = route?.chatKind === "private"
  switch (scope) {
    case "off":
    case "none":
      return false
    case "all":
      return true
    case "direct":
      return isDirect
    case "group-all":
      return !isDirect
    case "group-mentions":
      return !isDirect && mentioned === true
  }
}

export function ackKey(account: string, chatId: string): string {
  return `${account}:${chatId}`
}

export interface AckParts {
  client: Client
  calls: DraftCalls
  budget: ActionBudget
  background: Background
  log: Log
  /** Aborts when the account stops: nothing waits for an ack then. */
  signal: AbortSignal | undefined
  /** It was not shown. */
  onDropped: () => void
}

/** At once and in the background. */
export function showAck({ route, emoji }: Ack & { emoji: ReactionEmoji }, parts: AckParts): void {
  const { client, calls, budget, background, log, onDropped, signal } = parts
  if (!budget.take()) return onDropped()
  const call = client.call(
    "setMessageReaction",
    { chat_id: route.chatId, message_id: Number(route.messageId), reaction: [{ type: "emoji", emoji }] },
    { timeoutMs: callTimeoutMs, ...(signal ? { signal } : {}) },
  )
  background.run("ack reaction", async () => {
    const result = await calls.track(ackKey(route.account, route.chatId), call)
    if (result.ok) return
    onDropped()
    log.debug(
      { chat: route.chatId, message: route.messageId, reason: describeFailure(result.failure) },
      "ack not shown",
    )
  })
}

/** The row that takes it back when the reply has gone, unless the agent has put a reaction of its own there. */
export function takeAckBack(ack: Ack, earlier: readonly OutboxRow[]): NewOutbox[] {
  const { messageId, ...route } = ack.route
  const isReplaced = earlier.some(
    ({ kind, chat_id: chatId, payload }) =>
      kind === "react" && chatId === route.chatId && (JSON.parse(payload) as ReactPayload).messageId === messageId,
  )
  if (isReplaced || ack.emoji === undefined) return []
  return [reactRow(route, { messageId, emoji: null, afterReply: true })]
}
