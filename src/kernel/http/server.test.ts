import assert from "node:assert/strict"
import { once } from "node:events"
import { type Socket, connect } from "node:net"
import { type TestContext, test } from "node:test"
import { type ListenOptions, listen } from "./server.ts"

const wanted = { host: "127.0.0.1", port: 0, purpose: "the test (test.port)" }

async function listening(context: TestContext, options: Partial<ListenOptions> = {}) {
  const listener = await listen({ ...wanted, fetch: () => new Response("here"), ...options })
  context.after(() => listener.stop(0))
  return listener
}

async function open(context: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => undefined)
  context.after(() => socket.destroy())
  await once(socket, "connect")
  return socket
}

test("names the port that is in use, what it is for and what to do", async (context) => {
  const { port } = await listening(context)
  const again = listen({ ...wanted, port, fetch: () => new Response() })
  await assert.rejects(again, (error: Error & { code?: string; hint?: string }) => {
    assert.equal(error.message, `Port ${port} is in use; it is needed for the test (test.port)`)
    assert.match(error.hint ?? "", /gateway\.port/)
    return error.code === "port-in-use"
  })
  await assert.rejects(listen({ ...wanted, port, fetch: () => new Response(), hint: "take another" }), {
    hint: "take another",
  })
  await assert.rejects(listen({ ...wanted, host: "192.0.2.1", fetch: () => new Response() }), {
    code: "internal",
    message: /Cannot listen on 192\.0\.2\.1 for the test/,
  })
})

test("a stop lets a request under way finish, and takes no new one", async (context) => {
  const begun = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const listener = await listening(context, {
    async fetch() {
      begun.resolve()
      await answer.promise
      return new Response("finished")
    },
  })
  const address = `http://127.0.0.1:${listener.port}/`
  const request = fetch(address)
  await begun.promise
  const stopped = listener.stop(60_000)
  await assert.rejects(fetch(address))
  answer.resolve()
  assert.equal(await (await request).text(), "finished")
  await stopped
})

test(
  "a stop waits for no connection that is kept alive: not for one that is idle, not for one that gets its answer",
  { timeout: 10_000 },
  async (context) => {
    const begun = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<void>()
    const listener = await listening(context, {
      async fetch(request) {
        if (!request.url.endsWith("/slow")) return new Response("here")
        begun.resolve()
        await answer.promise
        return new Response("finished")
      },
    })
    // Else the server itself would end them after a while.
    listener.server.keepAliveTimeout = 0
    const [idle, busy] = [await open(context, listener.port), await open(context, listener.port)]
    idle.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert.match(String((await once(idle, "data"))[0]), /200 OK[^]*here/)
    busy.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    await begun.promise
    const stopped = listener.stop(60_000)
    await once(idle, "close")
    const said = once(busy, "data")
    answer.resolve()
    assert.match(String((await said)[0]), /finished/)
    await stopped
  },
)

test("a stop is not held up: not by a request that never ends, not by a client that sends nothing", async (context) => {
  const begun = Promise.withResolvers<void>()
  const listener = await listening(context, {
    fetch() {
      begun.resolve()
      return new Promise<Response>(() => undefined)
    },
  })
  const held = assert.rejects(fetch(`http://127.0.0.1:${listener.port}/`))
  const silent = await open(context, listener.port)
  const half = await open(context, listener.port)
  half.write("POST / HTTP/1.1\r\nHost: x\r\n")
  await begun.promise
  const cut = Promise.all([silent, half].map((socket) => new Promise((resolve) => socket.on("close", resolve))))
  await listener.stop(20)
  await Promise.all([held, cut])
})

test("connections beyond the limit are closed, and those before go on", async (context) => {
  const { port } = await listening(context, { maxConnections: 2 })
  const [first] = [await open(context, port), await open(context, port)]
  const third = await open(context, port)
  await once(third, "close")
  first.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  const [data] = (await once(first, "data")) as [Buffer]
  assert.match(String(data), /^HTTP\/1\.1 200 /)
})

test("a connection that is kept for a further request gives its place to who comes", async (context) => {
  const { port, server } = await listening(context, { maxConnections: 4 })
  assert.ok(server.keepAliveTimeout > 120_000, "longer than proxies keep theirs")
  const kept: Socket[] = []
  for (let count = 0; count < 3; count++) {
    const socket = await open(context, port)
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1\.1 200 /)
    kept.push(socket)
  }
  const given = Promise.all(kept.map((socket) => once(socket, "close")))
  for (let count = 0; count < 3; count++) {
    const socket = await open(context, port)
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1\.1 200 /)
  }
  await given
})

test("who connects and asks for nothing gives way in a crowd, also where every place is taken", async (context) => {
  const { port } = await listening(context, { maxConnections: 4, silentMs: 0 })
  // One that says nothing, and one that is for ever in the middle of its headers.
  const silent = [await open(context, port), await open(context, port)]
  silent[1]?.write("GET / HTTP/1.1\r\nHost: ")
  const gone = Promise.all(silent.map((socket) => once(socket, "close")))
  for (let count = 0; count < 8; count++) {
    const socket = await open(context, port)
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    const [answer] = await Promise.race([once(socket, "data"), once(socket, "close")])
    // The one for whom there was no place has made some.
    if (!Buffer.isBuffer(answer)) continue
    assert.match(String(answer), /^HTTP\/1\.1 200 /)
  }
  await gone
  const patient = await listening(context, { maxConnections: 4, silentMs: 60_000 })
  const waits = await open(context, patient.port)
  for (let count = 0; count < 3; count++) await open(context, patient.port)
  waits.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
  assert.match(String((await once(waits, "data"))[0]), /^HTTP\/1\.1 200 /)
})

test("a connection on which every request offers another protocol gathers nothing", async (context) => {
  const { port, server } = await listening(context, { upgrade: (_request, socket) => socket.destroy() })
  const connected = once(server, "connection")
  const socket = await open(context, port)
  const [served] = (await connected) as [Socket]
  const counts = new Set<number>()
  for (let count = 0; count < 15; count++) {
    socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n")
    assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1\.1 200 /)
    if (count > 1) counts.add(served.listenerCount("close"))
  }
  assert.equal(counts.size, 1, [...counts].join(" "))
})

test("who takes no WebSockets answers a request that offers to speak otherwise", async (context) => {
  const { port } = await listening(context)
  const socket = await open(context, port)
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
  assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1\.1 200 /)
})
