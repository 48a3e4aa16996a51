// A proxy in front of a browser's CDP port, as hosted browsers have one: it wants credentials, may serve below a path of
// its own, hides the way to the browser, and does on command what networks do: delay, cut, half-close, swallow.
import { createServer, type IncomingMessage, request as send, type ServerResponse } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { type AddressInfo, connect, type Socket } from "node:net"

export interface ChaosOptions {
  /** Port of the browser. */
  target: number
  /** Of the proxy itself; any free one when not given. */
  port?: number
  /** `user:password`, as they are. */
  basic?: string
  /** Value of `?token=`. */
  token?: string
  /** Path below which everything is served, such as `/team`. */
  prefix?: string
  /** Serves no `/json`; a WebSocket at any path leads to this path of the browser. */
  onlySocket?: string
  tls?: { key: string; cert: string }
}

export interface ChaosProxy {
  port: number
  /** Everything that was asked for, refused requests included. */
  requests: { url: string; isSocket: boolean; authorization: string | undefined; status: number }[]
  /** Names of the CDP commands that went to the browser. */
  commands: string[]
  /** Requests that wait for an answer at this moment, and the most there were at once. */
  waiting: { now: number; most: number }
  delayMs: number
  /** Nothing passes any more, in either direction, and nobody is told. */
  swallow: boolean
  /** WebSockets that are open. */
  readonly sockets: number
  cut(): void
  /** Ends our direction towards the client and goes on taking what it sends. */
  halfClose(): void
  stop(): Promise<void>
}

export async function startChaosProxy(options: ChaosOptions): Promise<ChaosProxy> {
  const pairs = new Set<{ client: Socket; browser: Socket }>()
  const connections = new Set<Socket>()
  const { prefix = "" } = options
  const server = options.tls ? createSecureServer(options.tls) : createServer()
  const proxy: ChaosProxy = {
    port: 0,
    requests: [],
    commands: [],
    waiting: { now: 0, most: 0 },
    delayMs: 0,
    swallow: false,
    get sockets() {
      return pairs.size
    },
    cut() {
      for (const { client, browser } of pairs) {
        client.destroy()
        browser.destroy()
      }
    },
    halfClose() {
      for (const { client } of pairs) client.end()
    },
    async stop() {
      for (const socket of connections) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const judge = (request: IncomingMessage, isSocket: boolean): number => {
    const status = statusFor(request, isSocket, options)
    const { authorization } = request.headers
    proxy.requests.push({ url: request.url ?? "", isSocket, authorization, status })
    return status
  }
  const pathOf = (request: IncomingMessage) => (request.url ?? "/").slice(prefix.length).replace(/\?.*$/, "")
  server.on("connection", (socket: Socket) => {
    connections.add(socket)
    socket.on("error", () => undefined).once("close", () => connections.delete(socket))
  })
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const status = judge(request, false)
    proxy.waiting.most = Math.max(proxy.waiting.most, ++proxy.waiting.now)
    response.once("close", () => (proxy.waiting.now -= 1))
    if (proxy.swallow) return
    if (status !== 200) return void response.writeHead(status).end("no")
    // The browser is told of the way behind the proxy only, and so advertises an address that means nothing outside.
    const headers = { host: `127.0.0.1:${options.target}` }
    const inner = send({ host: "127.0.0.1", port: options.target, path: pathOf(request), headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { "content-type": "application/json" })
      answer.pipe(response)
    })
    inner.on("error", () => response.destroy())
    inner.end()
  })
  server.on("upgrade", (request: IncomingMessage, client: Socket, head: Buffer) => {
    const status = judge(request, true)
    if (proxy.swallow) return
    if (status !== 200) return void client.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\n\r\n`)
    const browser = connect(options.target, "127.0.0.1")
    const pair = { client, browser }
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      browser.destroy()
    }
    for (const socket of [client, browser]) socket.on("error", end).once("end", end).once("close", end)
    const headers = Object.entries({ ...request.headers, host: `127.0.0.1:${options.target}` })
      .filter(([name]) => name !== "authorization")
      .map(([name, value]) => `${name}: ${String(value)}`)
    browser.write(`GET ${options.onlySocket ?? pathOf(request)} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`)
    browser.write(head)
    const read = commandReader((name) => proxy.commands.push(name))
    forward(client, browser, proxy, read)
    forward(browser, client, proxy)
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve))
  proxy.port = (server.address() as AddressInfo).port
  return proxy
}

function statusFor(request: IncomingMessage, isSocket: boolean, options: ChaosOptions): number {
  const { basic, token, prefix = "", onlySocket } = options
  const url = new URL(request.url ?? "/", "http://proxy")
  if (basic !== undefined && request.headers.authorization !== `Basic ${Buffer.from(basic).toString("base64")}`)
    return 401
  if (token !== undefined && url.searchParams.get("token") !== token) return 403
  if (!url.pathname.startsWith(`${prefix}/`)) return 404
  return onlySocket !== undefined && !isSocket ? 404 : 200
}

function forward(from: Socket, to: Socket, proxy: ChaosProxy, read?: (data: Buffer) => void): void {
  from.on("data", (data: Buffer) => {
    if (proxy.swallow || to.destroyed) return
    read?.(data)
    if (proxy.delayMs === 0) to.write(data)
    else setTimeout(() => to.writable && to.write(data), proxy.delayMs)
  })
}

/** Reads the masked frames of a WebSocket client, and tells the method of each message that is a CDP command. */
function commandReader(tell: (method: string) => void): (data: Buffer) => void {
  let kept = Buffer.alloc(0)
  return (data) => {
    kept = Buffer.concat([kept, data])
    for (;;) {
      if (kept.length < 6) return
      const short = (kept[1] as number) & 0x7f
      const offset = short === 126 ? 4 : short === 127 ? 10 : 2
      if (kept.length < offset + 4) return
      const length = short === 126 ? kept.readUInt16BE(2) : short === 127 ? Number(kept.readBigUInt64BE(2)) : short
      const start = offset + 4
      if (kept.length < start + length) return
      const mask = kept.subarray(offset, start)
      const text = Buffer.from(kept.subarray(start, start + length)).map((byte, at) => byte ^ (mask[at % 4] as number))
      const method = /"method":"([\w.]+)"/.exec(Buffer.from(text).toString("utf8"))?.[1]
      if (((kept[0] as number) & 0x0f) === 1 && method !== undefined) tell(method)
      kept = kept.subarray(start + length)
    }
  }
}
