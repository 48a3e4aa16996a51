// What the offline model takes from the conversation: the task of the last user message, split by trust, and the
// tool results that came after it. It never treats words of another party as commands to the browser.
import type { ContentPart, ModelMessage, ToolCall } from "../contract.ts"

export interface SplitText {
  /** Text outside every boundary, without header and event lines. */
  own: string
  /** Contents of the untrusted blocks, in order. */
  foreign: string[]
  /** What happened: `System:` lines and blocks of events, in order. */
  events: string[]
}

/** A finished tool call of this turn, as the model saw it. */
export interface Observation {
  call: ToolCall
  /** Everything, boundary lines removed. */
  text: string
  /** Only what stood outside the boundaries: our own words. */
  ownText: string
  isError: boolean
}

export interface Conversation {
  task: SplitText
  observations: Observation[]
}

export function readConversation(messages: readonly ModelMessage[]): Conversation {
  const last = messages.findLastIndex((message) => message.role === "user")
  const user = messages[last]
  const task = splitText(user?.role === "user" ? textOf(user.content) : "")
  return { task, observations: readObservations(messages.slice(last + 1)) }
}

function readObservations(messages: readonly ModelMessage[]): Observation[] {
  const results = new Map(
    messages.flatMap((message) =>
      message.role === "tool" ? message.results.map((result) => [result.callId, result] as const) : [],
    ),
  )
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []))
  return calls.map((call) => {
    const result = results.get(call.id)
    if (!result) return { call, text: "There is no result of this call.", ownText: "", isError: true }
    const pieces = splitBoundaries(textOf(result.content))
    const all = pieces.map((piece) => piece.text).join("\n")
    const own = pieces.flatMap((piece) => (piece.source === undefined ? [piece.text] : [])).join("\n")
    return { call, text: all.trim(), ownText: own, isError: result.isError }
  })
}

export function splitText(text: string): SplitText {
  const foreign: string[] = []
  const events: string[] = []
  const lines: string[] = []
  let isBehindEvent = false
  for (const piece of splitBoundaries(text)) {
    if (piece.source === undefined) readOwnLines(piece.text, { own: lines, events, isBehindEvent })
    else if (piece.text !== "") (piece.source === "event" ? events : foreign).push(piece.text)
    isBehindEvent = piece.source === "event"
  }
  const own = lines.join("\n").trim()
  // Words with values of others in them are nobody's command.
  return hasMarks(own)
    ? { own: "", foreign: [unmarked(own), ...foreign], events: events.map(unmarked) }
    : { own, foreign, events: events.map(unmarked) }
}

function hasMarks(text: string): boolean {
  return text.includes("⟦")
}

/** Values as they were before they were marked in their line. */
function unmarked(text: string): string {
  return text.replaceAll(/[⟦⟧]/g, "")
}

/** Sorts lines of our own into words of the person and events; header lines (wholly in brackets) are neither. */
function readOwnLines(
  text: string,
  { own, events, isBehindEvent }: { own: string[]; events: string[]; isBehindEvent: boolean },
): void {
  let inEvent = isBehindEvent
  // Neither an event nor a header.
  if (!inEvent && !text.includes("System:") && !text.includes("[")) return void own.push(text)
  for (const line of text.split("\n")) {
    const begun = line.trimStart()
    const event = begun.startsWith("System:")
      ? /^System:\s{0,9}(?:\[[^\]]*\]\s{0,9})?(?:from [a-z-]+:\s{0,9})?([^]*)/.exec(begun)
      : undefined
    if (event) {
      inEvent = true
      // What ends like this only announces the block that follows, which is the event.
      if (event[1] && !event[1].endsWith(":")) events.push(event[1])
    } else if (inEvent && line.startsWith("  ")) {
      events.push(`${events.pop() ?? ""}\n${line.trim()}`.trim())
    } else {
      inEvent = false
      if (!(begun.startsWith("[") && begun.trimEnd().endsWith("]"))) own.push(line)
    }
  }
}

/** A run of text; `source` is set for the content of a boundary. */
interface Piece {
  source: string | undefined
  text: string
}

function splitBoundaries(text: string): Piece[] {
  if (!text.includes("<untrusted-content")) return [{ source: undefined, text }]
  const pieces: Piece[] = []
  let open: { source: string; end: string } | undefined
  let lines: string[] = []
  const close = (source: string | undefined) => {
    const whole = lines.join("\n")
    pieces.push({ source, text: source === undefined ? whole : withoutAbout(whole.trim()) })
    lines = []
  }
  for (const line of text.split("\n")) {
    const start =
      open || !line.includes("<untrusted-content")
        ? null
        : /^\s*<untrusted-content\s+id="([^"]*)"(?:\s+source="([^"]*)")?[^>]*>/.exec(line)
    if (start) {
      close(undefined)
      open = { source: start[2] ?? "", end: `</untrusted-content id="${start[1]}">` }
      lines = [line.slice(start[0].length)]
    } else if (open && line.includes(open.end)) {
      lines.push(line.slice(0, line.indexOf(open.end)))
      close(open.source)
      open = undefined
    } else lines.push(line)
  }
  // A boundary that is never closed stays closed to us: the rest is foreign.
  close(open?.source)
  return pieces
}

/** The first line of a block may be a JSON object of words about the text (a sender's name, a subject). */
function withoutAbout(text: string): string {
  const [first = "", ...rest] = text.split("\n")
  return rest.length > 0 && /^\{"[^"]+":".*"\}$/.test(first) ? rest.join("\n").trim() : text
}

function textOf(content: readonly ContentPart[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n")
}

/** Words of another party for use in a reply: they can neither be a media line nor a reply tag there. */
export function quoteForeign(text: string): string {
  return text
    .replaceAll("[[", "[ [")
    .replaceAll(/^([^\S\r\n\u2028\u2029]*)MEDIA:/gim, "$1MEDIA :")
    .trim()
}
