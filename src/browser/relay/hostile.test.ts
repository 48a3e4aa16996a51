// What a program can do to the gateway at the extension's door: without the secret nothing, and with it no more than lose its
// connection.
import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { after, before, test } from "node:test"
import { WebSocket } from "ws"
import { type BrowserBench, startBrowserBench, testToken } from "../../../test/support/browser-service.ts"
import { freePort } from "../../../test/support/gateway.ts"
import { extensionOrigin, parsePairingCode, proofText } from "./contract.ts"

let bench: BrowserBench
let controlPort: number
let secret: string

before(async () => {
  controlPort = await freePort()
  bench = await startBrowserBench({}, { controlPort })
  const { code } = (await bench.call("POST", "/extension/pair", {})).body
  secret = parsePairingCode(code)?.secret ?? ""
})
after(() => bench.stop())

async function connect() {
  const socket = new WebSocket(`ws://127.0.0.1:${controlPort + 1}/extension`, { origin: extensionOrigin })
  // A connection that is cut while it still sends.
  socket.on("error", () => undefined)
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  const said: string[] = []
  socket.on("message", (data) => said.push(String(data)))
  await once(socket, "open")
  const next = async () => JSON.parse(String((await once(socket, "message"))[0])) as { type: string; nonce: string }
  const say = (message: unknown) => socket.send(JSON.stringify(message))
  return { socket, said, closed, next, say }
}

async function proven(instance: string) {
  const extension = await connect()
  const nonces = { extension: "1".repeat(64), relay: "" }
  extension.say({ type: "hello", protocol: 1, nonce: nonces.extension, version: "1" })
  nonces.relay = (await extension.next()).nonce
  const proof = createHmac("sha256", secret)
    .update(proofText("extension", controlPort + 1, nonces))
    .digest("hex")
  extension.say({ type: "proof", proof, instance, takeover: true, check: false, userAgent: "Chrome/1" })
  assert.equal((await extension.next()).type, "welcome")
  return extension
}

const tab = { session: "s", targetId: "T1", title: "One", url: "https://a.example/", by: "person" }
const tabs = { type: "tabs", tabs: [tab], children: [] }

test("who has not proven itself is cut off in the middle of what is longer than a greeting, unread", async () => {
  const long = `[${"0,".repeat(1_000_000)}0]`
  const first = await connect()
  first.socket.send(long)
  await first.closed
  assert.deepEqual(first.said, [], "what was read would have been answered")
  const second = await connect()
  second.say({ type: "hello", protocol: 1, nonce: "1".repeat(64), version: "1" })
  assert.equal((await second.next()).type, "challenge")
  second.socket.send(long)
  await second.closed
  assert.equal(second.said.length, 1)
})

test("who has proven itself may say long things", async () => {
  const extension = await proven("long")
  extension.say({ ...tabs, tabs: [{ ...tab, title: "x".repeat(100_000) }] })
  extension.say({ type: "ping" })
  assert.equal((await extension.next()).type, "pong")
  extension.socket.terminate()
  await extension.closed
})

const senseless: unknown[] = [
  { type: "tabs" },
  { type: "tabs", tabs: [null], children: [] },
  { type: "tabs", tabs: [{ ...tab, title: { a: 1 } }], children: [] },
  { type: "tabs", tabs: [tab], children: [{}] },
  { type: "attached" },
  { type: "attached", tab: { ...tab, targetId: [] } },
  { type: "changed", tab: null },
  { type: "detached", session: {} },
  { got: null },
  { id: null, result: 1 },
  { id: 1, error: "words" },
  { id: 1, error: null },
  { session: "s", method: "Target.attachedToTarget" },
  { session: "s", method: "Target.detachedFromTarget", params: null },
  { session: "s", method: "Runtime.executionContextCreated", params: {} },
  { session: "s", method: "Runtime.executionContextCreated", params: { context: null } },
  { session: "s", method: 5, params: {} },
  { session: "s", method: "Page.frameNavigated", params: "words", child: {} },
]

test("what makes no sense ends the connection that it came on and nothing else", async () => {
  for (const [index, said] of senseless.entries()) {
    const extension = await proven(`senseless-${index}`)
    extension.say(tabs)
    extension.say(said)
    await extension.closed
  }
  assert.ok(bench.logLines.some((line) => line.includes("the browser extension said what makes no sense")))
  const next = await proven("next")
  next.say(tabs)
  // A newer extension may say more than this gateway knows.
  next.say({ type: "from-the-future", tabs: 1 })
  next.say({ type: "ping" })
  assert.equal((await next.next()).type, "pong")
  const { connected, tabs: known } = (await bench.call("GET", "/extension")).body
  assert.deepEqual([connected, known], [true, [{ targetId: "T1", title: "One", url: tab.url, by: "person" }]])
  next.socket.terminate()
  await next.closed
})

test("a client with a token gets an error for what makes no sense, however deep it is nested", async () => {
  const extension = await proven("nested")
  extension.say(tabs)
  extension.say({ type: "ping" })
  assert.equal((await extension.next()).type, "pong")
  const headers = { authorization: `Bearer ${testToken}` }
  const client = new WebSocket(`ws://127.0.0.1:${controlPort + 1}/cdp`, { headers })
  await once(client, "open")
  const ask = async (text: string) => {
    client.send(text)
    const { error } = JSON.parse(String((await once(client, "message"))[0])) as { error?: { message: string } }
    return error?.message ?? "no error"
  }
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
  assert.match(await ask(`{"id":1,"method":"Page.reload","sessionId":${deep}}`), /sessionId must be text/)
  assert.match(await ask(`{"id":2,"method":"Page.reload","params":null}`), /params an object/)
  assert.match(await ask(`{"id":3,"method":"Page.reload","params":{"a":${deep}}}`), /call stack/)
  assert.match(await ask(`{"id":4,"method":"Target.attachToTarget","params":{"targetId":${deep}}}`), /call stack/)
  assert.match(await ask(`{"id":5,"method":"Target.attachToTarget","params":{"targetId":{}}}`), /No target/)
  // Nobody waits for what was never sent.
  extension.socket.terminate()
  await extension.closed
  while ((await bench.call("GET", "/extension")).body.connected) continue
  client.terminate()
  await once(client, "close")
})
