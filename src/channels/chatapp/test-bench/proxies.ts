// For tests: small real proxies on loopback. Each wants a name and a password and remembers where it was asked to go.
import { once } from "node:events"
import { type IncomingMessage, createServer as createHttpServer, request } from "node:http"
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net"

export interface TestProxy {
  port: number
  /** `host:port` of every connection, or the URL of every request that was passed on. */
  targets: string[]
  /** How many were refused for wrong credentials. */
  refused: number
  stop(): Promise<void>
}

/** Speaks CONNECT, and passes on requests for absolute URLs. */
export async function startHttpProxy(credentials: string): Promise<TestProxy> {
  const expected = `Basic ${Buffer.from(credentials).toString("base64")}`
  const isKnown = (message: IncomingMessage) => message.headers["proxy-authorization"] === expected
  const server = createHttpServer((incoming, outgoing) => {
    if (!isKnown(incoming)) {
      proxy.refused += 1
      outgoing.writeHead(407, { "proxy-authenticate": "Basic" }).end("<html>who are you?</html>")
      return
    }
    proxy.targets.push(incoming.url ?? "")
    const { "proxy-authorization": _credentials, ...headers } = incoming.headers
    const onward = request(incoming.url ?? "", { method: incoming.method ?? "GET", headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    outgoing.on("close", () => onward.destroy())
    incoming.pipe(onward)
  })
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    if (!isKnown(incoming)) {
      proxy.refused += 1
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
      return
    }
    proxy.targets.push(incoming.url ?? "")
    const [host = "", port = "0"] = (incoming.url ?? "").split(":")
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      join(socket, onward)
    })
    onward.on("error", () => socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n"))
  })
  const proxy = await listening(server)
  return proxy
}

/** SOCKS 5 (RFC 1928) with a name and a password (RFC 1929). */
export async function startSocksProxy(credentials: string): Promise<TestProxy> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined)
    serveSocks(socket).catch(() => socket.destroy())
  })
  async function serveSocks(socket: Socket): Promise<void> {
    const bytes = reader(socket)
    const [, methods = 0] = await bytes(2)
    await bytes(methods)
    socket.write(Buffer.from([5, 2]))
    const [, nameLength = 0] = await bytes(2)
    const name = String(await bytes(nameLength))
    const [passwordLength = 0] = await bytes(1)
    const given = `${name}:${String(await bytes(passwordLength))}`
    socket.write(Buffer.from([1, given === credentials ? 0 : 1]))
    if (given !== credentials) {
      proxy.refused += 1
      return void socket.end()
    }
    const [, , , kind = 0] = await bytes(4)
    const host = kind === 1 ? [...(await bytes(4))].join(".") : String(await bytes((await bytes(1))[0] ?? 0))
    const port = (await bytes(2)).readUInt16BE()
    proxy.targets.push(`${host}:${port}`)
    const onward = connect(port, host, () => {
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      join(socket, onward)
    })
    onward.on("error", () => socket.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])))
  }
  const proxy = await listening(server)
  return proxy
}

function join(one: Socket, other: Socket): void {
  one.on("error", () => undefined)
  other.on("error", () => undefined)
  one.on("close", () => other.destroy())
  other.on("close", () => one.destroy())
  one.pipe(other)
  other.pipe(one)
}

/** Reads exactly so many bytes, and leaves the rest to whoever comes next. */
function reader(socket: Socket): (length: number) => Promise<Buffer> {
  return async (length) => {
    if (length === 0) return Buffer.alloc(0)
    for (;;) {
      const chunk = socket.read(length) as Buffer | null
      if (chunk) return chunk
      if (socket.destroyed || socket.readableEnded) throw new Error("the client went away")
      await once(socket, "readable")
    }
  }
}

async function listening(server: Server): Promise<TestProxy> {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    targets: [],
    refused: 0,
    async stop() {
      const closed = once(server, "close")
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
