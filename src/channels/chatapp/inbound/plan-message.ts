// message -> place -> access -> what it says -> for the bot? -> turn in the lane of its session; else a pairing answer, a
// line of the group's history, or nothing.
import type { Message, Update } from "grammy/types"
import { type TurnInput, turnJob } from "../../../agent/turn-input.ts"
import type { Json } from "../../../kernel/index.ts"
import type { AccessDecision } from "../../access.ts"
import { readCommand, startCommand } from "../../commands/index.ts"
import { askerOf, decideAccess } from "./access.ts"
import type { NewJob } from "../../../store/index.ts"
import { type Speaker, planCommand } from "./command.ts"
import { contentOf, senderLabel } from "./content/index.ts"
import { addressing, keepForLater, placeInput } from "./conversation.ts"
import { joiningOf } from "./join.ts"
import { type Place, isDirect, placeFor, placeOf } from "./place.ts"
import { type PlanContext, type Planned, entryOf, skip } from "./planned.ts"
import { queuedAt } from "./queued.ts"
import { principalOf } from "./principal.ts"
import { saidInput } from "./said.ts"

export function planMessage(update: Update, message: Message, context: PlanContext): Planned {
  const sender = principalOf(message)
  if (!sender) return skip(update, context, "no-sender", facts(message))
  const said = placeOf(message, context)
  const decision = decideAccess({ chat: message.chat, topicId: said.topicId, sender }, context)
  if (decision.kind === "drop") {
    const topic = said.topicId === undefined ? {} : { topic: said.topicId }
    return skip(update, context, decision.rule, { ...facts(message), ...topic })
  }
  if (decision.kind === "pair") {
    const isSaid = contentOf(message) !== undefined
    return isSaid
      ? ask(update, message, said, sender.id, context)
      : skip(update, context, "service-message", facts(message))
  }
  const place = placeFor(said, decision, context)
  const command = planCommand(update, message, { place, sender, decision }, context)
  if (command?.kind === "planned") return command.planned
  const planned = planSaid(update, command?.message ?? message, { place, sender, decision }, context, command?.job)
  return planned ?? skip(update, context, "service-message", facts(message))
}

/** Words for the agent; `first` is a job that comes before them, and makes them meant for it. */
function planSaid(
  update: Update,
  message: Message,
  { place, sender, decision }: Speaker,
  context: PlanContext,
  first: NewJob | undefined,
): Planned | undefined {
  const content = contentOf(message)
  if (!content) return undefined
  const { isMentioned, isForBot, hearsAll } = addressing(message, place, context)
  const joining = joiningOf(message, place, content, context)
  const queued = queuedAt(place, sender, context)
  const input: TurnInput = {
    ...saidInput(message, { place, content, standing: decision, isLate: joining?.isLate ?? false }, context),
    ...placeInput(message.chat, { place, sender }, context.settings),
    askedBy: askerOf(sender, decision),
    ...(isMentioned ? { mentioned: true } : {}),
    ...(hearsAll ? { hearsAll } : {}),
    ...(joining ? { join: joining.join } : {}),
    ...(queued ? { queue: queued.rule } : {}),
  }
  // Of an album one part alone calls the bot: the others are meant for it too, however late they come.
  const isPartOfTurn = joining?.continues === true || joining?.isLate === true
  if (!isForBot && !isPartOfTurn && !first) return keepForLater(update, message, { place, sender, input }, context)
  const accepted = accept(update, message, { place, input, hold: joining?.hold ?? queued?.hold, decision }, context)
  if (first) accepted.entry.jobs?.unshift(first)
  return accepted
}

interface Said {
  place: Place
  input: TurnInput
  hold: Parameters<typeof turnJob>[2]
  decision: Extract<AccessDecision, { kind: "accept" }>
}

function accept(
  update: Update,
  message: Message,
  { place, input, hold, decision }: Said,
  context: PlanContext,
): Planned {
  const { route, sessionKey } = place
  const entry = entryOf(update, context, { ...facts(message), rule: decision.rule })
  entry.jobs = [turnJob(context.ids.uuid(), input, hold)]
  return { kind: "accepted", entry, route, sessionKey, remember: decision.trusted || !isDirect(message.chat) }
}

function ask(update: Update, message: Message, place: Place, senderId: string, context: PlanContext): Planned {
  const entry = entryOf(update, context, { ...facts(message), rule: "pairing" })
  const label = message.from ? senderLabel(message.from) : senderId
  // Opening the chat asks nothing: what comes after it does.
  const kept = isGreeting(message) ? {} : { message: JSON.stringify(update) }
  const answer = context.book.ask({ senderId, chatId: String(message.chat.id), label, ...kept }, context.now)
  if (answer.kind === "issued") entry.outbox = context.pairingReply(place.route, senderId, answer.code)
  return { kind: "asked", entry, told: (entry.outbox ?? []).length > 0, senderId }
}

function isGreeting({ text }: Message): boolean {
  const read = readCommand(text ?? "", { botName: undefined })
  return read.kind === "command" && read.name === startCommand
}

/** What the inbox keeps of an update. The words themselves are in the job; a dropped message's are not kept. */
function facts(message: Message): Record<string, Json> {
  return {
    kind: "message",
    chat: String(message.chat.id),
    message: message.message_id,
    sender: message.sender_chat?.id ?? message.from?.id ?? null,
  }
}
