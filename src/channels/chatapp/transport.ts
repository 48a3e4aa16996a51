// HTTP to the platform: a `fetch` for the API client that knows, when a call fails, whether the request can have
// arrived. Connections are kept per transport and can be dropped, which a poll needs after a conflict or a stall.
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import type { Socket } from "node:net"
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"

/**
 * `unsent`: nothing of the request left this machine. `lost`: it was (partly) sent and no whole answer came.
 * `page`: something answered, but not in the platform's own form. Never carries the URL: it contains the token.
 */
export class TransportError extends Error {
  readonly stage: "unsent" | "lost" | "page"
  readonly status: number | undefined

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
  /** Closes every connection, also of running calls; the next call opens one of its own. */
  reset(): void
  /** Closes idle connections; running calls finish, and theirs close when they have been idle for a while. */
  close(): void
}

/** Idle connections are given up before the other side does, so that a send rarely meets a closing one. */
const keepIdleMs = 15_000

/** A page of updates is at most four megabytes; this only bounds what a broken server can make us hold. */
const maxAnswerBytes = 32 * 1024 * 1024

export function createTransport(apiRoot: string): Transport {
  const isTls = apiRoot.startsWith("https:")
  const newAgent = () =>
    isTls
      ? new HttpsAgent({ keepAlive: true, timeout: keepIdleMs })
      : new HttpAgent({ keepAlive: true, timeout: keepIdleMs })
  let agent = newAgent()
  return {
    async fetch(url, options) {
      const answer = await exchange(new URL(url), options, agent, isTls)
      return { json: async () => answer }
    },
    reset() {
      agent.destroy()
      agent = newAgent()
    },
    close() {
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
    },
  }
}

function exchange(url: URL, options: CallOptions, agent: HttpAgent | HttpsAgent, isTls: boolean): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  let stage: "unsent" | "lost" = "unsent"
  const fail = (error: Error) => {
    reject(error instanceof TransportError ? error : new TransportError(stage, describeSocketError(error)))
  }
  const request = (isTls ? httpsRequest : httpRequest)(url, {
    method: options.method ?? "POST",
    headers: { ...options.headers, ...lengthOf(options.body) },
    agent,
  })
  request.on("socket", (socket: Socket) => {
    const markSent = () => (stage = "lost")
    if (request.reusedSocket || !socket.connecting) markSent()
    else socket.once(isTls ? "secureConnect" : "connect", markSent)
  })
  request.on("error", fail)
  request.on("response", (response) => {
    readAnswer(response).then(resolve, fail)
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

function lengthOf(body: CallOptions["body"]): Record<string, string> {
  return typeof body === "string" ? { "content-length": String(Buffer.byteLength(body)) } : {}
}

async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxAnswerBytes) {
      response.destroy()
      throw new TransportError("lost", "the answer is too large")
    }
    chunks.push(chunk)
  }
  const status = response.statusCode ?? 0
  const answer = parse(Buffer.concat(chunks).toString("utf8"))
  if (typeof answer !== "object" || answer === null || !("ok" in answer)) {
    throw new TransportError("page", `HTTP ${status} with a body that is not the platform's`, status)
  }
  return answer
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

function describeSocketError(error: Error & { code?: string }): string {
  return error.code === undefined || error.message.includes(error.code)
    ? error.message
    : `${error.code} ${error.message}`
}
