// A model server for tests: checks and records every request, and answers as scripted, healthy or broken. It speaks
// Chat Completions, Responses, Messages, Gemini and Converse on one ephemeral port of the loopback.
//   request -> recorded -> checked by the rules of its provider -> refused as the provider refuses, or answered
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { isJsonObject, type Json } from "../../../src/kernel/index.ts"
import {
  checkRequest,
  createIssued,
  providerNames,
  wireNameOf,
  type ProviderName,
  type Refusal,
} from "../provider-rules/index.ts"
import { createBilling } from "./billing.ts"
import { issueReply } from "./issue.ts"
import { promptWords } from "./prompt-words.ts"
import type { RecordedRequest } from "./recorded-request.ts"
import { text, toolCall, type ScriptedReply } from "./reply.ts"
import { sendReply } from "./send.ts"
import { wires } from "./wires/index.ts"

export type RefusedRequest = RecordedRequest & { refusal: Refusal }

export type Script = (request: RecordedRequest, n: number) => ScriptedReply | Promise<ScriptedReply>

export interface ModelServerOptions {
  script?: Script
  /** Whom the server plays on every path that names nobody. */
  provider?: ProviderName
  /** Counts tokens and keeps caches of prompts; without it every reply costs the same. */
  billing?: boolean
}

export interface ModelServer {
  port: number
  /** `http://127.0.0.1:<port>/v1`: the common rules of each interface, or those of the option `provider`. */
  baseUrl: string
  /** `http://127.0.0.1:<port>/<provider>/v1`: the same server in the role of this provider. */
  baseUrlOf(provider: ProviderName): string
  requests: RecordedRequest[]
  /** Requests that a real provider would have refused, and this one did. */
  refusals: RefusedRequest[]
  /**
   * The refusals since the last call, which are thereby expected. With names of rules it throws unless exactly these
   * were broken, in this order. Refusals that nobody expected make `stop` reject.
   */
  expectRefusals(...rules: string[]): RefusedRequest[]
  /** Answers every request with this text, until told otherwise. */
  reply(words: string): void
  /** Answers the next request with a tool call. */
  replyWithTool(name: string, input: Json): void
  /** Answers the next requests with these, in order, before anything else. */
  enqueue(...replies: ScriptedReply[]): void
  /** Decides each reply that is not enqueued. */
  script(script: Script): void
  /** The first request, past or future, that fits. */
  waitForRequest(
    predicate: (request: RecordedRequest) => boolean,
    options?: { timeoutMs?: number },
  ): Promise<RecordedRequest>
  /** Ends connections that nobody uses now: the next request opens one. */
  closeIdleConnections(): void
  /** Rejects, once all is closed, when requests were refused that no test expected to be. */
  stop(): Promise<void>
}

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = []
  const refusals: RefusedRequest[] = []
  let expected = 0
  const queue: ScriptedReply[] = []
  const watchers = new Set<(request: RecordedRequest) => void>()
  const stopped = new AbortController()
  const issued = createIssued()
  const billing = options.billing ? createBilling() : undefined
  let script: Script = options.script ?? (() => text("ok"))

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, response, requests.length + 1, options.provider)
    const wireName = request.method === "POST" ? wireNameOf(request.path) : undefined
    const refusal = wireName && checkRequest(request, request.provider, issued)
    if (refusal) refusals.push(Object.assign(request, { refusal }))
    requests.push(request)
    for (const watcher of watchers) watcher(request)
    if (!wireName) return void response.writeHead(404).end()
    if (refusal) return sendRefusal(refusal, response)
    const reply = queue.shift() ?? (await script(request, request.n))
    const whole = issueReply(reply, request, { wire: wireName, provider: request.provider, billing })
    issued.add(whole)
    const streams = request.body.stream === true
    await sendReply(reply, { wire: wires[wireName], whole, response, streams, stopped: stopped.signal })
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo

  function expectRefusals(...rules: string[]): RefusedRequest[] {
    const fresh = refusals.slice(expected)
    expected = refusals.length
    const broken = fresh.map((request) => request.refusal.rule)
    if (rules.length > 0 && broken.join() !== rules.join()) {
      throw new Error(`Expected refusals by ${rules.join(", ")}; there were ${broken.join(", ") || "none"}`)
    }
    return fresh
  }

  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    baseUrlOf: (provider) => `http://127.0.0.1:${port}/${provider}/v1`,
    requests,
    refusals,
    expectRefusals,
    reply: (words) => void (script = () => text(words)),
    replyWithTool: (name, input) => void queue.push(toolCall(name, input)),
    enqueue: (...replies) => void queue.push(...replies),
    script: (next) => void (script = next),
    waitForRequest(predicate, { timeoutMs = 10_000 } = {}) {
      const past = requests.find(predicate)
      if (past) return Promise.resolve(past)
      return new Promise((resolve, reject) => {
        const watcher = (request: RecordedRequest) => {
          if (predicate(request)) settle(() => resolve(request))
        }
        const settle = (action: () => void) => {
          watchers.delete(watcher)
          clearTimeout(timer)
          action()
        }
        const late = new Error(`No such model request within ${timeoutMs} ms; ${requests.length} others came`)
        const timer = setTimeout(() => settle(() => reject(late)), timeoutMs)
        watchers.add(watcher)
      })
    },
    closeIdleConnections: () => server.closeIdleConnections(),
    async stop() {
      stopped.abort()
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
      const unexpected = expectRefusals()
      if (unexpected.length > 0) throw new Error(`The model server refused requests:\n${listed(unexpected)}`)
    },
  }
}

function listed(refused: readonly RefusedRequest[]): string {
  return refused
    .map(({ n, path, refusal }) => `  request ${n}, ${path}: ${refusal.rule}: ${JSON.stringify(refusal.body)}`)
    .join("\n")
}

function sendRefusal(refusal: Refusal, response: ServerResponse): void {
  response.writeHead(refusal.status, { "content-type": "application/json", ...refusal.headers })
  response.end(JSON.stringify(refusal.body))
}

/** The first part of the path names whom to play, as in `/mistral/v1/chat/completions`. */
function providerOf(path: string, otherwise: ProviderName | undefined): ProviderName | undefined {
  const first = path.split("/")[1]
  return providerNames.find((name) => name === first) ?? otherwise
}

async function record(
  incoming: IncomingMessage,
  response: ServerResponse,
  n: number,
  otherwise: ProviderName | undefined,
): Promise<RecordedRequest> {
  const ended = new Promise<"sent" | "closed">((resolve) => {
    response.once("close", () => resolve(response.writableFinished ? "sent" : "closed"))
  })
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  const at = performance.now()
  const written = Buffer.concat(pieces).toString()
  const parsed: unknown = written === "" ? {} : JSON.parse(written)
  const body = isJsonObject(parsed) ? parsed : {}
  const path = incoming.url ?? "/"
  return {
    n,
    method: incoming.method ?? "GET",
    path,
    headers: incoming.headers as Record<string, string>,
    body,
    at,
    provider: providerOf(path, otherwise),
    promptText: () => promptWords(body),
    ended,
  }
}
