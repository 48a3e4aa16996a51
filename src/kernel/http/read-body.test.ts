import assert from "node:assert/strict"
import { once } from "node:events"
import { type IncomingMessage, createServer, request as httpRequest } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { type TestContext, test } from "node:test"
import { AppError } from "../errors.ts"
import { type BodyLimits, readBody, readJson } from "./read-body.ts"

const limits: BodyLimits = { maxBytes: 1_000, timeoutMs: 60_000 }

/** A server that reads with `read`; the client's answer is what came of it. */
async function reader(context: TestContext, read: (request: IncomingMessage) => Promise<unknown>) {
  const outcomes: Promise<unknown>[] = []
  const server = createServer((incoming, response) => {
    const outcome = read(incoming).catch((error: unknown) => error)
    outcomes.push(outcome)
    void outcome.then((value) => response.end(value instanceof AppError ? value.code : JSON.stringify(value)))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { outcomes, port, address: `http://127.0.0.1:${port}/` }
}

async function post(address: string, body: string | Buffer): Promise<string> {
  const response = await fetch(address, { method: "POST", body: new Uint8Array(Buffer.from(body)) })
  return await response.text()
}

test("reads up to the limit and not a byte more, whether the length is declared or not", async (context) => {
  const { address } = await reader(context, async (incoming) => (await readBody(incoming, limits)).length)
  assert.equal(await post(address, "x".repeat(1_000)), "1000")
  assert.equal(await post(address, "x".repeat(1_001)), "payload-too-large")
  for (const [bytes, expected] of [
    [1_000, "1000"],
    [1_001, "payload-too-large"],
  ] as const) {
    const chunked = httpRequest(address, { method: "POST" })
    for (let sent = 0; sent < bytes; sent += 100) chunked.write("x".repeat(Math.min(100, bytes - sent)))
    chunked.end()
    const [response] = (await once(chunked, "response")) as [IncomingMessage]
    assert.equal(String(Buffer.concat(await response.toArray())), expected)
  }
})

test("reads the rest of a body that is too large, so that its sender can read the answer", async (context) => {
  const { address } = await reader(context, (incoming) => readBody(incoming, limits))
  assert.equal(await post(address, "x".repeat(4 * 1024 * 1024)), "payload-too-large")
})

test("gives up a body that does not come in time", async (context) => {
  const { port } = await reader(context, (incoming) => readBody(incoming, { ...limits, timeoutMs: 20 }))
  const socket = connect(port, "127.0.0.1")
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
  const [data] = (await once(socket, "data")) as [Buffer]
  assert.match(String(data), /request-timeout/)
  socket.destroy()
})

test("a body that is cut is no body", async (context) => {
  const got = Promise.withResolvers<void>()
  const { outcomes, port } = await reader(context, async (incoming) => {
    got.resolve()
    return await readBody(incoming, limits)
  })
  const socket = connect(port, "127.0.0.1")
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
  await got.promise
  socket.destroy()
  assert.equal(((await outcomes[0]) as AppError).code, "bad-request")
})

test("takes JSON as UTF-8 only, whatever its type, and nothing for an empty object", async (context) => {
  const { address } = await reader(context, (incoming) => readJson(incoming, limits))
  assert.equal(await post(address, '{"a":"\u00fc"}'), '{"a":"\u00fc"}')
  assert.equal(await post(address, ""), "{}")
  assert.equal(await post(address, Buffer.from([0x22, 0xfc, 0x22])), "bad-json")
  assert.equal(await post(address, "{"), "bad-json")
})
