// For the tests of this folder: a server on the loopback that records each request and answers with what was queued, in
// pieces; calls to it; and the events of a step.
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { type JsonObject, Secret, systemClock, systemIds } from "../../kernel/index.ts"
import type { StepCall, StepEvent } from "../providers/contract.ts"
import type { ModelTarget } from "../resolve.ts"
import type { ProviderSettings } from "../view.ts"
import { createSdkInterface } from "./index.ts"

export interface Recorded {
  method: string
  path: string
  headers: IncomingHttpHeaders
  text: string
  body: JsonObject
  /** When the answer was sent, or the client has gone. */
  closed: Promise<unknown>
}

export interface Answer {
  status?: number
  headers?: Record<string, string>
  /** Sent one after the other. */
  pieces: (string | Uint8Array)[]
  /** The connection is broken off behind them. */
  isCut?: boolean
  /** The connection stays open behind them. */
  isHeld?: boolean
}

export interface ReplayServer {
  origin: string
  requests: Recorded[]
  queue(...answers: Answer[]): void
  last(): Recorded
  stop(): Promise<void>
}

export async function startReplay(): Promise<ReplayServer> {
  const requests: Recorded[] = []
  const answers: Answer[] = []
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString()
    const body = text.startsWith("{") ? (JSON.parse(text) as JsonObject) : {}
    const { method = "", url: path = "", headers } = request
    requests.push({ method, path, headers, text, body, closed: once(response, "close") })
    const answer = answers.shift() ?? { status: 500, pieces: ["nothing is queued"] }
    response.writeHead(answer.status ?? 200, answer.headers ?? { "content-type": "text/event-stream" })
    for (const piece of answer.pieces) await new Promise<void>((sent) => void response.write(piece, () => sent()))
    if (answer.isCut) response.destroy()
    else if (!answer.isHeld) response.end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    queue: (...more) => void answers.push(...more),
    last() {
      const request = requests.at(-1)
      if (!request) throw new Error("no request has come")
      return request
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    },
  }
}

/** Frames of server-sent events. */
export function frames(...events: JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")
}

export interface CallParts {
  kind: ProviderSettings["kind"]
  model: string
  settings?: Partial<ProviderSettings>
  target?: Partial<ModelTarget>
  key?: string
}

export function makeCall(parts: CallParts, more: Partial<StepCall> = {}): StepCall {
  const settings: ProviderSettings = { kind: parts.kind, ...parts.settings }
  const target: ModelTarget = {
    id: `mine/${parts.model}`,
    providerName: "mine",
    modelId: parts.model,
    settings,
    entry: {},
    contextTokens: 200_000,
    vision: true,
    maxOutputTokens: undefined,
    reasoning: undefined,
    canBeOff: undefined,
    prices: undefined,
    ...parts.target,
  }
  return {
    target,
    settings,
    key: parts.key === undefined ? undefined : new Secret(parts.key),
    system: "Be brief.",
    messages: [{ role: "user", content: [{ type: "text", text: "what is tea?" }] }],
    tools: [],
    thinking: undefined,
    maxOutputTokens: undefined,
    cacheKey: undefined,
    fetch,
    signal: new AbortController().signal,
    ...more,
  }
}

export async function runCall(
  call: StepCall,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<StepEvent[]> {
  const ask = createSdkInterface({ environment, clock: systemClock, ids: systemIds })
  const events: StepEvent[] = []
  for await (const event of ask(call)) events.push(event)
  return events
}

export const lookup = {
  name: "lookup",
  description: "Looks something up",
  inputSchema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
}

export const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
