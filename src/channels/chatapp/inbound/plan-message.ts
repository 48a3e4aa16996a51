// message -> place -> access -> what it says -> turn in the lane of its session, or a pairing answer, or nothing.
import type { Message, Update } from "grammy/types"
import { turnJob } from "../../../agent/turn-input.ts"
import type { Json } from "../../../kernel/index.ts"
import { type AccessDecision, decideDirect } from "../../access.ts"
import { type Content, contentOf, senderLabel } from "./content/index.ts"
import { type Place, isDirect, placeOf } from "./place.ts"
import { type PlanContext, type Planned, entryOf, skip } from "./planned.ts"
import { saidInput } from "./said.ts"

export function planMessage(update: Update, message: Message, context: PlanContext): Planned {
  if (!isDirect(message.chat)) return skip(update, context, "group", facts(message))
  if (!message.from) return skip(update, context, "no-sender", facts(message))
  const sender = { id: String(message.from.id), username: message.from.username, isBot: message.from.is_bot }
  const { settings, book, pins, agentId } = context
  pins.see(sender)
  const decision = decideDirect(settings.dmPolicy, settings.allow, book.paired, sender, (name) => pins.idOf(name))
  if (decision.kind === "drop") return skip(update, context, decision.rule, facts(message))
  const content = contentOf(message)
  if (!content) return skip(update, context, "service-message", facts(message))
  const place = placeOf(message, { accountId: settings.accountId, agentId })
  if (decision.kind === "pair") return ask(update, message, place, sender.id, context)
  return accept(update, message, { place, content, decision }, context)
}

interface Said {
  place: Place
  content: Content
  decision: Extract<AccessDecision, { kind: "accept" }>
}

function accept(update: Update, message: Message, { place, content, decision }: Said, context: PlanContext): Planned {
  const { route, sessionKey } = place
  const input = saidInput(message, { place, content, standing: decision }, context)
  const entry = entryOf(update, context, { ...facts(message), rule: decision.rule })
  entry.jobs = [turnJob(context.ids.uuid(), input)]
  return { kind: "accepted", entry, route, sessionKey, remember: decision.trusted }
}

function ask(update: Update, message: Message, place: Place, senderId: string, context: PlanContext): Planned {
  const entry = entryOf(update, context, { ...facts(message), rule: "pairing" })
  const label = message.from ? senderLabel(message.from) : senderId
  const answer = context.book.ask({ senderId, chatId: String(message.chat.id), label }, context.now)
  if (answer.kind === "issued") entry.outbox = context.pairingReply(place.route, senderId, answer.code)
  return { kind: "asked", entry, told: answer.kind === "issued", senderId }
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
