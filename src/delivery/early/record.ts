// What has been sent of an answer before its end. It stands in the rows of the outbox themselves, so it is known exactly
// when they are: also to the turn that goes on after a crash, whose model may say something else this time.
import type { Json } from "../../kernel/index.ts"
import type { NewOutbox, OutboxRow } from "../../store/index.ts"
import type { Reply } from "../contract.ts"
import { parseReply } from "../reply.ts"

export interface EarlyPart {
  /** Number of the model step whose text it is of. */
  step: number
  /** Where in that text it begins. */
  from: number
  text: string
}

/** The rows of one part; the first carries its text. */
export function withRecord(rows: readonly NewOutbox[], part: EarlyPart): NewOutbox[] {
  const more: EarlyPart = { step: part.step, from: part.from + part.text.length, text: "" }
  return rows.map((row, index) => {
    const payload = { ...(row.payload as object), early: { ...(index === 0 ? part : more) } }
    return { ...row, payload: payload as Json }
  })
}

export function earlyPart(row: Pick<OutboxRow, "payload">): EarlyPart | undefined {
  return (JSON.parse(row.payload) as { early?: EarlyPart }).early
}

/** The parts among the rows of a turn. */
export function earlyParts(rows: readonly OutboxRow[]): EarlyPart[] {
  return rows.flatMap((row) => earlyPart(row) ?? [])
}

/**
 * A part of an answer refers to what the answer refers to: also where its tag went with a part before it. Whether that was
 * shown already is for the channel to heed.
 */
export function withReference(
  reply: Reply,
  sent: readonly EarlyPart[],
  { step, currentMessageId }: { step: number; currentMessageId: string | undefined },
): Reply {
  const referenceOf = (parts: readonly EarlyPart[]) =>
    parseReply({ text: parts.map(({ text }) => text).join(""), allowedMedia: new Set(), currentMessageId }).reply
      .replyTo
  const replyTo = reply.replyTo ?? referenceOf(sent.filter((part) => part.step === step))
  if (replyTo === undefined) return reply
  return { ...reply, replyTo, ...(referenceOf(sent) === undefined ? {} : { isReferred: true as const }) }
}

/** How much of a step's text need not be sent any more. */
export function sentLength(parts: readonly EarlyPart[], step: number, text: string): number {
  // A part that shows nothing, such as the end of a block of code, has left no row: it is over with those behind it.
  const sent = parts
    .filter((part) => part.step === step)
    .reduce((all, part) => all.slice(0, part.from) + text.slice(all.length, part.from) + part.text, "")
  let same = 0
  const most = Math.min(sent.length, text.length)
  while (same < most && sent.charCodeAt(same) === text.charCodeAt(same)) same += 1
  if (same === most) return same
  // The model has said something else after the restart: from the sentence in which it differs.
  const ends = [...text.slice(0, same).matchAll(/\n|[.!?…。！？]\s/gu)]
  const last = ends.at(-1)
  return last ? last.index + last[0].length : 0
}
