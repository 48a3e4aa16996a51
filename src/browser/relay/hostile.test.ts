// What a program can do to the gateway at the extension's door: without the secret nothing, and with it no more than lose its
// connection.
import assert from "node:assert/strict"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { readFile, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
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
  const next = async () =>
    JSON.parse(String((await once(socket, "message"))[0])) as { type: string; nonce: string; reason?: string }
  const say = (message: unknown) => socket.send(JSON.stringify(message))
  return { socket, said, closed, next, say }
}

async function greeted(instance: string, more: { takeover?: boolean; check?: boolean } = {}) {
  const extension = await connect()
  const nonces = { extension: "1".repeat(64), relay: "" }
  extension.say({ type: "hello", protocol: 1, nonce: nonces.extension, version: "1" })
  nonces.relay = (await extension.next()).nonce
  const proof = createHmac("sha256", secret)
    .update(proofText("extension", controlPort + 1, nonces))
    .digest("hex")
  const given = { takeover: true, check: false, ...more }
  extension.say({ type: "proof", proof, instance, userAgent: "Chrome/1", ...given })
  return { ...extension, answer: await extension.next() }
}

async function proven(instance: string) {
  const extension = await greeted(instance)
  assert.equal(extension.answer.type, "welcome")
  return extension
}

const connected = async () => (await bench.call("GET", "/extension")).body.connected as boolean

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

test("lets go who does not greet in time, who speaks another protocol, and who has fallen silent", async (context) => {
  const { timers } = context.mock
  timers.enable({ apis: ["setTimeout"] })
  const mute = await connect()
  timers.tick(4_999)
  assert.equal(mute.socket.readyState, WebSocket.OPEN)
  timers.tick(1)
  await mute.closed
  const nonce = "1".repeat(64)
  for (const hello of [
    { type: "hello", protocol: 2, nonce, version: "1" },
    { type: "hello", protocol: 1, nonce: "short", version: "1" },
    { type: "proof" },
  ]) {
    const other = await connect()
    other.say(hello)
    await other.closed
    assert.deepEqual(other.said, ['{"type":"refused","reason":"protocol"}'])
  }
  const vague = await connect()
  vague.say({ type: "hello", protocol: 1, nonce, version: "1" })
  await vague.next()
  vague.say({ type: "proof", proof: "x" })
  await vague.closed
  assert.equal(vague.said[1], '{"type":"refused","reason":"protocol"}')
  const silent = await proven("silent")
  silent.say(tabs)
  timers.tick(44_999)
  silent.say({ type: "ping" })
  assert.equal((await silent.next()).type, "pong")
  timers.tick(1)
  await silent.closed
})

test("a look whether the pairing works takes no place; the same browser takes its own anew, another is told of it", async () => {
  const first = await proven("first")
  first.say(tabs)
  first.say({ type: "ping" })
  await first.next()
  const look = await greeted("second", { takeover: false, check: true })
  assert.equal(look.answer.type, "welcome")
  const refused = await greeted("second", { takeover: false })
  assert.deepEqual(refused.answer, { type: "refused", reason: "taken" })
  assert.equal(await connected(), true)
  look.socket.terminate()
  const again = await greeted("first", { takeover: false })
  assert.equal(again.answer.type, "welcome")
  await first.closed
  assert.equal(first.said.length, 3, "nobody is there to be told")
  const second = await proven("second")
  await again.closed
  assert.equal(again.said.at(-1), '{"type":"closing","reason":"replaced"}')
  second.say(tabs)
  second.say({ type: "ping" })
  await second.next()
  // Paired anew, whoever was there has to show the new code.
  const { code } = (await bench.call("POST", "/extension/pair", {})).body
  await second.closed
  assert.equal(second.said.at(-1), '{"type":"closing","reason":"paired-anew"}')
  const list = await fetch(`http://127.0.0.1:${controlPort + 1}/json/list`, {
    headers: { authorization: `Bearer ${testToken}` },
  })
  assert.deepEqual(await list.json(), [], "what was lent is given back")
  const { paired, codeWaits, tabs: known } = (await bench.call("GET", "/extension")).body
  assert.deepEqual([paired, codeWaits, known], [false, true, []])
  assert.deepEqual((await greeted("second")).answer, { type: "refused", reason: "wrong-secret" })
  secret = parsePairingCode(` ${code.toUpperCase().replaceAll("-", " ")} `)?.secret ?? ""
  const third = await proven("third")
  assert.equal((await bench.call("GET", "/extension")).body.paired, true)
  third.socket.terminate()
  await third.closed
})

test("programs with the token are told what there is, in the form of a browser, and nothing else is answered", async () => {
  const base = `http://127.0.0.1:${controlPort + 1}`
  const headers = { authorization: `Bearer ${testToken}` }
  const ask = async (path: string, method = "GET", more: Record<string, string> = headers) => {
    const response = await fetch(base + path, { method, headers: more })
    const text = await response.text()
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text) }
  }
  const away = await ask("/json/version")
  assert.deepEqual(away.body, { Browser: "svc relay", "Protocol-Version": "1.3", "User-Agent": "" })
  const extension = await proven("told")
  extension.say(tabs)
  extension.say({ type: "ping" })
  await extension.next()
  const webSocketDebuggerUrl = `ws://127.0.0.1:${controlPort + 1}/cdp`
  assert.deepEqual((await ask("/json/version/")).body, {
    ...away.body,
    "User-Agent": "Chrome/1",
    webSocketDebuggerUrl,
  })
  const { title, url } = tab
  const list = [{ id: "T1", type: "page", title, url, description: "", webSocketDebuggerUrl }]
  for (const [path, method] of [
    ["/json", "GET"],
    ["/json/", "GET"],
    ["/json/list", "PUT"],
  ] as const)
    assert.deepEqual((await ask(path, method)).body, list, path)
  assert.deepEqual(await ask("/json/list", "HEAD"), { status: 200, body: undefined })
  assert.equal((await ask("/json/list", "POST")).body.error.code, "method-not-allowed")
  const unknown = await ask("/json/new")
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, "not-found"])
  assert.match(unknown.body.error.hint, /\/json\/version, \/json\/list and \/cdp/)
  const wrong = await ask(`/json/list?token=${testToken}`, "GET", { authorization: "Bearer wrong" })
  assert.equal(wrong.status, 401, "the header counts")
  assert.match((await ask("/json/list", "GET", {})).body.error.hint, /Authorization: Bearer/)
  const upgrade = (path: string) =>
    new Promise<number>((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${controlPort + 1}${path}`, { headers })
      socket.once("open", () => resolve(101))
      socket.once("unexpected-response", (_request, { statusCode = 0 }) => resolve(statusCode))
      socket.on("error", () => undefined)
    })
  assert.equal(await upgrade("/cdp2"), 404)
  extension.socket.terminate()
  await extension.closed
})

test("a pairing outlives the gateway, one that nobody has used too, and a file that is damaged is none", async () => {
  const { stateFolder } = bench
  const file = join(stateFolder, "browser", "relay-pairing.json")
  const kept = JSON.parse(await readFile(file, "utf8"))
  const after = async (text: string) => {
    await bench.stop()
    await writeFile(file, text)
    bench = await startBrowserBench({}, { controlPort, stateFolder })
    const { paired, codeWaits } = (await bench.call("GET", "/extension")).body
    return [paired, codeWaits]
  }
  const { provenAt, ...earlier } = kept
  assert.ok(provenAt > 0)
  assert.deepEqual(await after(JSON.stringify(kept)), [true, false])
  assert.deepEqual(await after(JSON.stringify(earlier)), [true, false], "as versions before have written it")
  assert.deepEqual(await after(JSON.stringify({ ...kept, provenAt: null })), [false, true])
  for (const text of ["", "{}", JSON.stringify({ ...kept, secret: "short" })])
    assert.deepEqual(await after(text), [false, false], text)
})

test("a relay whose port another has says so, and is there as soon as it can be", async (context) => {
  const other = createServer()
  context.after(() => other.close())
  const port = await freePort()
  await once(other.listen(port + 1, "127.0.0.1"), "listening")
  const late = await startBrowserBench({}, { controlPort: port })
  context.after(() => late.stop())
  const refused = await late.call("POST", "/extension/pair", {})
  assert.deepEqual([refused.status, refused.body.error.code], [409, "port-in-use"])
  assert.match(refused.body.error.hint, /tried again when it is used/)
  const { listening, problem } = (await late.call("GET", "/extension")).body
  assert.equal(listening, false)
  assert.match(problem, new RegExp(`Port ${port + 1} is in use; it is needed for the relay`))
  other.close()
  await once(other, "close")
  assert.equal((await late.call("POST", "/extension/pair", {})).status, 200)
  assert.equal((await late.call("GET", "/extension")).body.problem, null)
})
