// The way to the network for pages of our browsers: a proxy on loopback that looks a name up once, checks what it stands for,
// and connects to exactly that. So nothing such a page does (redirects, frames, sockets, workers, a name that changes its
// meaning) reaches an address that the policy refuses. Only browsers of ours know its secret.
import { createServer, type IncomingMessage, request as httpRequest, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AppError, describeError, type Log, type Secret } from "../../../kernel/index.ts"
import { greetingUrl } from "./greeting.ts"
import { CheckedAgent, type CheckedOptions, dialFirst } from "./onward.ts"
import type { AuthAnswer, AuthChallenge } from "./request-gate.ts"
import type { UrlPolicy } from "./url-policy.ts"

export interface GuardProxyOptions {
  policy(): UrlPolicy
  log: Log
  /** What a browser has to say; undefined on a socket that only those can reach who may use it. */
  secret: Secret | undefined
}

export const proxyUser = "svc"
/** Belong to one connection and are not passed on (RFC 9110, 7.6.1). */
const hopHeaders = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])
/** What Chromium takes; Node's own limits are those of servers. */
const parsing = { maxHeaderSize: 256 * 1024, insecureHTTPParser: true }
/** Hosts whose last failure is remembered. */
const keptFailures = 200

export class GuardProxy {
  readonly #options: GuardProxyOptions
  readonly #server: Server
  readonly #tunnels = new Set<Socket>()
  readonly #clients = new Set<Socket>()
  readonly #kept = new CheckedAgent({ keepAlive: true })
  readonly #single = new CheckedAgent({ keepAlive: false })
  /** Why nothing came from a host, which a browser is not told in words. */
  readonly #failures = new Map<string, unknown>()
  readonly #onStranger = new Set<() => void>()
  #listening: Promise<number> | undefined
  #port: number | undefined

  constructor(options: GuardProxyOptions) {
    this.#options = options
    this.#server = createServer(parsing, (request, response) => {
      this.#forward(request, response).catch((error: unknown) => this.#refuse(error, request, response))
    })
    // Long uploads are the page's own affair, and so is how long a connection is kept.
    this.#server.requestTimeout = 0
    this.#server.keepAliveTimeout = 0
    this.#server.on("connection", (client: Socket) => {
      this.#clients.add(client)
      client.on("close", () => this.#clients.delete(client))
    })
    this.#server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
      client.on("error", () => client.destroy())
      this.#tunnel(request, client, head).catch((error: unknown) => {
        this.#note(error, request.url)
        client.end(`HTTP/1.1 ${statusOf(error)} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
      })
    })
  }

  /** The address for browsers; listens from the first call on, on the wanted port if that is free then. */
  async url(port = 0): Promise<string> {
    this.#port = await this.#listenOnce(() => this.#listen(port))
    return `http://127.0.0.1:${this.#port}`
  }

  /** Listens on a Unix socket instead, from the first call on. */
  async listenAt(path: string): Promise<string> {
    const listen = () =>
      new Promise<number>((resolve, reject) => {
        this.#server.once("error", reject)
        // Whoever may use it is let in by the folder that it stands in.
        this.#server.listen({ path, readableAll: true, writableAll: true }, () => {
          this.#server.off("error", reject)
          resolve(0)
        })
      })
    await this.#listenOnce(listen)
    return path
  }

  /** Where it failed, the next call tries again: a machine may have been out of sockets at that moment. */
  #listenOnce(listen: () => Promise<number>): Promise<number> {
    this.#listening ??= listen().catch((error: unknown) => {
      this.#listening = undefined
      throw error
    })
    return this.#listening
  }

  /** Undefined while it does not listen. */
  get port(): number | undefined {
    return this.#port
  }

  async #listen(wanted: number): Promise<number> {
    for (const port of wanted === 0 ? [0] : [wanted, 0]) {
      try {
        await new Promise<void>((resolve, reject) => {
          this.#server.once("error", reject)
          this.#server.listen(port, "127.0.0.1", () => {
            this.#server.off("error", reject)
            resolve()
          })
        })
        break
      } catch (error) {
        if (port === 0) throw error
      }
    }
    return (this.#server.address() as AddressInfo).port
  }

  /** The answer for a browser that is asked by this proxy; undefined when something else asks. */
  login({ source, origin }: AuthChallenge): AuthAnswer | undefined {
    const { secret } = this.#options
    if (!secret) return undefined
    if (source !== "Proxy" || this.#port === undefined || origin !== `http://127.0.0.1:${this.#port}`) return undefined
    return { response: "ProvideCredentials", username: proxyUser, password: secret.reveal() }
  }

  /** Tells of everybody who comes without the secret. Gives the function that ends it. */
  onStranger(listener: () => void): () => void {
    this.#onStranger.add(listener)
    return () => this.#onStranger.delete(listener)
  }

  /** Why the last request to the host of this URL failed; undefined when it did not, or not here. */
  explain(url: string): AppError | undefined {
    const failure = this.#failures.get(hostOf(url))
    return failure instanceof AppError ? failure : undefined
  }

  async stop(): Promise<void> {
    if (!this.#listening) return
    await this.#listening
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    // Clients too, by their sockets: one whose tunnel is being dug, or was refused, is in no list of the server's.
    for (const socket of [...this.#clients, ...this.#tunnels]) socket.destroy()
    for (const agent of [this.#kept, this.#single]) agent.destroy()
    await closed
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
    const signal = whileOpen(response)
    const addresses = await this.#options.policy().checkRequest(target.href, signal)
    this.#send({ request, response, target, addresses, signal, again: isRepeatable(request) })
  }

  #send(onwards: Onwards): void {
    const { request, response, target, addresses, signal, again } = onwards
    const port = Number(target.port || 80)
    const way: CheckedOptions = { addresses, port, gone: signal, agent: again ? this.#kept : this.#single }
    const onward = httpRequest({
      ...parsing,
      method: request.method,
      path: pathOf(request.url),
      headers: ["Host", target.host, ...endToEnd(request.rawHeaders, "host")],
      ...way,
    })
    onward.on("response", (answer) => {
      this.#failures.delete(hostOf(target.href))
      try {
        const { statusCode = 0, statusMessage = "" } = answer
        if (statusCode < 200) throw new AppError("navigation-failed", `The site answered with the status ${statusCode}`)
        response.writeHead(statusCode, statusMessage, endToEnd(answer.rawHeaders))
      } catch (error) {
        // A status or header that no server may send: what comes from there can be anything.
        onward.destroy()
        this.#refuse(error, request, response)
        return
      }
      answer.pipe(response)
      // A site that has said its head and waits with the rest is heard at once, most are in one packet with it.
      setImmediate(() => response.writable && response.flushHeaders())
      answer.on("error", () => response.destroy())
    })
    onward.on("error", (error) => {
      // The site closed a kept connection as we began to use it: it has seen nothing of the request.
      if (again && onward.reusedSocket && !response.headersSent && !signal.aborted)
        this.#send({ ...onwards, again: false })
      else this.#refuse(error, request, response)
    })
    response.on("close", () => onward.destroy())
    if (again) onward.end()
    else request.pipe(onward)
  }

  async #tunnel(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    if (!this.#knows(request)) {
      client.end('HTTP/1.1 407 Refused\r\nProxy-Authenticate: Basic realm="svc"\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const url = `https://${request.url}/`
    if (!URL.canParse(url)) throw new AppError("bad-request", "This is not an address to connect to")
    const target = new URL(url)
    const signal = whileOpen(client)
    const addresses = await this.#options.policy().checkRequest(target.href, signal)
    const socket = await dialFirst(addresses, Number(target.port || 443), signal)
    this.#tunnels.add(socket)
    socket.on("close", () => this.#tunnels.delete(socket))
    this.#failures.delete(hostOf(request.url))
    client.write("HTTP/1.1 200 Connected\r\n\r\n")
    if (head.length > 0) socket.write(head)
    socket.pipe(client)
    client.pipe(socket)
    client.on("close", () => socket.destroy())
    socket.on("close", () => client.destroy())
  }

  #knows(request: IncomingMessage): boolean {
    const { secret } = this.#options
    if (!secret) return true
    const [scheme, value = ""] = (request.headers["proxy-authorization"] ?? "").split(" ")
    const [user, ...rest] = Buffer.from(value, "base64").toString().split(":")
    const isBasic = scheme?.toLowerCase() === "basic"
    if (isBasic && user === proxyUser && secret.matches(rest.join(":"))) return true
    if (request.url !== greetingUrl) for (const listener of this.#onStranger) listener()
    return false
  }

  /**
   * A page must not take a failure for an answer of the site, as it would any status with any text: two lengths in one
   * answer are what every browser throws away, and does not ask for again.
   */
  #refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    this.#note(error, request.url)
    if (response.headersSent) response.destroy()
    else
      request.socket.end(
        `HTTP/1.1 ${statusOf(error)} Refused\r\nContent-Length: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`,
      )
  }

  #note(error: unknown, url: string | undefined): void {
    const host = hostOf(url)
    this.#failures.delete(host)
    if (this.#failures.size >= keptFailures) this.#failures.delete(this.#failures.keys().next().value as string)
    this.#failures.set(host, error)
    const refused = error instanceof AppError && error.code === "navigation-refused"
    const fields = { host, reason: describeError(error) }
    if (refused) this.#options.log.info(fields, "request refused")
    else this.#options.log.debug(fields, "request failed")
  }
}

interface Onwards {
  request: IncomingMessage
  response: ServerResponse
  target: URL
  /** Those that were checked. */
  addresses: string[]
  signal: AbortSignal
  /** Whether it may go out on a kept connection, and so twice. */
  again: boolean
}

/** Without a body, and of a kind that changes nothing when it is sent twice. */
function isRepeatable({ method, headers }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0
  return (method === "GET" || method === "HEAD") && !hasBody
}

/** Aborts when whoever asked is gone. */
function whileOpen(client: { once(event: "close", listener: () => void): unknown }): AbortSignal {
  const gone = new AbortController()
  client.once("close", () => gone.abort(new AppError("aborted", "The browser gave up")))
  return gone.signal
}

/** As they were written, each as often as it was. */
function endToEnd(rawHeaders: readonly string[], except?: string): string[] {
  const kept: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    if (!hopHeaders.has(name) && name !== except) kept.push(rawHeaders[at] as string, rawHeaders[at + 1] as string)
  }
  return kept
}

/** As the browser wrote it: a URL that is taken apart and put together again loses an empty query. */
function pathOf(url = ""): string {
  const path = url.replace(/^http:\/\/[^/?#]*/i, "")
  return path.startsWith("/") ? path : `/${path}`
}

function statusOf(error: unknown): number {
  return error instanceof AppError && error.code === "navigation-refused" ? 403 : 502
}

function hostOf(url: string | undefined): string {
  const text = url ?? ""
  const full = text.includes("://") ? text : `https://${text}`
  return URL.canParse(full) ? new URL(full).host : ""
}
