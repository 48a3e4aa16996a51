// The one thing that decides whether a reply may be sent again: can the request have arrived?
import assert from "node:assert/strict"
import { once } from "node:events"
import { type Server, type Socket, createServer } from "node:net"
import { afterEach, test } from "node:test"
import { TransportError, createTransport } from "./transport.ts"

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server that sees the first bytes of a request and does as it likes. Returns its port. */
async function serve(onData: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined)
    socket.once("data", () => onData(socket))
  })
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  assert.ok(typeof address === "object" && address)
  return address.port
}

async function failure(root: string, signal?: AbortSignal): Promise<TransportError> {
  const transport = createTransport(root)
  try {
    await transport.fetch(`${root}/bot1:secret/sendMessage`, { body: "{}", ...(signal ? { signal } : {}) })
  } catch (error) {
    assert.ok(error instanceof TransportError)
    assert.ok(!error.message.includes("secret"))
    return error
  } finally {
    transport.close()
  }
  throw new Error("the call was expected to fail")
}

const answer = (status: string, body: string) => `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\n\r\n${body}`

test("a refused connection means that nothing was sent", async () => {
  const port = await serve(() => undefined)
  await new Promise((resolve) => servers.pop()?.close(resolve))
  assert.equal((await failure(`http://127.0.0.1:${port}`)).stage, "unsent")
})

test("a failed TLS handshake means that nothing was sent", async () => {
  const port = await serve((socket) => socket.end("this is not TLS"))
  assert.equal((await failure(`https://127.0.0.1:${port}`)).stage, "unsent")
})

test("a connection that is closed after the request leaves it in doubt", async () => {
  const port = await serve((socket) => socket.destroy())
  assert.equal((await failure(`http://127.0.0.1:${port}`)).stage, "lost")
})

test("giving up on an answer leaves the request in doubt", async () => {
  const abort = new AbortController()
  const port = await serve(() => abort.abort())
  assert.equal((await failure(`http://127.0.0.1:${port}`, abort.signal)).stage, "lost")
})

test("giving up before the call means that nothing was sent", async () => {
  const port = await serve((socket) => socket.destroy())
  assert.equal((await failure(`http://127.0.0.1:${port}`, AbortSignal.abort())).stage, "unsent")
})

test("half of an answer leaves the request in doubt", async () => {
  const port = await serve((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"ok":tr'))
  assert.equal((await failure(`http://127.0.0.1:${port}`)).stage, "lost")
})

test("a web page is told apart from the platform's answer, with its status", async () => {
  const port = await serve((socket) => socket.end(answer("502 Bad Gateway", "<html>502</html>")))
  const error = await failure(`http://127.0.0.1:${port}`)
  assert.deepEqual([error.stage, error.status], ["page", 502])
})

test("a reset makes the next call open a connection of its own", async () => {
  const ports = new Set<number | undefined>()
  const body = '{"ok":true,"result":1}'
  const port = await serve((socket) => {
    ports.add(socket.remotePort)
    socket.write(answer("200 OK", body))
    socket.on("data", () => socket.write(answer("200 OK", body)))
  })
  const root = `http://127.0.0.1:${port}`
  const transport = createTransport(root)
  const call = async () => (await transport.fetch(`${root}/x`, { body: "{}" })).json()
  assert.deepEqual(await call(), { ok: true, result: 1 })
  await call()
  assert.equal(ports.size, 1, "kept while nothing is wrong")
  transport.reset()
  await call()
  assert.equal(ports.size, 2)
  transport.reset()
})
