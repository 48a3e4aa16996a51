// The way to a browser through a pipe: whole messages whatever the pieces, its end and its errors, and the private door for a
// tool that needs an address, with a real browser behind it.
import assert from "node:assert/strict"
import { once } from "node:events"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { after, before, test } from "node:test"
import { WebSocket } from "ws"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemIds } from "../../kernel/index.ts"
import { browserArguments, browserEnvironment } from "../profiles/arguments.ts"
import { endGroup } from "../profiles/end-process.ts"
import { type BrowserProcess, launchOnPipe } from "../profiles/launch.ts"
import { type CdpConnection, openPrivateDoor, overPipe, type PipeOptions } from "./index.ts"
import { tooLargeCode } from "./transport.ts"

let browser: BrowserProcess & { connection: CdpConnection }

before(async () => {
  browser = await launchOnPipe({
    path: process.env["SVC_TEST_BROWSER"] ?? "/usr/bin/chromium",
    arguments: browserArguments({
      way: { kind: "pipe" },
      proxy: undefined,
      userDataFolder: join(temporaryFolder(), "user-data"),
      headless: true,
      noSandbox: process.getuid?.() === 0,
      platform: process.platform,
    }),
    environment: browserEnvironment(process.env),
    timeoutMs: 20_000,
    signal: new AbortController().signal,
  })
})

after(() => endGroup(browser.pid, { politeMs: 0, firmMs: 5_000 }))

function startPipe(options: PipeOptions = {}) {
  const [to, from] = [new PassThrough(), new PassThrough()]
  const pipe = overPipe(to, from, options)
  const messages: string[] = []
  const ends: string[] = []
  pipe.listen({ onMessage: (text) => messages.push(text), onEnd: ({ message }) => ends.push(message) })
  return { to, from, pipe, messages, ends }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test("puts messages together whatever pieces they come in, characters that are cut included", async () => {
  const sent = ["{}", '{"a":"Grüße 🦊 из Вены"}', "", '{"b":"\u2028"}']
  const bytes = Buffer.from(sent.map((text) => `${text}\0`).join(""))
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const { from, messages, pipe } = startPipe()
    for (let at = 0; at < bytes.length; at += size) from.write(bytes.subarray(at, at + size))
    await turn()
    assert.deepEqual(messages, sent, `pieces of ${size}`)
    assert.equal(pipe.bytesRead, bytes.length)
  }
})

test("ends once, with its reason: closed, broken for writing, or a message without an end", async () => {
  const closed = startPipe()
  closed.from.destroy()
  await turn()
  assert.deepEqual(closed.ends, ["The browser closed its pipe"])
  closed.pipe.send("{}")
  const broken = startPipe()
  broken.to.destroy(new Error("EPIPE"))
  await turn()
  assert.deepEqual(broken.ends, ["The browser's pipe failed"])
  const endless = startPipe({ limit: 1_000 })
  endless.from.write(`${"x".repeat(900)}\0${"x".repeat(900)}`)
  for (let n = 0; n < 4; n += 1) endless.from.write("x".repeat(900))
  endless.from.write("\0{}\0")
  await turn()
  assert.deepEqual(endless.messages, ["x".repeat(900)])
  assert.match(endless.ends.join(), /message of over 4000 bytes/)
  const large = startPipe({ limit: 1_000 })
  const words = "x".repeat(900)
  for (const piece of [
    `{"i`,
    `d":7,"result":"${words}`,
    `${words}"}\0{"id":8}`,
    `\0{"method":"a.b","params":"${words}`,
  ])
    large.from.write(piece)
  large.from.write(`${words}"}\0{"id":9}\0`)
  await turn()
  assert.deepEqual(large.ends, [])
  const ids = large.messages.map((text) => JSON.parse(text) as { id: number; error?: { code: number } })
  assert.deepEqual(
    ids.map(({ id, error }) => [id, error?.code]),
    [
      [7, tooLargeCode],
      [8, undefined],
      [9, undefined],
    ],
  )
  const ours = startPipe()
  ours.pipe.close()
  await turn()
  assert.deepEqual(ours.ends, [])
})

/** 100 MB take a browser several seconds. */
const largeMb = Number(process.env["SVC_TEST_LARGE_MB"] ?? 8)

test("holds what is said while the browser reads slowly, and carries a huge answer among small ones", async () => {
  const { root } = browser.connection
  const { targetInfos } = await root.send<{ targetInfos: { targetId: string; type: string }[] }>("Target.getTargets")
  const targetId = targetInfos.find(({ type }) => type === "page")?.targetId
  const { sessionId } = await root.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true })
  const page = browser.connection.session(sessionId)
  const evaluate = async (expression: string) => {
    const options = { returnByValue: true, expression }
    const { result } = await page.send<{ result: { value: unknown } }>("Runtime.evaluate", options, {
      timeoutMs: 60_000,
    })
    return result.value
  }
  const large = evaluate(`'ü' + 'x'.repeat(${largeMb * 1_000_000})`)
  const small = Array.from({ length: 50 }, (_, number) => evaluate(`${number}`))
  // More than any pipe holds, before the browser has read a word of it.
  const word = "ü".repeat(3_000_000)
  const long = evaluate(`${JSON.stringify(word)}.length`)
  assert.deepEqual(await Promise.all(small), [...small.keys()])
  assert.equal(await long, word.length)
  const text = String(await large)
  assert.equal(text.length, 1 + largeMb * 1_000_000)
  assert.ok(text.startsWith("üx") && text.endsWith("x"))
})

function knock(url: string, options: { origin?: string; headers?: Record<string, string> } = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, options)
    socket.once("open", () => {
      socket.terminate()
      resolve("open")
    })
    socket.once("error", ({ message }) => resolve(message))
  })
}

test("the private door opens for its secret alone: no page, no other name, no second client", async () => {
  const door = await openPrivateDoor(browser.connection, systemIds)
  const { origin, host, port } = new URL(door.url)
  for (const [url, options] of [
    [`${origin}/`, {}],
    [`${origin}/devtools/browser`, {}],
    [`${door.url}x`, {}],
    [door.url, { origin: `http://${host}` }],
    [door.url, { origin: "https://evil.example" }],
    [door.url, { headers: { host: `evil.example:${port}` } }],
    [door.url.replace("127.0.0.1", "localhost"), {}],
  ] as const)
    assert.match(await knock(url, options), /403/, `${url} ${JSON.stringify(options)}`)
  assert.equal((await fetch(`http://${host}/json/version`)).status, 404)
  const client = new WebSocket(door.url)
  await once(client, "open")
  assert.match(await knock(door.url), /ECONNREFUSED/, "nothing listens any more")
  client.terminate()
  const unused = await openPrivateDoor(browser.connection, systemIds)
  unused.close()
  assert.match(await knock(unused.url), /ECONNREFUSED/)
})

test("a client of the door has sessions of its own, and sees nothing of ours", async () => {
  const { connection } = browser
  const heard: string[] = []
  const stop = connection.root.on("Target.attachedToTarget", ({ sessionId }: { sessionId: string }) =>
    heard.push(sessionId),
  )
  const { targetId } = await connection.root.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" })
  const ours = await connection.root.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true })
  const door = await openPrivateDoor(connection, systemIds)
  const client = new WebSocket(door.url)
  await once(client, "open")
  type Said = { id?: number; method?: string; sessionId?: string; result?: Record<string, string>; error?: object }
  const said: Said[] = []
  const waiting = new Map<number, (message: Said) => void>()
  client.on("message", (data) => {
    const message = JSON.parse(String(data)) as Said
    said.push(message)
    if (message.id !== undefined) waiting.get(message.id)?.(message)
  })
  let count = 0
  const ask = (method: string, params: object = {}, sessionId?: string) =>
    new Promise<Said>((resolve) => {
      count += 1
      waiting.set(count, resolve)
      client.send(JSON.stringify({ id: count, method, params, sessionId }))
    })
  assert.match(JSON.stringify((await ask("Browser.getVersion")).result), /Chrome/)
  const theirs = await ask("Target.attachToTarget", { targetId, flatten: true })
  const sessionId = theirs.result?.["sessionId"]
  assert.ok(sessionId)
  const answer = await ask("Runtime.evaluate", { expression: "1 + 1" }, sessionId)
  assert.deepEqual([answer.sessionId, answer.error], [sessionId, undefined])
  assert.match(JSON.stringify((await ask("Runtime.evaluate", { expression: "1" }, ours.sessionId)).error), /not found/)
  assert.ok(said.every(({ sessionId: own }) => own === undefined || own === sessionId || own === ours.sessionId))
  assert.equal(heard.includes(sessionId), false)
  assert.equal(
    said.some(({ method }) => method === "Target.attachedToTarget"),
    true,
  )
  const again = await connection.session(ours.sessionId).send("Runtime.evaluate", { expression: "2" })
  assert.ok(again["result"])
  const gone = once(client, "close")
  door.close()
  await gone
  stop()
  await connection.root.send("Target.closeTarget", { targetId })
})

test("a client of the door that nests without end loses its connection, and nobody else anything", async () => {
  const door = await openPrivateDoor(browser.connection, systemIds)
  const client = new WebSocket(door.url)
  await once(client, "open")
  client.send('{"id":1,"method":"Browser.getVersion"}')
  await once(client, "message")
  const gone = once(client, "close")
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
  client.send(`{"id":2,"method":"Runtime.evaluate","params":{"expression":${deep}}}`)
  await gone
  assert.match((await browser.connection.root.send<{ product: string }>("Browser.getVersion")).product, /Chrome/)
})

test("says that the browser is lost when its process ends", async () => {
  const pending = browser.connection.root.send("Browser.getVersion", {}, { timeoutMs: 0 }).catch((error) => error)
  process.kill(browser.pid, "SIGKILL")
  assert.match((await browser.connection.closed).message, /pipe/)
  await pending
  await browser.exited
  await assert.rejects(browser.connection.root.send("Browser.getVersion"), { code: "browser-lost" })
})
