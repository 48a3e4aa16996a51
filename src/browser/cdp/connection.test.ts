// Commands and their answers over one connection, whatever the other end says and whenever it ends.
import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { AppError } from "../../kernel/index.ts"
import { CdpConnection, CdpError, type MessageError } from "./connection.ts"
import { type Transport, type TransportEvents, tooLargeCode } from "./transport.ts"

/** The other end: what it was sent, and what it says. */
function start(more: Partial<Transport> = {}, explain?: (error: MessageError) => AppError | undefined) {
  const sent: Record<string, unknown>[] = []
  let events: TransportEvents | undefined
  let closes = 0
  const transport: Transport = {
    bytesRead: 0,
    listen: (given) => void (events = given),
    send: (text) => void sent.push(JSON.parse(text) as Record<string, unknown>),
    ping: () => true,
    isGone: () => false,
    close: () => void (closes += 1),
  }
  // As they are: what has come so far is asked for each time.
  Object.defineProperties(transport, Object.getOwnPropertyDescriptors(more))
  const connection = new CdpConnection(transport, undefined, explain)
  const say = (message: object | string) =>
    events?.onMessage(typeof message === "string" ? message : JSON.stringify(message))
  return { connection, sent, say, end: (reason: AppError) => events?.onEnd(reason), closes: () => closes }
}

test("gives each command its own answer, in the session in which it was asked", async () => {
  const { connection, sent, say } = start()
  const [one, two] = [connection.root.send("A.one", { a: 1 }), connection.session("S").send("B.two")]
  assert.deepEqual(sent, [
    { id: 1, method: "A.one", params: { a: 1 } },
    { id: 2, method: "B.two", params: {}, sessionId: "S" },
  ])
  say({ id: 2, result: { two: 2 } })
  say({ id: 1 })
  say({ id: 7, result: {} })
  assert.deepEqual([await one, await two], [{}, { two: 2 }])
  connection.close()
})

test("says of an error whose it is", async () => {
  const explain = ({ data }: MessageError) => (data === "ours" ? new AppError("relay-no-tab", "gone") : undefined)
  const { connection, say } = start({}, explain)
  const fail = (error: object) => {
    const asked = connection.root.send("A.one")
    say({ id: (id += 1), error })
    return asked
  }
  let id = 0
  await assert.rejects(fail({ message: "No such node" }), (error) => {
    assert.ok(error instanceof CdpError)
    assert.deepEqual([error.message, error.method], ["A.one: No such node", "A.one"])
    return true
  })
  await assert.rejects(fail({ message: "x", data: "ours" }), { code: "relay-no-tab" })
  await assert.rejects(fail({ message: "x", code: tooLargeCode }), {
    code: "payload-too-large",
    message: "The browser's answer to A.one is larger than 256 MB",
    hint: /Ask for less at once/,
  })
  connection.close()
})

test("tells events to those who listen in their session, for as long as they do", () => {
  const { connection, say } = start()
  const heard: string[] = []
  const leave = connection.root.on("A.event", () => heard.push("root"))
  connection.root.on("A.event", () => heard.push("root too"))
  connection.session("S").on("A.event", ({ n }: { n: number }) => heard.push(`S ${n}`))
  say({ method: "A.event" })
  say({ method: "A.event", params: { n: 1 }, sessionId: "S" })
  say({ method: "A.event", sessionId: "T" })
  leave()
  say({ method: "A.event" })
  connection.endSession("S", new AppError("aborted", "over"))
  say({ method: "A.event", params: { n: 2 }, sessionId: "S" })
  assert.deepEqual(heard, ["root", "root too", "S 1", "root too"])
  connection.close()
})

test("ends what waits: with its time, its caller, its session, or the connection", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const { connection, sent, end, closes } = start()
  const caller = new AbortController()
  const stopped = new AppError("aborted", "stopped")
  const usual = connection.root.send("A.usual")
  const short = connection.root.send("A.short", {}, { timeoutMs: 100 })
  const given = connection.root.send("A.given", {}, { signal: caller.signal })
  const inSession = connection.session("S").send("A.session")
  const rest = connection.root.send("A.rest", {}, { timeoutMs: 0 })
  context.mock.timers.tick(100)
  await assert.rejects(short, { code: "timeout", message: "The browser did not answer A.short within 100 ms" })
  caller.abort(stopped)
  await assert.rejects(given, stopped)
  const count = sent.length
  await assert.rejects(connection.root.send("A.late", {}, { signal: caller.signal }), stopped)
  assert.equal(sent.length, count, "nothing is sent for who has given up")
  connection.endSession("S", stopped)
  await assert.rejects(inSession, stopped)
  context.mock.timers.tick(14_900)
  await assert.rejects(usual, { code: "timeout", message: /within 15000 ms/ })
  assert.equal(connection.isOpen, true)
  end(new AppError("browser-lost", "The browser closed its pipe"))
  end(new AppError("browser-lost", "again"))
  const hint = /The next call starts it or connects to it again/
  await assert.rejects(rest, { code: "browser-lost", message: "The browser closed its pipe", hint })
  await assert.rejects(connection.root.send("A.after"), { code: "browser-lost", hint })
  assert.deepEqual([connection.isOpen, (await connection.closed).message], [false, "The browser closed its pipe"])
  assert.deepEqual([closes(), sent.length], [1, count])
})

test("keeps the advice of who knows better, and is lost to what is no CDP", async () => {
  const known = start()
  known.end(new AppError("browser-lost", "gone", { hint: "Wake it" }))
  assert.equal((await known.connection.closed).hint, "Wake it")
  for (const text of ["not json", "null"]) {
    const { connection, say } = start()
    say(text)
    assert.match((await connection.closed).message, /not CDP/, text)
  }
})

/** Beats of the connection's heart. */
async function beat(context: TestContext, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    context.mock.timers.tick(900)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test("takes a peer for gone after four silent beats, if its way says so, and none that sends a byte", async (context) => {
  context.mock.timers.enable({ apis: ["setInterval"] })
  const silences: number[] = []
  let bytesRead = 0
  const { connection, sent } = start({
    get bytesRead() {
      return bytesRead
    },
    ping: () => false,
    isGone: (ms) => silences.push(ms) > 2,
  })
  bytesRead = 1
  await beat(context, 4)
  assert.deepEqual(silences, [], "the first of them brought something")
  assert.deepEqual(
    sent.map(({ method }) => method),
    Array(4).fill("Browser.getVersion"),
  )
  await beat(context, 1)
  assert.deepEqual(silences, [3_600])
  bytesRead = 2
  await beat(context, 4)
  assert.deepEqual(silences, [3_600])
  await beat(context, 2)
  assert.match((await connection.closed).message, /stopped answering/)
  assert.deepEqual(silences, [3_600, 3_600, 4_500])
})
