// HTTP to the platform: a `fetch` for the API client that knows, when a call fails, whether the request can have
// arrived. Connections are kept per transport and can be dropped, which a poll needs after a conflict or a stall.
import { type ClientRequest, type Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import type { Socket } from "node:net"
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import { isOutOfHandles } from "../../kernel/index.ts"
import { type AgentMaker, direct } from "./network.ts"

/**
 * `unsent`: nothing of the request left this machine. `lost`: it was (partly) sent and no whole answer came.
 * `page`: something answered, but not in the platform's own form. Never carries the URL: it contains the token.
 */
export class TransportError extends Error {
  readonly stage: "unsent" | "lost" | "page"
  readonly status: number | undefined
  /** This process had no handle for it. */
  isOutOfHandles = false

  constructor(stage: TransportError["stage"], message: string, status?: number) {
    super(message)
    this.name = "TransportError"
    this.stage = stage
    this.status = status
  }
}

/** What the API client hands over; its abort signal is a look-alike of the platform's, so only listeners are used. */
interface CallOptions {
  method?: string
  headers?: Record<string, string>
  body?: string | ReadableStream
  signal?: { aborted: boolean; addEventListener(type: "abort", listener: () => void): void }
}

export interface Transport {
  fetch(url: string | URL, options: CallOptions): Promise<{ json(): Promise<unknown> }>
  /** A file: resolves with the head of the answer, whatever its status. Aborting also ends the body. */
  open(url: string | URL, signal: AbortSignal): Promise<IncomingMessage>
  /** Closes every connection, also of running calls; the next call opens one of its own. */
  reset(): void
  /** Closes idle connections; running calls finish, and theirs close when they have been idle for a while. */
  close(): void
}

/** A page of updates is at most four megabytes; this only bounds what a broken server can make us hold. */
const maxAnswerBytes = 32 * 1024 * 1024

export function createTransport(apiRoot: string, makeAgent?: AgentMaker): Transport {
  const isTls = apiRoot.startsWith("https:")
  const make = makeAgent ?? direct(isTls)
  let agent = make()
  const send = (url: string | URL, options: CallOptions) => exchange(new URL(url), options, agent.http, isTls)
  return {
    async fetch(url, options) {
      const answer = await readAnswer(await send(url, options))
      return { json: async () => answer }
    },
    open: (url, signal) => send(url, { method: "GET", signal }),
    reset() {
      agent.http.destroy()
      agent.cut()
      agent = make()
    },
    close() {
      for (const sockets of Object.values(agent.http.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
    },
  }
}

function exchange(url: URL, options: CallOptions, agent: HttpAgent, isTls: boolean): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  let stage: "unsent" | "lost" = "unsent"
  const request = (isTls ? httpsRequest : httpRequest)(url, {
    method: options.method ?? "POST",
    headers: { ...options.headers, ...lengthOf(options.body) },
    agent,
  })
  whenConnected(request, isTls, () => (stage = "lost"))
  request.on("error", (error: Error) => {
    reject(error instanceof TransportError ? error : socketFailure(error, stage))
  })
  // A proxy that makes no tunnel answers in the platform's place: the request never left it.
  let refusal: number | undefined
  request.on("proxyConnect", ({ statusCode }: { statusCode: number }) => {
    if (statusCode !== 200) refusal = statusCode
  })
  request.on("response", (response) => {
    const status = response.statusCode === 407 ? 407 : refusal
    if (status === undefined) return resolve(response)
    response.destroy()
    reject(new TransportError("unsent", `the proxy refused the connection with HTTP ${status}`))
  })
  const abort = () => request.destroy(new TransportError(stage, "the call was given up before an answer came"))
  if (options.signal?.aborted) abort()
  else options.signal?.addEventListener("abort", abort)
  if (options.body === undefined || typeof options.body === "string") request.end(options.body)
  else {
    const body = Readable.fromWeb(options.body)
    body.on("error", (error) => request.destroy(error))
    body.pipe(request)
  }
  return promise
}

/** Until then nothing of the request can have left this machine; through a proxy, nothing can have reached the platform. */
function whenConnected(request: ClientRequest, isTls: boolean, then: () => void): void {
  request.on("socket", (socket: Socket & { secureConnecting?: boolean }) => {
    const isConnecting = isTls ? (socket.secureConnecting ?? socket.connecting) : socket.connecting
    // One that could not even be opened is not connecting either.
    if (request.reusedSocket || (!isConnecting && !socket.destroyed)) then()
    else socket.once(isTls ? "secureConnect" : "connect", then)
  })
}

function lengthOf(body: CallOptions["body"]): Record<string, string> {
  return typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {}
}

async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const text = await readText(response)
  const status = response.statusCode ?? 0
  const answer = parse(text)
  if (!isPlatforms(answer)) {
    throw new TransportError("page", `HTTP ${status} with a body that is not the platform's`, status)
  }
  return answer
}

/** Its form: `ok` with a result, or an error's code and words. */
function isPlatforms(answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null) return false
  const { ok, result, error_code: code, description } = answer as Record<string, unknown>
  if (ok === true) return result !== undefined
  const isCode = Number.isInteger(code) && (code as number) >= 300 && (code as number) < 600
  return ok === false && isCode && typeof description === "string"
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxAnswerBytes) throw new TransportError("lost", "the answer is too large")
      chunks.push(chunk)
    }
  } catch (error) {
    response.destroy()
    throw error instanceof TransportError ? error : new TransportError("lost", describeSocketError(error as Error))
  }
  return Buffer.concat(chunks).toString("utf8")
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // A web page of a proxy in between; the caller tells by the missing `ok`.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function socketFailure(error: Error, stage: "unsent" | "lost"): TransportError {
  const failure = new TransportError(stage, describeSocketError(error))
  failure.isOutOfHandles = isOutOfHandles(error)
  return failure
}

function describeSocketError(error: Error & { code?: string }): string {
  return error.code === undefined || error.message.includes(error.code)
    ? error.message
    : `${error.code} ${error.message}`
}
