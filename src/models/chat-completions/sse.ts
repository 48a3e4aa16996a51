// bytes -> server-sent events, for whatever a server makes of that format: any line ends, a BOM, comments, several data
// lines, no blank line at the end. JSON without `data:` in front (a whole body, or a value a line) is an event as well.

export interface ServerEvent {
  event?: string
  data: string
}

export interface DecodeOptions {
  /** Gets each line that belongs to no event: pages of HTML and messages in plain text come this way. */
  stray?: (line: string) => void
}

/** Linear in the size of the body, however it is cut. Ends the body when its reader stops early. */
export async function* decodeEvents(
  body: ReadableStream<Uint8Array>,
  options: DecodeOptions = {},
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader()
  // Holds back the bytes of a character that is cut in two, and drops a BOM.
  const text = new TextDecoder()
  const parser = createEventParser(options.stray ?? (() => undefined))
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const events = done ? parser.end(text.decode()) : parser.push(text.decode(value, { stream: true }))
      for (const event of events) yield event
      if (done) return
    }
  } finally {
    // A body that has failed already refuses to be cancelled; its failure has been thrown above.
    await reader.cancel().catch(() => undefined)
  }
}

interface EventParser {
  push(text: string): ServerEvent[]
  end(rest: string): ServerEvent[]
}

function createEventParser(stray: (line: string) => void): EventParser {
  const lines = createLineSplitter()
  const json = createJsonScanner()
  let name: string | undefined
  let data: string[] = []

  const dispatch = (events: ServerEvent[]) => {
    if (data.length > 0) {
      const text = data.length === 1 ? (data[0] ?? "") : data.join("\n")
      events.push(name === undefined ? { data: text } : { event: name, data: text })
      data = []
    }
    name = undefined
  }
  const takeField = (line: string) => {
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(line.charCodeAt(colon + 1) === space ? colon + 2 : colon + 1)
    if (field === "data") data.push(value)
    else if (field === "event") name = value
    else if (field !== "id" && field !== "retry") stray(line)
  }
  const takeLine = (line: string, events: ServerEvent[]) => {
    if (line === "" && !json.open()) return dispatch(events)
    if (line.charCodeAt(0) === colonSign) return
    const trimmed = json.open() ? line : line.trimStart()
    if (json.open() || startsJson(trimmed, 0)) {
      dispatch(events)
      const rest = json.take(trimmed, (value) => events.push({ data: value }))
      if (rest !== "") stray(rest)
    } else takeField(trimmed)
  }
  return {
    push(text) {
      const events: ServerEvent[] = []
      lines.push(text, (line) => takeLine(line, events))
      return events
    },
    end(rest) {
      const events: ServerEvent[] = []
      lines.push(rest, (line) => takeLine(line, events))
      lines.end((line) => takeLine(line, events))
      dispatch(events)
      const unfinished = json.unfinished()
      if (unfinished !== undefined) events.push({ data: unfinished })
      return events
    },
  }
}

const space = 0x20
const colonSign = 0x3a
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Lines end in CR, LF or both, in any mixture; a pair may be cut in two. */
function createLineSplitter() {
  // A line in many pieces is joined once, when its end has come: adding piece to piece would cost the square of it.
  let pending: string[] = []
  let afterReturn = false
  return {
    push(piece: string, take: (line: string) => void): void {
      let start = 0
      if (afterReturn && piece !== "") {
        if (piece.charCodeAt(0) === lineFeed) start = 1
        afterReturn = false
      }
      // Both are looked for only when passed, so that no stretch is searched twice.
      let feed = piece.indexOf("\n", start)
      let back = piece.indexOf("\r", start)
      while (feed !== -1 || back !== -1) {
        const end = back === -1 || (feed !== -1 && feed < back) ? feed : back
        pending.push(piece.slice(start, end))
        const line = pending.length === 1 ? (pending[0] ?? "") : pending.join("")
        pending = []
        start = end + 1
        if (piece.charCodeAt(end) === carriageReturn) {
          if (start === piece.length) afterReturn = true
          else if (piece.charCodeAt(start) === lineFeed) start += 1
        }
        if (feed !== -1 && feed < start) feed = piece.indexOf("\n", start)
        if (back !== -1 && back < start) back = piece.indexOf("\r", start)
        take(line)
      }
      if (start < piece.length) pending.push(start === 0 ? piece : piece.slice(start))
    },
    end(take: (line: string) => void): void {
      if (pending.length > 0) take(pending.join(""))
      pending = []
    },
  }
}

function startsJson(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code === 0x7b || code === 0x5b
}

/** Finds where values of JSON end by counting brackets; whether they are valid is for whoever parses them. */
function createJsonScanner() {
  let kept: string[] = []
  const brackets = createBracketCounter()
  return {
    open: () => kept.length > 0,
    /** Gives each value that ends in this line, and returns what follows the last one. */
    take(line: string, give: (value: string) => void): string {
      let start = 0
      while (start < line.length && (kept.length > 0 || startsJson(line, start))) {
        const end = brackets.scan(line, start)
        if (end === -1) {
          kept.push(line.slice(start))
          return ""
        }
        kept.push(line.slice(start, end))
        give(kept.join("\n"))
        kept = []
        brackets.reset()
        start = end
        while (start < line.length && isBetweenValues(line.charCodeAt(start))) start += 1
      }
      return line.slice(start)
    },
    unfinished: () => (kept.length === 0 ? undefined : kept.join("\n")),
  }
}

function isBetweenValues(code: number): boolean {
  return code === space || code === 0x09 || code === 0x2c
}

/** Follows JSON piece by piece; each character is looked at once. */
export function createBracketCounter() {
  let depth = 0
  let inString = false
  let escaped = false
  return {
    /** Index behind the bracket that closes the value, or -1. */
    scan(text: string, from: number): number {
      for (let index = from; index < text.length; index += 1) {
        const code = text.charCodeAt(index)
        if (escaped) escaped = false
        else if (inString) {
          if (code === 0x5c) escaped = true
          else if (code === 0x22) inString = false
        } else if (code === 0x22) inString = true
        else if (code === 0x7b || code === 0x5b) depth += 1
        else if (code === 0x7d || code === 0x5d) {
          depth -= 1
          if (depth <= 0) return index + 1
        }
      }
      return -1
    },
    reset(): void {
      depth = 0
      inString = false
      escaped = false
    },
  }
}
