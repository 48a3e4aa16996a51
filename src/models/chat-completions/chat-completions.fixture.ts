// What the tests of this folder share: a server that replays bytes exactly and keeps what it was asked, a step to ask
// it with, and streams cut wherever a test wants them cut.
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import type { JsonObject } from "../../kernel/index.ts"
import type { StepCall, StepEvent } from "../providers/contract.ts"
import { createGuardedFetch } from "../providers/guarded-fetch.ts"
import type { ModelTarget } from "../resolve.ts"
import { createChatCompletions, type ChatCompletionsParts } from "./index.ts"
import { readStream } from "./stream.ts"

export interface RawReply {
  status?: number
  headers?: Record<string, string>
  body: string | Uint8Array
  /** What happens behind the body: it ends (default), the connection breaks, or nothing more comes. */
  after?: "end" | "break" | "hold"
}

export interface ByteServer {
  url: string
  requests: { path: string; headers: IncomingHttpHeaders; body: JsonObject }[]
  /** Answers all requests from now on. */
  reply: RawReply
  /** Waits until the connection of the last answer is closed or the answer is out. */
  closed(): Promise<void>
  stop(): Promise<void>
}

export async function startByteServer(): Promise<ByteServer> {
  let closed = Promise.resolve()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject
      started.requests.push({ path: request.url ?? "", headers: request.headers, body })
      const { status = 200, headers = { "content-type": "text/event-stream" }, body: bytes, after } = started.reply
      closed = new Promise((resolve) => response.once("close", resolve))
      response.writeHead(status, headers)
      if (after === undefined || after === "end") response.end(bytes)
      // The callback comes once the bytes are out, so that the break cannot overtake them.
      else response.write(bytes, () => after === "break" && response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const started: ByteServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: [],
    reply: { body: "" },
    closed: () => closed,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return started
}

export function target(modelId: string, more: Partial<ModelTarget> = {}): ModelTarget {
  return {
    id: `mine/${modelId}`,
    providerName: "mine",
    modelId,
    settings: undefined,
    entry: {},
    contextTokens: 128_000,
    vision: true,
    maxOutputTokens: undefined,
    reasoning: undefined,
    canBeOff: undefined,
    prices: undefined,
    ...more,
  }
}

export function step(url: string, more: Partial<StepCall> = {}): StepCall {
  return {
    target: target("some-model"),
    settings: { kind: "openai-compatible", baseUrl: url },
    key: undefined,
    system: "",
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    tools: [],
    thinking: undefined,
    maxOutputTokens: undefined,
    cacheKey: undefined,
    fetch: createGuardedFetch({ idleTimeoutMs: 10_000, maxResponseBytes: 50_000_000 }),
    signal: new AbortController().signal,
    ...more,
  }
}

export async function ask(call: StepCall, parts: ChatCompletionsParts = {}): Promise<StepEvent[]> {
  return collect(createChatCompletions(parts)(call))
}

export async function collect(events: AsyncIterable<StepEvent>): Promise<StepEvent[]> {
  const all: StepEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

/** The events of a body that arrives in these pieces. */
export function readPieces(pieces: readonly (string | Uint8Array)[], toolNames: string[] = []): Promise<StepEvent[]> {
  const signal = new AbortController().signal
  return collect(readStream(bodyOf(pieces), { toolNames: new Set(toolNames), trailingMs: 1000, signal }))
}

export function bodyOf(pieces: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece)
      controller.close()
    },
  })
}

/** One chunk of a reply, as an event. */
export function chunk(delta: JsonObject, finish: string | null = null, more: JsonObject = {}): string {
  return data({ id: "chatcmpl-1", choices: [{ index: 0, delta, finish_reason: finish }], ...more })
}

export function data(value: JsonObject | string): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`
}

export const done = data("[DONE]")

export interface Gathered {
  text: string
  reasoning: string
  calls: JsonObject[]
  reason: string | undefined
  rawReason: string | undefined
  usage: JsonObject
}

/** The events put together, as a caller would. */
export function gather(events: readonly StepEvent[]): Gathered {
  const text = events.map((event) => (event.type === "text" ? event.text : "")).join("")
  const reasoning = events.map((event) => (event.type === "reasoning" ? event.text : "")).join("")
  const calls = events.flatMap((event): JsonObject[] => {
    if (event.type !== "call") return []
    const { type: _, ...call } = event
    return [call as JsonObject]
  })
  const last = events.at(-1)
  const end = last?.type === "finish" ? last : undefined
  const usage = Object.fromEntries(Object.entries(end?.usage ?? {}).filter(([, value]) => value !== undefined))
  return { text, reasoning, calls, reason: end?.reason, rawReason: end?.rawReason, usage }
}
