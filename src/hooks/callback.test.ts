import assert from "node:assert/strict"
import { once } from "node:events"
import { type IncomingMessage, createServer } from "node:http"
import { type AddressInfo, createServer as createRawServer } from "node:net"
import { type TestContext, test } from "node:test"
import { Webhook } from "standardwebhooks"
import { testStore } from "../../test/support/store.ts"
import type { TurnInput } from "../agent/turn-input.ts"
import { systemClock } from "../kernel/index.ts"
import type { OutboxRow } from "../store/index.ts"
import { callbackChannel, createCallbackSender, queueCallback } from "./callback.ts"
import { isPublicAddress } from "./guarded-post.ts"
import { hooksConfig } from "./hooks.fixture.ts"

interface Received {
  headers: IncomingMessage["headers"]
  body: string
}

async function receiver(context: TestContext, status: number, headers: Record<string, string> = {}) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      received.push({ headers: request.headers, body })
      response.writeHead(status, headers).end("x".repeat(100_000))
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/results`, received }
}

const secret = `whsec_${Buffer.from("callback-secret-0123456789").toString("base64")}`

async function queued(context: TestContext, url: string, isError = false): Promise<OutboxRow> {
  const store = await testStore(context)
  const input: TurnInput = {
    agentId: "main",
    sessionKey: "agent:main:hook:x",
    purpose: "hook",
    origin: "webhook",
    trusted: false,
    text: "t",
    route: null,
    hook: { name: "Orders", wakeMode: "now", callback: { url, mapping: "orders" } },
  }
  await store.write(async (write) => {
    write.addJob({ runId: "run-1", kind: "turn", laneKey: "lane", payload: {} })
    queueCallback(write, { input, jobId: 1, text: "The reply.", isError })
    queueCallback(write, { input: { ...input, hook: { name: "x", wakeMode: "now" } }, jobId: 1, text: "", isError })
  })
  const rows = store.handle.raw.prepare("select * from outbox").all() as unknown as OutboxRow[]
  assert.equal(rows.length, 1)
  return rows[0] as OutboxRow
}

function sender(url: string, change: Record<string, unknown> = {}) {
  const mappings = [{ id: "orders", callbackUrl: url, callbackSecret: secret }]
  const config = hooksConfig({ mappings, callbackAllowPrivate: true, ...change })
  return createCallbackSender({ config: () => config, clock: systemClock, timeoutMs: 1_000 })
}

const signal = () => new AbortController().signal
const noCall = () => undefined

test("posts the result signed in the Standard Webhooks form, once it is in the outbox", async (context) => {
  const { url, received } = await receiver(context, 202)
  const row = await queued(context, url)
  assert.equal(row.channel, callbackChannel)
  assert.deepEqual(await sender(url).send(row, signal(), noCall), { kind: "sent" })
  const [{ headers, body }] = received as [Received]
  const verified = new Webhook(secret).verify(body, headers as Record<string, string>)
  assert.partialDeepStrictEqual(verified, {
    type: "hook.run.finished",
    data: { runId: "run-1", mapping: "orders", name: "Orders", reply: "The reply." },
  })
  assert.equal(headers["webhook-id"], "run_run-1")
})

test("tells of a run that failed, and never signs with the hook token: who gets results could post hooks with it", async (context) => {
  const { url, received } = await receiver(context, 200)
  const row = await queued(context, url, true)
  await sender(url).send(row, signal(), noCall)
  const [{ headers, body }] = received as [Received]
  assert.partialDeepStrictEqual(new Webhook(secret).verify(body, headers as Record<string, string>), {
    type: "hook.run.failed",
  })
  assert.throws(() => hooksConfig({ mappings: [{ callbackUrl: url }] }), /callbackSecret/)
  // Each stands for an empty key, with which everybody could sign.
  for (const callbackSecret of ["whsec_", "whsec_A", "whsec_=", "whsec_with blanks", ""]) {
    assert.throws(() => hooksConfig({ mappings: [{ callbackUrl: url, callbackSecret }] }), /callbackSecret/)
  }
})

test(
  "is tried again after an answer that changes the protocol, which is none",
  { timeout: 20_000 },
  async (context) => {
    const server = createRawServer((socket) => {
      context.after(() => socket.destroy())
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
      )
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    context.after(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/results`
    const outcome = await sender(url).send(await queued(context, url), signal(), noCall)
    assert.partialDeepStrictEqual(outcome, { kind: "retry", error: "The connection ended without an answer" })
  },
)

test("is tried again after refusals and failures, and given up after a redirect or 410", async (context) => {
  for (const [status, kind] of [
    [500, "retry"],
    [404, "retry"],
    [429, "retry"],
    [410, "rejected"],
    [302, "rejected"],
  ] as const) {
    const { url, received } = await receiver(context, status, { location: "http://127.0.0.1:9/elsewhere" })
    const row = await queued(context, url)
    const outcome = await sender(url).send({ ...row, attempts: 4 }, signal(), noCall)
    assert.equal(outcome.kind, kind, String(status))
    if (outcome.kind === "retry") assert.equal(outcome.delayMs, 40_000)
    assert.equal(received.length, 1)
  }
  const row = await queued(context, "http://127.0.0.1:9/nobody")
  for (const [attempts, delayMs] of [
    [0, 5_000],
    [1, 5_000],
    [2, 10_000],
    [60, 3_600_000],
  ] as const) {
    const outcome = await sender("http://127.0.0.1:9/nobody").send({ ...row, attempts }, signal(), noCall)
    assert.equal(outcome.kind, "retry")
    assert.equal(outcome.delayMs, delayMs)
  }
})

test("never reaches loopback or private addresses unless that is allowed, and nothing that is not configured", async (context) => {
  const { url, received } = await receiver(context, 200)
  const { port } = new URL(url)
  for (const hidden of [
    url,
    `http://localhost:${port}/results`,
    `http://[::ffff:127.0.0.1]:${port}/results`,
    `http://2130706433:${port}/results`,
    `http://0x7f.1:${port}/`,
  ]) {
    const row = await queued(context, hidden)
    const outcome = await sender(hidden, { callbackAllowPrivate: false }).send(row, signal(), noCall)
    assert.equal(outcome.kind, "rejected", hidden)
  }
  const row = await queued(context, url)
  assert.equal((await sender(`${url}/other`).send(row, signal(), noCall)).kind, "rejected")
  assert.equal(received.length, 0)
})

test("a receiver that does not answer is given up in time", async (context) => {
  const server = createServer(() => undefined).listen(0, "127.0.0.1")
  await once(server, "listening")
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const outcome = await sender(url).send(await queued(context, url), signal(), noCall)
  assert.equal(outcome.kind, "retry")
})

test("is no chat: nothing can be sent there by name", () => {
  const channel = sender("https://host/x")
  assert.throws(() => channel.resolveTarget("x", undefined), { code: "target-invalid" })
})

test("signs with the secret of the mapping that asked, also where another has the same address", async (context) => {
  const { url, received } = await receiver(context, 200)
  const other = `whsec_${Buffer.from("another-secret-0123456789ab").toString("base64")}`
  const mappings = [
    { id: "parcels", callbackUrl: url, callbackSecret: other },
    { id: "orders", callbackUrl: url, callbackSecret: secret },
  ]
  const row = await queued(context, url)
  assert.deepEqual(await sender(url, { mappings }).send(row, signal(), noCall), { kind: "sent" })
  new Webhook(secret).verify(received[0]?.body ?? "", received[0]?.headers as Record<string, string>)
})

test("knows where each range that is not public begins and ends", () => {
  const edges: [before: string | undefined, first: string, last: string, after: string | undefined][] = [
    [undefined, "0.0.0.0", "0.255.255.255", "1.0.0.0"],
    ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
    ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
    ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
    ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
    ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
    ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
    ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
    ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
    ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
    ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
    ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
    ["223.255.255.255", "224.0.0.0", "255.255.255.255", undefined],
    ["2000:ffff::", "2001::", "2001:1ff:ffff::", "2001:200::"],
    ["2001:db7:ffff::", "2001:db8::", "2001:db8:ffff::", "2001:db9::"],
    ["2001:ffff::", "2002::", "2002:ffff::", "2003::"],
    ["3ffe:ffff::", "3fff::", "3fff:fff:ffff::", "3fff:1000::"],
    [undefined, "::", "1fff:ffff::", "2000::"],
    ["3fff:1000::", "4000::", "ffff:ffff::", undefined],
  ]
  for (const [before, first, last, after] of edges) {
    for (const address of [first, last]) assert.equal(isPublicAddress(address), false, address)
    for (const address of [before, after]) if (address) assert.equal(isPublicAddress(address), true, address)
  }
})

test("tells public addresses from the others", () => {
  for (const address of ["8.8.8.8", "1.1.1.1", "172.15.0.1", "2606:4700:4700::1111"])
    assert.equal(isPublicAddress(address), true, address)
  const hidden = [
    "127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "::ffff:8.8.8.8",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "ff02::1",
    "no address",
  ]
  for (const address of hidden) assert.equal(isPublicAddress(address), false, address)
})
