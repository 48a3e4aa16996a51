// What the model reads of a turn: waiting events, what was said around the words, our header, the words. Foreign text
// stands inside a boundary or a mark, and outside stands who asks and what is wanted. This is the door of `prompt/`.
import { readFile } from "node:fs/promises"
import type { Clock, Ids } from "../kernel/index.ts"
import type { ContentPart, ModelMessage } from "../models/contract.ts"
import { wrapUntrusted } from "./boundary.ts"
import type { ShownEvent } from "./events.ts"
import { headerOf, isWrapped, shownName } from "./prompt/asking.ts"
import { indented, renderSegments } from "./prompt/segments.ts"
import { silenceToken } from "./silence.ts"
import type { TurnInput } from "./turn-input.ts"

export { hasMark, markLine } from "./prompt/segments.ts"
export { heartbeatToken, isHeartbeatAck } from "./prompt/acknowledgment.ts"
export { fillInstructions } from "./prompt/place-fields.ts"
export { systemPrompt } from "./prompt/system.ts"
export { createTimeTexts, liveTimeText } from "./prompt/time.ts"

export interface PromptOptions {
  ids: Ids
  clock: Clock
  /** How a time is shown, in the zone of the one who is served. */
  timeText: (ms: number) => string
}

/** Events first, then our header, then the text; foreign text inside its boundary. */
export function userMessage(
  options: PromptOptions,
  input: TurnInput,
  events: readonly ShownEvent[],
  pictures: readonly ContentPart[] = [],
): Extract<ModelMessage, { role: "user" }> {
  const blocks = events.map((event) => describeEvent(options, event))
  blocks.push(...contextOf(options, input))
  const { parts } = input
  if (parts) blocks.push(`[${parts.length} messages came while you were at work, oldest first. Answer all of them.]`)
  const facts = { now: options.timeText(options.clock.now()), hasEvents: events.length > 0 }
  for (const [index, part] of (parts ?? [input]).entries()) {
    if (parts) blocks.push(`--- Queued #${index + 1}`, ...contextOf(options, part))
    if (part.steered) blocks.push(seenBefore)
    const header = headerOf(part, facts)
    blocks.push(`${header === undefined ? "" : `${header}\n`}${bodyOf(options.ids, part)}`)
  }
  const content: ContentPart[] = [{ type: "text", text: blocks.join("\n\n") }]
  return { role: "user", content: [...content, ...pictures] }
}

const seenBefore = `[You were shown this while you worked on the turn before. Answer what is still open of it; where nothing is, reply exactly ${silenceToken}.]`

/** What was said around the words. */
function contextOf({ ids }: PromptOptions, { context = [] }: TurnInput): string[] {
  return context.map(({ label, about, text }) => {
    const words =
      text === "" && about === undefined ? "" : `\n${wrapUntrusted(ids, { source: "message", about, text })}`
    return `${label}${words}`
  })
}

function bodyOf(ids: Ids, input: TurnInput): string {
  if (!isWrapped(input)) return input.text
  const source = input.purpose === "hook" ? "webhook" : "message"
  if (input.segments) return renderSegments(ids, input.segments, { source })
  return wrapUntrusted(ids, { source, about: aboutOf(input), text: input.text })
}

/** A hook's name that the header tells is not told again. */
function aboutOf(input: TurnInput): TurnInput["about"] {
  if (shownName(input) === undefined) return input.about
  const { hook: _told, ...rest } = input.about ?? {}
  return rest
}

/** The pictures of an input, read before there is a transaction. One that is gone is not shown. */
export async function readPictures(input: TurnInput): Promise<ContentPart[]> {
  const parts: ContentPart[] = []
  for (const { path, mediaType } of input.media ?? []) {
    if (!mediaType.startsWith("image/")) continue
    const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined
      throw error
    })
    if (bytes) parts.push({ type: "image", mediaType, data: bytes.toString("base64") })
  }
  return parts
}

/** In front of the further lines of an event, so that none can pass for another event. */
const eventIndent = "  "

function describeEvent({ ids, timeText }: PromptOptions, shown: ShownEvent): string {
  const { event, pieces, from } = shown
  const goesOn = from > 0 ? " (what was left of it)" : ""
  const begin = `System: [${timeText(event.created_at)}]`
  // What an owner has asked for does not come from him: a page may have said it.
  const sender = event.origin === "owner" ? "" : ` from ${event.origin}`
  const words = event.trusted === 0 ? `${begin}${sender}${goesOn}:` : `${begin}${goesOn}`
  const text = pieces.map((piece) => piece.text).join("")
  const rest = restOf(shown)
  if (event.segments !== null) {
    const whole = [{ kind: "operator", text: `${words} ` } as const, ...pieces]
    return `${renderSegments(ids, whole, { source: "event", indent: eventIndent })}${rest}`
  }
  if (event.trusted !== 0) return `${words} ${indented(text, eventIndent)}${rest}`
  return `${words}\n${wrapUntrusted(ids, { source: "event", text })}${rest}`
}

function restOf({ to, length, isInShort }: ShownEvent): string {
  if (to === length) return ""
  const what = isInShort ? "are left out, because no model took them" : "follow with the next turn"
  return `\n${eventIndent}(${length - to} more characters ${what})`
}
