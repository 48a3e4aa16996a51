// An edited message -> the waiting turn says the new words; or, when it has begun, a note for the next turn; or the
// line of the group's history. The same people are heard as with new messages, and what was never heard stays so.
import type { Message, Update } from "grammy/types"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { amendJob } from "../../../store/index.ts"
import { decideAccess } from "./access.ts"
import { type Speaker, planCommand } from "./command.ts"
import { contentOf } from "./content/index.ts"
import { historyEdit } from "./history.ts"
import { refOf } from "./join.ts"
import { placeFor, placeOf } from "./place.ts"
import { type PlanContext, type Planned, entryOf, skip } from "./planned.ts"
import { principalOf } from "./principal.ts"
import { type Pending, saidInput } from "./said.ts"

/** Of the new words in a note; a whole paste is not repeated. */
const maxNoteChars = 4_000

export function planEdit(update: Update, message: Message, context: PlanContext): Planned {
  const { settings } = context
  const chat = String(message.chat.id)
  const seen = { kind: "edited", chat, message: message.message_id }
  const sender = principalOf(message)
  if (!sender) return skip(update, context, "no-sender", seen)
  const said = placeOf(message, context)
  const decision = decideAccess({ chat: message.chat, topicId: said.topicId, sender }, context)
  if (decision.kind === "drop") return skip(update, context, decision.rule, { ...seen, sender: sender.id })
  if (decision.kind === "pair") return skip(update, context, "edited", seen)
  const place = placeFor(said, decision, context)
  const words = wordsOf(update, message, { place, sender, decision }, context)
  const content = contentOf(words)
  if (!content) return skip(update, context, "edited", seen)
  const ref = refOf(settings.accountId, chat, message.message_id)
  const job = context.earlier.jobOfMessage(ref)
  const entry = entryOf(update, context, { ...seen, rule: decision.rule })
  const input = saidInput(words, { place, content, standing: decision }, context)
  if (!job) {
    // Words that the agent was not asked about wait for the next turn of the group, if they still wait.
    if (place.route.chatKind === "private") return skip(update, context, "edited", seen)
    entry.rows = [historyEdit(settings.accountId, message, input.text)]
    return { kind: "noted", entry, what: "edited", chatId: chat }
  }
  const before = JSON.parse(job.payload) as TurnInput
  // Link previews, buttons and reactions are edits to the platform.
  if (!isChanged(before, input, job.attempts > 0)) return skip(update, context, "edited", seen)
  const prefix = `Message ${message.message_id} was edited by its sender.`
  const text = `${prefix} It now says:\n${shorten(input.text)}`
  const { origin, names } = input
  // An event has words of one kind only.
  const trusted = input.trusted && names === undefined
  const note = { sessionKey: job.lane_key, text, origin, trusted, prefix }
  entry.rows = amendJob(ref, JSON.stringify(amended(before, input)), note, context.now)
  return { kind: "noted", entry, what: "edited", chatId: chat }
}

/** What of it is for the agent: what stands behind a command for a new session, which is not carried out again. */
function wordsOf(update: Update, message: Message, speaker: Speaker, context: PlanContext): Message {
  const command = planCommand(update, message, speaker, context)
  return command?.kind === "first" ? command.message : message
}

/** What the message says is new; where it stands and what it is joined to stays. */
function amended(before: TurnInput, now: TurnInput): TurnInput {
  const { wrap: _wrap, pending: _pending, context: _context, sticker: _sticker, ...rest } = before
  const { sites: _sites, names: _names, ...kept } = rest
  return { ...kept, ...now }
}

function isChanged(before: TurnInput, now: TurnInput, hasBegun: boolean): boolean {
  // A turn that has begun may have become one of several messages, of which one part is edited.
  const hasWords = before.text === now.text || (hasBegun && before.join !== undefined && hasPart(before, now.text))
  const known = new Set(filesOf(before))
  return !hasWords || filesOf(now).some((id) => !known.has(id))
}

function hasPart({ join, text }: TurnInput, part: string): boolean {
  return join?.kind === "paste" ? text.includes(part) : `\n${text}\n`.includes(`\n${part}\n`)
}

function filesOf({ pending }: TurnInput): string[] {
  return (pending as Pending | undefined)?.files.map((file) => file.uniqueId) ?? []
}

function shorten(text: string): string {
  return text.length <= maxNoteChars ? text : `${text.slice(0, maxNoteChars)}…`
}
