// bytes of a response -> events of the step: server-sent events -> chunks -> reply. Reads on behind the end of the
// reply, for counts of tokens, but only so far and so long.
import { isJsonObject, parseJson, type Json } from "../../kernel/index.ts"
import { ProviderPage, ProviderReport, type StepEvent } from "../providers/contract.ts"
import { createReplyReader, type ReplyReader } from "./reply.ts"
import { reportIn } from "./report.ts"
import { decodeEvents, type ServerEvent } from "./sse.ts"

export interface StreamParts {
  toolNames: ReadonlySet<string>
  newCallId?: (() => string) | undefined
  /** How long to wait for counts of tokens once the reply is complete. */
  trailingMs: number
  signal: AbortSignal
}

/** Counts of tokens come in the next chunk or not at all. */
const maxTrailingEvents = 64

/** The end of the body comes with `[DONE]` or right behind it, and lets the connection be used again. */
const closingMs = 50

/** Of lines that are no events, this much is kept to say what came instead. */
const maxStrayCharacters = 4096

export async function* readStream(
  body: ReadableStream<Uint8Array>,
  parts: StreamParts,
): AsyncGenerator<StepEvent, void, undefined> {
  const reply = createReplyReader(parts)
  const stray = createStray()
  let done = false
  const limitMs = () => (done ? closingMs : reply.ended ? parts.trailingMs : undefined)
  for await (const event of boundedTail(decodeEvents(body, { stray: stray.add }), limitMs)) {
    if (event.data.trim() === "[DONE]") done = true
    else for (const each of takeEvent(reply, event, stray.add)) yield each
    stray.check()
  }
  parts.signal.throwIfAborted()
  stray.check()
  yield* finishReply(reply, done, stray.text())
}

function takeEvent(reply: ReplyReader, event: ServerEvent, stray: (line: string) => void): StepEvent[] {
  if (event.data === "") return []
  const chunks = chunksOf(event.data)
  if (event.event === "error") {
    const [error = event.data] = chunks
    throw new ProviderReport((isJsonObject(error) ? reportIn(error) : undefined) ?? error)
  }
  if (chunks.length === 0) stray(event.data)
  return chunks.length === 1 && chunks[0] !== undefined
    ? reply.push(chunks[0])
    : chunks.flatMap((each) => reply.push(each))
}

/** Mostly one; several where a server leaves out the blank lines between events. */
function chunksOf(data: string): Json[] {
  const chunk = parsed(data)
  if (chunk !== undefined || !data.includes("\n")) return chunk === undefined ? [] : [chunk]
  return data
    .split("\n")
    .map(parsed)
    .filter((each) => each !== undefined)
}

function parsed(data: string): Json | undefined {
  try {
    return parseJson(data)
  } catch {
    // The caller keeps what is no JSON, to say what came when no reply did.
    return undefined
  }
}

function* finishReply(reply: ReplyReader, done: boolean, stray: string): Generator<StepEvent, void, undefined> {
  try {
    yield* reply.end(done)
  } catch (error) {
    // Something was said, but no reply: most often a proxy's own words.
    if (!(error instanceof ProviderReport) && isReport(stray)) throw new ProviderReport(stray, error)
    throw error
  }
}

/** Lines that are no events. A page of HTML is told by its first one. */
function createStray() {
  const lines: string[] = []
  let size = 0
  return {
    add: (line: string): void => {
      if (size >= maxStrayCharacters) return
      lines.push(line.slice(0, maxStrayCharacters - size))
      size += line.length + 1
    },
    text: () => lines.join("\n").trim(),
    check(): void {
      if (lines[0]?.trimStart().startsWith("<") !== true) return
      throw new ProviderPage()
    },
  }
}

/**
 * The events as they are while there is no limit, then a few more within its time. A connection that fails, or stays
 * open, behind a complete reply takes nothing away from it.
 */
async function* boundedTail(
  events: AsyncGenerator<ServerEvent, void, undefined>,
  limitMs: () => number | undefined,
): AsyncGenerator<ServerEvent, void, undefined> {
  let timer: NodeJS.Timeout | undefined
  let current: number | undefined
  let timeIsUp: Promise<undefined> | undefined
  try {
    for (let trailing = 0; trailing < maxTrailingEvents;) {
      const limit = limitMs()
      if (limit !== current) {
        clearTimeout(timer)
        timeIsUp = new Promise((resolve) => {
          timer = setTimeout(() => resolve(undefined), limit)
        })
        current = limit
      }
      const next = await (timeIsUp ? Promise.race([events.next().catch(() => undefined), timeIsUp]) : events.next())
      if (next === undefined || next.done) return
      if (timeIsUp) trailing += 1
      yield next.value
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Words instead of a reply say what is wrong; a piece of a reply that cannot be read does not. */
function isReport(stray: string): boolean {
  return stray !== "" && (!/^\s*[{[]/.test(stray) || stray.includes('"error"'))
}
