// The way to the network for pages that untrusted turns open: a proxy on loopback that looks a name up once, checks what
// it stands for, and connects to exactly that. So nothing such a page does (redirects, frames, sockets, workers, a name
// that changes its meaning) reaches an address that the policy refuses. Only browsers of ours know its secret.
import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AppError, describeError, type Log, type Secret } from "../../../kernel/index.ts"
import type { AuthAnswer, AuthChallenge } from "./request-gate.ts"
import type { UrlPolicy } from "./url-policy.ts"

export interface GuardProxyOptions {
  policy(): UrlPolicy
  log: Log
  /** What a browser has to say. */
  secret: Secret
}

export const proxyUser = "svc"
/** Answered by the proxy itself: a browser shows its secret here before any page is loaded. */
export const greetingUrl = "http://guard.invalid/"
const connectMs = 10_000
const maxAddresses = 4
/** Belong to one connection and are not passed on (RFC 9110, 7.6.1). */
const hopHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

export class GuardProxy {
  readonly #options: GuardProxyOptions
  readonly #server: Server
  readonly #tunnels = new Set<Socket>()
  #listening: Promise<number> | undefined
  #port: number | undefined

  constructor(options: GuardProxyOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#forward(request, response).catch((error: unknown) => this.#refuse(error, request.url, response))
    })
    // Long uploads are the page's own affair.
    this.#server.requestTimeout = 0
    this.#server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
      client.on("error", () => client.destroy())
      this.#tunnel(request, client, head).catch((error: unknown) => {
        this.#note(error, request.url)
        client.end(`HTTP/1.1 ${statusOf(error)} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      })
    })
  }

  /** The address for browsers; listens from the first call on. */
  async url(): Promise<string> {
    this.#listening ??= new Promise<number>((resolve, reject) => {
      this.#server.once("error", reject)
      this.#server.listen(0, "127.0.0.1", () => resolve((this.#server.address() as AddressInfo).port))
    })
    this.#port = await this.#listening
    return `http://127.0.0.1:${this.#port}`
  }

  /** The answer for a browser that is asked by this proxy; undefined when something else asks. */
  login({ source, origin }: AuthChallenge): AuthAnswer | undefined {
    if (source !== "Proxy" || this.#port === undefined || origin !== `http://127.0.0.1:${this.#port}`) return undefined
    return { response: "ProvideCredentials", username: proxyUser, password: this.#options.secret.reveal() }
  }

  async stop(): Promise<void> {
    if (!this.#listening) return
    await this.#listening
    for (const socket of this.#tunnels) socket.destroy()
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#knows(request)) {
      response.writeHead(407, { "proxy-authenticate": 'Basic realm="svc"' }).end()
      return
    }
    const { url = "" } = request
    if (url === greetingUrl) {
      response.writeHead(204).end()
      return
    }
    if (!/^http:\/\//i.test(url) || !URL.canParse(url))
      throw new AppError("bad-request", "This is not a URL to forward")
    const target = new URL(url)
    const socket = await this.#reach(target, request)
    const headers = Object.entries(request.headers).filter(([name]) => !hopHeaders.has(name))
    const onward = httpRequest({
      createConnection: () => socket,
      method: request.method,
      path: target.pathname + target.search,
      headers: { ...Object.fromEntries(headers), host: target.host, connection: "close" },
    })
    onward.on("response", (answer) => {
      try {
        const kept = Object.entries(answer.headers).filter(([name]) => !hopHeaders.has(name))
        const { statusCode = 0 } = answer
        if (statusCode < 200) throw new AppError("navigation-failed", `The site answered with the status ${statusCode}`)
        response.writeHead(statusCode, Object.fromEntries(kept))
      } catch (error) {
        // A status or header that no server may send: what comes from there can be anything.
        onward.destroy()
        this.#refuse(error, url, response)
        return
      }
      answer.pipe(response)
      answer.on("error", () => response.destroy())
    })
    onward.on("error", (error) => this.#refuse(error, url, response))
    response.on("close", () => onward.destroy())
    request.pipe(onward)
  }

  async #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    if (!this.#knows(request)) {
      client.end('HTTP/1.1 407 Refused\r\nProxy-Authenticate: Basic realm="svc"\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const url = `https://${request.url}/`
    if (!URL.canParse(url)) throw new AppError("bad-request", "This is not an address to connect to")
    const socket = await this.#reach(new URL(url), client)
    client.write("HTTP/1.1 200 Connected\r\n\r\n")
    if (head.length > 0) socket.write(head)
    socket.pipe(client)
    client.pipe(socket)
    client.on("close", () => socket.destroy())
    socket.on("close", () => client.destroy())
  }

  #knows(request: IncomingMessage): boolean {
    const [scheme, value = ""] = (request.headers["proxy-authorization"] ?? "").split(" ")
    if (scheme?.toLowerCase() !== "basic") return false
    const [user, ...rest] = Buffer.from(value, "base64").toString().split(":")
    return user === proxyUser && this.#options.secret.matches(rest.join(":"))
  }

  /** A connection to the first address that takes one, of those that were checked. */
  async #reach(target: URL, client: { once(event: "close", listener: () => void): unknown }): Promise<Socket> {
    const gone = new AbortController()
    client.once("close", () => gone.abort(new AppError("aborted", "The browser gave up")))
    const addresses = await this.#options.policy().checkRequest(target.href, gone.signal)
    const port = Number(target.port || (target.protocol === "https:" ? 443 : 80))
    let failure: unknown = new AppError("navigation-failed", "The name stands for no address")
    for (const host of addresses.slice(0, maxAddresses)) {
      try {
        const socket = await dial(host, port, gone.signal)
        this.#tunnels.add(socket)
        socket.on("close", () => this.#tunnels.delete(socket))
        return socket
      } catch (error) {
        failure = error
        gone.signal.throwIfAborted()
      }
    }
    throw failure
  }

  #refuse(error: unknown, url: string | undefined, response: ServerResponse): void {
    this.#note(error, url)
    if (response.headersSent) response.destroy()
    else response.writeHead(statusOf(error), { "content-type": "text/plain" }).end(wordsFor(error))
  }

  #note(error: unknown, url: string | undefined): void {
    const refused = error instanceof AppError && error.code === "navigation-refused"
    const fields = { host: hostOf(url), reason: describeError(error) }
    if (refused) this.#options.log.info(fields, "request refused")
    else this.#options.log.debug(fields, "request failed")
  }
}

function dial(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, autoSelectFamily: false })
    const onAbort = () => socket.destroy(signal.reason as Error)
    signal.addEventListener("abort", onAbort, { once: true })
    socket.setTimeout(connectMs, () => socket.destroy(new AppError("timeout", `${host} does not answer`)))
    socket.once("error", reject)
    socket.once("connect", () => {
      signal.removeEventListener("abort", onAbort)
      socket.setTimeout(0)
      socket.off("error", reject)
      // From here on both ends say by closing what there is to say.
      socket.on("error", () => socket.destroy())
      resolve(socket)
    })
  })
}

function statusOf(error: unknown): number {
  return error instanceof AppError && error.code === "navigation-refused" ? 403 : 502
}

function wordsFor(error: unknown): string {
  return error instanceof AppError ? error.message : "The site could not be reached"
}

function hostOf(url: string | undefined): string {
  const text = url ?? ""
  const full = text.includes("://") ? text : `https://${text}`
  return URL.canParse(full) ? new URL(full).host : ""
}
