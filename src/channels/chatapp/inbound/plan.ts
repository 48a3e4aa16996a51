// update -> access -> inbox row with its job or pairing answer. Pure but for the pairing book, and quick: a batch is
// planned in memory and written in one transaction.
import type { Message, Update } from "grammy/types"
import { type TurnInput, turnJob } from "../../../agent/turn-input.ts"
import type { Ids, Json } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { mainKey } from "../../../sessions/keys.ts"
import type { IngestEntry, NewOutbox } from "../../../store/index.ts"
import { type AccessDecision, decideDirect } from "../../access.ts"
import type { PairingBook } from "../../pairing-book.ts"
import { type AccountSettings, channelName } from "../settings.ts"
import { forwardLabel, messageText, senderLabel } from "./message.ts"

export interface PlanContext {
  settings: AccountSettings
  botId: string
  agentId: string
  book: PairingBook
  now: number
  ids: Ids
  /** Rows that tell an unknown sender how to be let in. */
  pairingReply(route: Route, senderId: string, code: string): NewOutbox[]
}

export type Planned =
  /** Goes to the agent. `remember` is false for people who are let in only because everybody is. */
  | { kind: "accepted"; entry: IngestEntry; route: Route; sessionKey: string; remember: boolean }
  | { kind: "asked"; entry: IngestEntry; told: boolean; senderId: string }
  | { kind: "skipped"; entry: IngestEntry; reason: SkipReason; chatId?: string }

export type SkipReason =
  | "group"
  | "edited"
  | "service-message"
  | "no-sender"
  | "other-kind"
  | "unreadable"
  | Extract<AccessDecision, { kind: "drop" }>["rule"]

export function planUpdate(update: Update, context: PlanContext): Planned {
  const { message } = update
  if (!message) {
    const edited = update.edited_message !== undefined
    return skip(update, context, edited ? "edited" : "other-kind", { kind: kindOf(update) })
  }
  if (message.chat.type !== "private") return skip(update, context, "group", facts(message))
  if (!message.from) return skip(update, context, "no-sender", facts(message))
  const sender = { id: String(message.from.id), username: message.from.username, isBot: message.from.is_bot }
  const { settings, book } = context
  const decision = decideDirect(settings.dmPolicy, settings.allow, book.paired, sender)
  if (decision.kind === "drop") return skip(update, context, decision.rule, facts(message))
  const text = messageText(message)
  if (text === undefined) return skip(update, context, "service-message", facts(message))
  if (decision.kind === "pair") return ask(update, message, sender.id, context)
  return accept(update, message, text, decision, context)
}

function accept(
  update: Update,
  message: Message,
  text: string,
  decision: Extract<AccessDecision, { kind: "accept" }>,
  context: PlanContext,
): Planned {
  const { agentId } = context
  const sessionKey = mainKey(agentId)
  const route = routeOf(message, context)
  const forwarded = forwardLabel(message)
  const input: TurnInput = {
    agentId,
    sessionKey,
    purpose: "chat",
    origin: decision.origin,
    // Forwarded words are somebody else's, whoever sends them on.
    trusted: decision.trusted && forwarded === undefined,
    header: headerOf(message),
    about: {
      sender: message.from ? senderLabel(message.from) : "",
      ...(forwarded === undefined ? {} : { forwardedFrom: forwarded }),
    },
    text,
    route,
  }
  const entry = entryOf(update, context, { ...facts(message), rule: decision.rule })
  entry.jobs = [turnJob(context.ids.uuid(), input)]
  return { kind: "accepted", entry, route, sessionKey, remember: decision.trusted }
}

function ask(update: Update, message: Message, senderId: string, context: PlanContext): Planned {
  const entry = entryOf(update, context, { ...facts(message), rule: "pairing" })
  const label = message.from ? senderLabel(message.from) : senderId
  const answer = context.book.ask({ senderId, chatId: String(message.chat.id), label }, context.now)
  if (answer.kind === "issued") entry.outbox = context.pairingReply(routeOf(message, context), senderId, answer.code)
  return { kind: "asked", entry, told: answer.kind === "issued", senderId }
}

function skip(update: Update, context: PlanContext, reason: SkipReason, seen: Record<string, Json>): Planned {
  const entry = entryOf(update, context, { ...seen, skipped: reason })
  return { kind: "skipped", entry, reason, ...(typeof seen["chat"] === "string" ? { chatId: seen["chat"] } : {}) }
}

/** Delivery ids belong to the bot, not to the account: with another token they mean something else. */
function entryOf(update: Update, { botId }: PlanContext, payload: Json): IngestEntry {
  return { source: channelName, account: botId, deliveryId: String(update.update_id), payload }
}

function routeOf(message: Message, { settings }: PlanContext): Route {
  return {
    channel: channelName,
    account: settings.accountId,
    chatId: String(message.chat.id),
    chatKind: "private",
    ...(message.message_thread_id === undefined ? {} : { threadId: String(message.message_thread_id) }),
    messageId: String(message.message_id),
  }
}

/** Numbers and words of ours only: it stands outside the untrusted boundary. */
function headerOf(message: Message): string {
  const time = new Date(message.date * 1000).toISOString().replace(".000Z", "Z")
  return `[chatapp private chat ${message.chat.id}, message ${message.message_id}, ${time}]`
}

/** What the inbox keeps of an update. The words themselves are in the job; a dropped message's are not kept. */
function facts(message: Message): Record<string, Json> {
  return {
    kind: "message",
    chat: String(message.chat.id),
    message: message.message_id,
    sender: message.from?.id ?? null,
  }
}

function kindOf(update: Update): string {
  return Object.keys(update).find((key) => key !== "update_id") ?? "empty"
}
