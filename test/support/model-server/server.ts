// A model server for tests: records every request, and answers as scripted, healthy or broken. It speaks Chat
// Completions, Responses and Messages on one ephemeral port of the loopback.
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { isJsonObject, type Json, type JsonObject } from "../../../src/kernel/index.ts"
import { text, toolCall, type ScriptedReply } from "./reply.ts"
import { wireOf, type WholeReply, type Wire } from "./wire.ts"

export interface RecordedRequest {
  /** 1 for the first request of the server. */
  n: number
  path: string
  headers: Readonly<Record<string, string>>
  body: JsonObject
  /** Monotonic milliseconds at which the body had arrived. */
  at: number
  /** All words of the prompt: system, messages and tool results, joined by line ends. */
  promptText(): string
  /** `sent` when the answer went out whole, `closed` when the client went away first. */
  ended: Promise<"sent" | "closed">
}

export type Script = (request: RecordedRequest, n: number) => ScriptedReply | Promise<ScriptedReply>

export interface ModelServer {
  port: number
  /** `http://127.0.0.1:<port>/v1` */
  baseUrl: string
  requests: RecordedRequest[]
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
  stop(): Promise<void>
}

export async function startModelServer(options: { script?: Script } = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = []
  const queue: ScriptedReply[] = []
  const watchers = new Set<(request: RecordedRequest) => void>()
  const stopped = new AbortController()
  let script: Script = options.script ?? (() => text("ok"))

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, response, requests.length + 1)
    requests.push(request)
    for (const watcher of watchers) watcher(request)
    const wire = wireOf(request.path)
    if (!wire) return void response.writeHead(404).end()
    const reply = queue.shift() ?? (await script(request, request.n))
    await send(wire, reply, request, response, stopped.signal)
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response).catch((error: unknown) => response.destroy(error as Error))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo

  return {
    port,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
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
    async stop() {
      stopped.abort()
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function record(incoming: IncomingMessage, response: ServerResponse, n: number): Promise<RecordedRequest> {
  const ended = new Promise<"sent" | "closed">((resolve) => {
    response.once("close", () => resolve(response.writableFinished ? "sent" : "closed"))
  })
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece as Buffer)
  const written = Buffer.concat(pieces).toString()
  const body: unknown = written === "" ? {} : JSON.parse(written)
  return {
    n,
    path: incoming.url ?? "/",
    headers: incoming.headers as Record<string, string>,
    body: isJsonObject(body) ? body : {},
    at: performance.now(),
    promptText: () => wordsOf(isJsonObject(body) ? [body.system, body.instructions, body.messages, body.input] : []),
    ended,
  }
}

/** Every string under the keys that hold words, in order; pictures and ids are not words. */
function wordsOf(value: unknown): string {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.map(wordsOf).filter(Boolean).join("\n")
  if (!isJsonObject(value)) return ""
  return ["content", "text", "output", "arguments", "input"]
    .map((key) => wordsOf(value[key]))
    .filter(Boolean)
    .join("\n")
}

async function send(
  wire: Wire,
  reply: ScriptedReply,
  request: RecordedRequest,
  response: ServerResponse,
  stopped: AbortSignal,
): Promise<void> {
  const whole = wholeReply(reply, request)
  const startStream = (type = "text/event-stream") => response.writeHead(200, { "content-type": type }).flushHeaders()
  switch (reply.kind) {
    case "status": {
      response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
      response.end(JSON.stringify(wire.error(reply.message ?? `status ${reply.status}`, reply.type ?? "error")))
      return
    }
    case "hang":
      if (reply.afterHeaders) startStream()
      return
    case "garbage":
      startStream()
      response.end(reply.body ?? 'data: {"choices":[{"delta":{"content":"hal\n\ndata: ]]]\n\n')
      return
    case "html":
      startStream("text/html; charset=utf-8")
      response.end("<!doctype html><title>Welcome</title><p>It works!")
      return
    case "endless":
      startStream()
      response.write(wire.opening(whole))
      while (!response.destroyed) {
        if (!response.write(wire.textDelta(whole, "on and on ".repeat(50)))) await drained(response)
      }
      return
    case "cut":
      startStream()
      response.write(wire.opening(whole))
      response.write(wire.textDelta(whole, reply.text), () => (reply.politely ? response.end() : response.destroy()))
      return
    case "drip":
      startStream()
      response.write(wire.opening(whole))
      await reply.after
      for (const character of reply.text) {
        if (response.destroyed || stopped.aborted) return
        response.write(wire.textDelta(whole, character))
        await delay(reply.everyMs)
      }
      response.end(wire.closing(whole))
      return
    case "reply":
      sendWhole(wire, whole, reply.pieces ?? 3, request, response)
  }
}

function sendWhole(
  wire: Wire,
  whole: WholeReply,
  pieces: number,
  request: RecordedRequest,
  response: ServerResponse,
): void {
  if (request.body.stream !== true) {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(wire.whole(whole)))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(wire.opening(whole))
  const size = Math.max(1, Math.ceil(whole.text.length / pieces))
  for (let start = 0; start < whole.text.length; start += size) {
    response.write(wire.textDelta(whole, whole.text.slice(start, start + size)))
  }
  response.end(wire.closing(whole))
}

function wholeReply(reply: ScriptedReply, request: RecordedRequest): WholeReply {
  const given = reply.kind === "reply" ? reply : undefined
  return {
    id: `reply-${request.n}`,
    model: String(request.body.model),
    text: given?.text ?? (reply.kind === "drip" ? reply.text : ""),
    reasoning: reply.kind === "reply" || reply.kind === "drip" ? (reply.reasoning ?? "") : "",
    calls: given?.calls ?? [],
    finishReason: given?.finishReason,
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done)
      resolve()
    }
    response.once("drain", done).once("close", done)
  })
}
