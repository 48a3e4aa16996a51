// Bytes -> server-sent events, or one whole JSON body. Takes what real servers send: any line end, a byte order mark,
// comments, a last event without its empty line, JSON without `data:`. Linear in the bytes.
import { AppError } from "../../kernel/index.ts"

export type ServerEvent =
  | { kind: "event"; name: string | undefined; data: string }
  /** The body is no stream: all of its text, or the beginning of one without any event. Comes alone. */
  | { kind: "body"; text: string }

/** A whole reply is far smaller; the guarded fetch ends what is endless. */
const maxBodyCharacters = 16 * 1024 * 1024

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  const lines = createLines()
  const frame = createFrame()
  let isBody: boolean | undefined
  let start = ""
  const whole: string[] = []
  let size = 0
  let hasEvents = false
  const take = (taken: readonly string[]) => {
    const events = frame.take(taken)
    hasEvents ||= events.length > 0
    return events
  }
  for await (const bytes of body) {
    let text = decoder.decode(bytes, { stream: true })
    if (isBody === undefined) {
      start = (start + text).trimStart()
      if (start === "") continue
      // No line of events begins with these.
      isBody = start.startsWith("{") || start.startsWith("[")
      text = start
    }
    if (isBody) {
      size += text.length
      if (size > maxBodyCharacters) throw new AppError("model-failed", "The reply had no end and was cut off")
      whole.push(text)
    } else yield* take(lines.take(text))
  }
  if (isBody) yield { kind: "body", text: whole.join("") }
  else yield* take([...lines.take(decoder.decode()), ...lines.rest(), ""])
  // Words that are neither: not the comments and fields of a stream that was cut before its first event.
  if (!isBody && !hasEvents && !/^(?::|data|event|id|retry|$)/.test(start)) yield { kind: "body", text: start }
}

interface Lines {
  take(text: string): string[]
  rest(): string[]
}

/** Lines end with CR LF, LF or CR, and an end may be cut in half. */
function createLines(): Lines {
  let pending: string[] = []
  let endsWithReturn = false
  return {
    take(text) {
      if (text === "") return []
      const isSecondHalf = endsWithReturn && text.startsWith("\n")
      endsWithReturn = text.endsWith("\r")
      const pieces = (isSecondHalf ? text.slice(1) : text).split(/\r\n|\n|\r/)
      const last = pieces.pop() ?? ""
      if (pieces.length === 0) {
        pending.push(last)
        return []
      }
      pending.push(pieces[0] ?? "")
      const lines = [pending.join(""), ...pieces.slice(1)]
      pending = [last]
      return lines
    },
    rest: () => [pending.join("")],
  }
}

interface Frame {
  take(lines: readonly string[]): ServerEvent[]
}

function createFrame(): Frame {
  let data: string[] = []
  let name: string | undefined
  const close = (): ServerEvent[] => {
    const event: ServerEvent = { kind: "event", name, data: data.join("\n") }
    data = []
    name = undefined
    return event.data === "" || event.data === "[DONE]" ? [] : [event]
  }
  const takeLine = (line: string): ServerEvent[] => {
    if (line === "") return close()
    // Some servers write an error between the frames as bare JSON.
    if (line.startsWith("{")) return [...close(), { kind: "event", name: undefined, data: line }]
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (field === "data") data.push(value)
    else if (field === "event") name = value
    return []
  }
  return { take: (lines) => lines.flatMap(takeLine) }
}
