// A client of the relay sees each attached tab as a browser would show it.
import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import type { Message } from "../cdp/connection.ts"
import { RelayClient } from "./client.ts"
import type { FromExtension, RelayCommand } from "./contract.ts"
import { type ExtensionLink, Hub } from "./hub.ts"
import { AppError } from "../../kernel/index.ts"

const tab = { session: "s1", targetId: "T1", title: "Shop", url: "https://shop.example/", by: "person" as const }
const child = {
  session: "s1",
  child: "c1",
  params: { sessionId: "c1", targetInfo: { targetId: "F1", type: "iframe", url: "https://pay.example/" } },
}

/** A hub with one tab, whose extension answers as `answer` says, and keeps what it was sent. */
function startHub(children = [child], answer: (command: RelayCommand) => object = () => ({ result: {} })) {
  const hub = new Hub({ log: pino({ level: "silent" }) })
  const sent: RelayCommand[] = []
  const link: ExtensionLink = {
    instance: "i1",
    userAgent: "Mozilla/5.0 Chrome/140.0.1 Safari/537",
    version: "1",
    send(message) {
      const command = message as RelayCommand
      sent.push(command)
      queueMicrotask(() => say({ id: command.id, ...answer(command) } as FromExtension))
    },
  }
  const say = (message: FromExtension) => hub.receive(link, message)
  hub.connect(link)
  say({ type: "tabs", tabs: [tab], children })
  return { hub, sent, say }
}

function connect(hub: Hub, prefix = "R", checkOpen = async (url: string) => url) {
  const told: Message[] = []
  const answers = new Map<number, PromiseWithResolvers<Message>>()
  let sessions = 0
  const client = new RelayClient({
    hub,
    newSession: () => `${prefix}${(sessions += 1)}`,
    checkOpen,
    deliver(message) {
      told.push(message)
      if (message.id !== undefined) answers.get(message.id)?.resolve(message)
    },
  })
  let id = 0
  const ask = async (method: string, params: object = {}, sessionId?: string): Promise<Message> => {
    const answer = Promise.withResolvers<Message>()
    answers.set((id += 1), answer)
    client.receive(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    return await answer.promise
  }
  /** What it was told since it was asked last, without answers. */
  const events = () =>
    told
      .splice(0)
      .filter(({ id: isAnswer }) => isAnswer === undefined)
      .map(({ method, sessionId, params }) => {
        const about = (params?.["targetInfo"] as { targetId: string } | undefined)?.targetId ?? params?.["targetId"]
        return [sessionId, method?.split(".")[1], about].filter((each) => each !== undefined).join(" ")
      })
  return { client, told, ask, events }
}

test("tells a client that attaches to a tab anew of the frames that were there", async () => {
  const { hub } = startHub()
  const { client, told, ask } = connect(hub)
  const framesTold = () => told.filter(({ params }) => params?.["sessionId"] === "c1").map(({ sessionId }) => sessionId)
  const autoAttach = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }

  await ask("Target.attachToTarget", { targetId: "T1", flatten: true })
  await ask("Target.setAutoAttach", autoAttach, "R1")
  await ask("Target.setAutoAttach", autoAttach, "R1")
  assert.deepEqual(framesTold(), ["R1"])
  // What it had set up has failed half way, as it does when the extension goes away in the middle.
  await ask("Target.detachFromTarget", { sessionId: "R1" })
  await ask("Target.attachToTarget", { targetId: "T1", flatten: true })
  await ask("Target.setAutoAttach", autoAttach, "R2")
  assert.deepEqual(framesTold(), ["R1", "R2"])
  client.close()
})

test("tells of tabs only where it was asked to, and no more when it is asked not to", async () => {
  const { hub, say } = startHub([])
  const { ask, events } = connect(hub)
  const other = { ...tab, session: "s2", targetId: "T2", openerId: "T1" }
  const come = () => {
    say({ type: "attached", tab: other })
    say({ type: "changed", tab: { ...other, title: "Other" } })
    say({ type: "detached", session: "s2", reason: "" })
    return events()
  }
  assert.deepEqual(come(), [])
  await ask("Target.setDiscoverTargets", { discover: true })
  assert.deepEqual(events(), ["targetCreated T1"])
  assert.deepEqual(come(), ["targetCreated T2", "targetInfoChanged T2", "targetDestroyed T2"])
  say({ session: "s1", method: "Inspector.targetCrashed", params: {} })
  assert.deepEqual(events(), ["targetCrashed T1"])
  await ask("Target.setDiscoverTargets", { discover: false })
  await ask("Target.setAutoAttach", { autoAttach: true })
  assert.deepEqual(events(), ["attachedToTarget T1"])
  assert.deepEqual(come(), ["attachedToTarget T2", "detachedFromTarget T2"])
  say({ session: "s1", method: "Inspector.targetCrashed", params: {} })
  assert.deepEqual(events(), ["R1 targetCrashed"])
  await ask("Target.setAutoAttach", { autoAttach: false })
  assert.deepEqual([events(), come()], [[], []])
  say({ type: "attached", tab: other })
  const { result } = await ask("Target.getTargets")
  const info = { type: "page", title: "Shop", url: "https://shop.example/", attached: true, canAccessOpener: false }
  const targetInfos = [
    { targetId: "T1", ...info },
    { targetId: "T2", ...info, openerId: "T1" },
  ]
  assert.deepEqual(result, { targetInfos })
  assert.deepEqual((await ask("Target.getTargetInfo", { targetId: "T2" })).result, { targetInfo: targetInfos[1] })
  assert.deepEqual((await ask("Target.getTargetInfo", {}, "R1")).result, { targetInfo: targetInfos[0] })
  assert.partialDeepStrictEqual((await ask("Browser.getVersion")).result, {
    product: "Chrome/140.0.1",
    protocolVersion: "1.3",
  })
})

test("hears each event of a tab in each of its sessions, and those of a frame once", async () => {
  const { hub, say } = startHub()
  const { ask, events } = connect(hub)
  for (const _twice of [1, 2]) await ask("Target.attachToTarget", { targetId: "T1" })
  events()
  say({ session: "s1", method: "Page.loadEventFired", params: {} })
  say({ session: "s1", child: "c1", method: "Page.loadEventFired", params: {} })
  assert.deepEqual(events(), ["R1 loadEventFired", "R2 loadEventFired", "c1 loadEventFired"])
  await ask("Target.detachFromTarget", { sessionId: "R1" })
  assert.deepEqual(events(), ["detachedFromTarget T1"])
  say({ session: "s1", method: "Page.loadEventFired", params: {} })
  assert.deepEqual(events(), ["R2 loadEventFired"])
  assert.equal((await ask("Page.enable", {}, "R1")).error?.code, -32_001)
  assert.deepEqual((await ask("Page.enable", {}, "R2")).result, {})
  assert.deepEqual((await ask("Page.enable", {}, "c1")).result, {})
})

test("switches off what nobody else wants, when it is told to and when it goes", async () => {
  const { hub, sent } = startHub()
  const [one, two] = [connect(hub, "A"), connect(hub, "B")]
  for (const [{ ask }, session] of [
    [one, "A1"],
    [two, "B1"],
  ] as const) {
    await ask("Target.attachToTarget", { targetId: "T1" })
    await ask("Network.enable", {}, session)
    await ask("Page.enable", {}, "c1")
  }
  await one.ask("Runtime.enable", {}, "A1")
  await one.ask("Log.enable", {}, "c1")
  sent.splice(0)
  const said = () => sent.splice(0).map(({ child: frame, method }) => [frame, method].join(" ").trim())
  await one.ask("Network.disable", {}, "A1")
  assert.deepEqual(said(), [], "the other wants it")
  await two.ask("Network.disable", {}, "B1")
  assert.deepEqual(said(), ["Network.disable"])
  one.client.close()
  assert.deepEqual(said().toSorted(), ["Runtime.disable", "c1 Log.disable"])
  two.client.close()
  assert.deepEqual(said(), ["c1 Page.disable"])
})

test("gives nothing back to a tab that is gone meanwhile", async () => {
  const { hub, sent, say } = startHub()
  const { ask, client } = connect(hub)
  await ask("Target.attachToTarget", { targetId: "T1" })
  await ask("Page.enable", {}, "R1")
  say({ type: "detached", session: "s1", reason: "" })
  // The same again, as after a press of the button: what was on in it before is not.
  say({ type: "attached", tab })
  sent.splice(0)
  client.close()
  assert.deepEqual(sent, [])
})

test("answers what makes no sense, and says of errors whose they are", async () => {
  const errors: Record<string, object> = {
    "Page.one": { kind: "browser", message: "Not attached" },
    "Page.two": { kind: "refused", message: "not on the list" },
    "Page.three": { kind: "no-tab", message: "gone" },
  }
  const refuse = async (url: string) => {
    if (url.startsWith("file:")) throw new AppError("navigation-refused", "No files", { hint: "Open a page" })
    if (url.startsWith("odd:")) throw new Error("odd")
    return `${url}/`
  }
  const { hub, sent } = startHub([], ({ method }) => (errors[method] ? { error: errors[method] } : { result: {} }))
  const { client, told, ask } = connect(hub, "R", refuse)
  for (const [text, code] of [
    ["not json", -32_700],
    ["null", -32_600],
    ['{"method":"Page.enable"}', -32_600],
    ['{"id":1}', -32_600],
    ['{"id":1,"method":"Page.enable","params":5}', -32_600],
  ] as const) {
    client.receive(text)
    assert.equal(told.pop()?.error?.code, code, text)
  }
  await ask("Target.attachToTarget", { targetId: "T1" })
  const errorOf = async (method: string, params = {}) => (await ask(method, params, "R1")).error
  assert.deepEqual(await errorOf("Page.one"), { code: -32_000, message: "Not attached" })
  assert.deepEqual(await errorOf("Page.two"), {
    code: -32_000,
    message: "not on the list",
    data: { svc: "relay-refused" },
  })
  assert.deepEqual((await errorOf("Page.three"))?.data, { svc: "relay-no-tab" })
  const data = { svc: "navigation-refused", hint: "Open a page" }
  assert.deepEqual(await errorOf("Page.navigate", { url: "file:///x" }), { code: -32_000, message: "No files", data })
  assert.deepEqual((await ask("Target.createTarget", { url: "file:///x" })).error?.data, data)
  assert.equal((await errorOf("Page.navigate", { url: "odd:x" }))?.data, undefined)
  sent.splice(0)
  await ask("Target.createTarget", { url: "https://a.example" })
  await ask("Target.createTarget", { url: "" })
  await ask("Page.navigate", { url: "https://b.example" }, "R1")
  assert.deepEqual(
    sent.map(({ params }) => params["url"]),
    ["https://a.example/", "", "https://b.example/"],
  )
})
