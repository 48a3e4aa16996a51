// What an update leads to: an inbox row with everything it causes, and what is done once that is on the disk.
import type { Update } from "grammy/types"
import type { Ids, Json } from "../../../kernel/index.ts"
import type { QueueChoice } from "../../../sessions/queue-choice.ts"
import type { Route } from "../../../sessions/route.ts"
import type { IngestEntry, NewOutbox } from "../../../store/index.ts"
import type { AccessDecision } from "../../access.ts"
import type { Activation } from "../../activation.ts"
import type { PairingBook } from "../../pairing-book.ts"
import type { PinBook } from "../../pins.ts"
import type { Lookups } from "./lookups.ts"
import type { ChatMove } from "../moves/store.ts"
import { type AccountSettings, channelName } from "../settings.ts"
import type { EarlierTurns } from "./earlier.ts"

export interface PlanContext {
  settings: AccountSettings
  botId: string
  /** Username; undefined until the platform has said it. */
  botName: string | undefined
  agentId: string
  book: Pick<PairingBook, "paired" | "ask">
  pins: PinBook
  now: number
  ids: Ids
  /** Rows that tell an unknown sender how to be let in. */
  pairingReply(route: Route, senderId: string, code: string): NewOutbox[]
  earlier: EarlierTurns
  look: Lookups
  /** What `/activation` of a session says. */
  activationOf(sessionKey: string): Activation | undefined
  /** What `/queue` of a session says. */
  queueChoiceOf(sessionKey: string): QueueChoice | undefined
  /** A group got another id: what follows in this batch may come from the new one. */
  onChatMoved(move: ChatMove): void
}

/** Done after the commit, never waited for; what it does must not matter after a crash. */
export type Effect =
  /** Ends the spinner on a button; `text` is shown to whoever touched it, for a moment. */
  | { kind: "answer-click"; queryId: string; text?: string }
  /** The stop button of a draft. */
  | { kind: "stop-turn"; chatId: string; draftId: number }

/** The bot came into a group or channel, or left it. */
export interface Membership {
  chatId: string
  isMember: boolean
}

export type Planned = { effects?: Effect[]; membership?: Membership } & (
  | { kind: "accepted"; entry: IngestEntry; route: Route; sessionKey: string; remember: boolean }
  /** An unknown sender; `told` when an answer with a code is on its way. */
  | { kind: "asked"; entry: IngestEntry; told: boolean; senderId: string }
  /** Nothing for the agent now: an event for its next turn, a line of a group's history (of that session), a setting. */
  | { kind: "noted"; entry: IngestEntry; what: string; chatId?: string; historyOf?: string; move?: ChatMove }
  | { kind: "skipped"; entry: IngestEntry; reason: SkipReason; chatId?: string }
)

export type SkipReason =
  | "edited"
  | "service-message"
  | "no-sender"
  | "other-kind"
  | "unreadable"
  | "other-bot"
  | "command-refused"
  | "empty-click"
  | "click-refused"
  | "click-repeated"
  | "buttons-off"
  | "button-lapsed"
  | "topic-unknown"
  | "reactions-off"
  | "reaction-without-emoji"
  | "reaction-to-others"
  | "reaction-refused"
  | "reaction-repeated"
  | Extract<AccessDecision, { kind: "drop" }>["rule"]

export function skip(
  update: Update,
  context: Pick<PlanContext, "botId">,
  reason: SkipReason,
  seen: Record<string, Json>,
): Planned {
  const entry = entryOf(update, context, { ...seen, skipped: reason })
  return { kind: "skipped", entry, reason, ...(typeof seen["chat"] === "string" ? { chatId: seen["chat"] } : {}) }
}

/** Delivery ids belong to the bot, not to the account: with another token they mean something else. */
export function entryOf(update: Update, { botId }: Pick<PlanContext, "botId">, payload: Json): IngestEntry {
  const [updateId, clickId] = deliveryIdsOf(update)
  return { source: channelName, account: botId, deliveryId: clickId ?? updateId, payload }
}

/**
 * By which it is known that an update was here. A touch of a button has an id of its own, and counts once however many
 * updates tell of it. Asked before anything of the update was checked.
 */
export function deliveryIdsOf(update: Update): [updateId: string] | [updateId: string, clickId: string] {
  const clickId: unknown = update.callback_query?.id
  return typeof clickId === "string" ? [String(update.update_id), `click:${clickId}`] : [String(update.update_id)]
}
