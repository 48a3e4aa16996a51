// The fetch that the packages are given: their request -> further fields of the configuration -> the guarded fetch ->
// refusals as the contract's error -> a stream of events that the package can read, whatever form the reply had.
import { isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"
import { ProviderPage, ProviderReport, type StepCall, StreamCut } from "../providers/contract.ts"
import { overlay } from "../providers/overlay.ts"
import { readRefusal } from "../providers/refusal.ts"
import { readEvents, type ServerEvent } from "./server-events.ts"

/** How the replies of an interface are made readable for its package. */
export interface ReplyForm {
  /** The data of one event -> the events that the package gets for it. */
  mend(value: JsonObject, name: string | undefined): JsonObject[]
  /** What is missing when the stream has ended. */
  end?(): JsonObject[]
  /** Whether nothing more belongs to the reply, although its package reads on: some servers keep the connection open. */
  isOver?(): boolean
  /** Whether the reply has its reason: a connection that breaks behind it takes nothing away. */
  isWhole?(): boolean
  /** A whole reply, sent where a stream was asked for -> the events it would have had. */
  unfold(reply: JsonObject): JsonObject[]
}

/** A refusal's body says why in its first lines. */
const maxRefusalBytes = 64 * 1024

/** `form` is made anew for each reply: it may count. */
export function createTransport(call: StepCall, form: () => ReplyForm): typeof fetch {
  return async (input, init) => {
    const response = await call.fetch(input, { ...init, ...withExtraBody(init?.body, call) })
    if (!response.ok) throw await readRefusal(response)
    if (!response.body) return response
    return new Response(await readable(response.body, form()), {
      status: response.status,
      headers: { "content-type": "text/event-stream" },
    })
  }
}

/** The configured headers, the model's own over the provider's, over ours. Names are compared in lower case. */
export function mergeHeaders(
  ours: Readonly<Record<string, string | undefined>>,
  call: StepCall,
): Record<string, string> {
  const merged: Record<string, string> = {}
  for (const headers of [ours, call.settings.headers ?? {}, call.target.entry.headers ?? {}]) {
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) merged[name.toLowerCase()] = value
  }
  return merged
}

function withExtraBody(body: unknown, { settings, target }: StepCall): { body?: string } {
  const extra = [settings.extraBody, target.entry.extraBody].filter((each) => each !== undefined)
  if (extra.length === 0 || typeof body !== "string") return {}
  const request: unknown = JSON.parse(body)
  return isJsonObject(request) ? { body: JSON.stringify(extra.reduce<JsonObject>(overlay, request)) } : {}
}

/** Frames of events as the package reads them; a whole JSON body becomes the frames of a stream. */
async function readable(body: ReadableStream<Uint8Array>, form: ReplyForm): Promise<ReadableStream<Uint8Array>> {
  const events = readEvents(body)
  const first = await events.next()
  if (!first.done && first.value.kind === "body") {
    const frames = unfoldBody(first.value.text, form)
    return ReadableStream.from([encode(frames)])
  }
  return ReadableStream.from(mendEvents(first, events, form))
}

async function* mendEvents(
  first: IteratorResult<ServerEvent>,
  events: AsyncGenerator<ServerEvent>,
  form: ReplyForm,
): AsyncGenerator<Uint8Array> {
  for (let next = first; !next.done; next = await nextOf(events, form)) {
    const { value } = next
    const mended = value.kind === "event" ? form.mend(parseEvent(value.data), value.name) : unfoldBody(value.text, form)
    if (mended.length > 0) yield encode(mended)
    // A connection that breaks, or stays open, behind a complete reply takes nothing away from it.
    if (form.isOver?.()) break
  }
  const rest = form.end?.() ?? []
  if (rest.length > 0) yield encode(rest)
}

async function nextOf(events: AsyncGenerator<ServerEvent>, form: ReplyForm): Promise<IteratorResult<ServerEvent>> {
  try {
    return await events.next()
  } catch (error) {
    if (form.isWhole?.()) return { done: true, value: undefined }
    throw error
  }
}

function unfoldBody(text: string, form: ReplyForm): JsonObject[] {
  const parsed = parseBody(text)
  // One interface sends a list when it is not asked for events.
  const replies = Array.isArray(parsed) ? parsed : [parsed]
  return replies.flatMap((reply) => {
    if (!isJsonObject(reply)) throw new ProviderReport(parsed)
    if (reply.error !== undefined && reply.error !== null) throw new ProviderReport(reply)
    const frames = form.unfold(reply)
    if (frames.length === 0) throw new ProviderReport(reply)
    return frames
  })
}

function parseEvent(data: string): JsonObject {
  const value = parsed(data)
  // A piece of an event: what was in between is lost, as it is when the connection breaks.
  if (!isJsonObject(value)) throw new StreamCut()
  return value
}

function parsed(data: string): Json | undefined {
  try {
    return JSON.parse(data) as Json
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Words instead of a reply are an error; the beginning of a JSON body is a reply that was cut. */
function parseBody(text: string): Json {
  const value = parsed(text)
  if (value !== undefined) return value
  if (/^[[{]/.test(text)) throw new StreamCut()
  if (/^<(?:!doctype|html|head)/i.test(text)) {
    throw new ProviderPage()
  }
  throw new ProviderReport(text.slice(0, maxRefusalBytes))
}

const encoder = new TextEncoder()
const encode = (frames: readonly JsonObject[]) =>
  encoder.encode(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(""))
