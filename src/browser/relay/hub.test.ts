// Commands while the extension comes and goes: they wait, are sent again where that is safe, and fail with a clear code.
import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../../test/support/store.ts"
import type { FromExtension, FromRelay, RelayTab } from "./contract.ts"
import { type ExtensionLink, Hub } from "./hub.ts"

const tab: RelayTab = { session: "T1", targetId: "A", title: "", url: "https://a.example/", by: "person" }

/** An extension that keeps what it is sent. */
function extension(hub: Hub, tabs: RelayTab[] = [tab], instance = "one") {
  const sent: Extract<FromRelay, { method: string }>[] = []
  const link: ExtensionLink = {
    instance,
    userAgent: "",
    version: "1",
    send: (message) => void ("method" in message && sent.push(message)),
  }
  hub.connect(link)
  const say = (message: FromExtension) => hub.receive(link, message)
  say({ type: "tabs", tabs, children: [] })
  return { sent, say, leave: () => hub.disconnect(link) }
}

const read = { session: "T1", method: "Page.getFrameTree", params: {} }
const click = { session: "T1", method: "Input.dispatchMouseEvent", params: {} }
const codeOf = (error: unknown) => (error as { code?: string }).code

test("a command waits for an extension that is away, and fails with a code when it does not come", async () => {
  const hub = new Hub({ log: silentLog, patience: 50 })
  await assert.rejects(hub.command(read), (error) => codeOf(error) === "relay-not-connected")
  const patient = new Hub({ log: silentLog, patience: 60_000 })
  const answer = patient.command(read)
  const { sent, say } = extension(patient)
  await new Promise((resolve) => setImmediate(resolve))
  say({ id: sent[0]?.id ?? 0, result: { done: true } })
  assert.deepEqual(await answer, { done: true })
})

test("what the extension had not taken is sent again, unless a page would notice it twice", async () => {
  const hub = new Hub({ log: silentLog, patience: 60_000 })
  const first = extension(hub)
  const answers = [hub.command(read), hub.command(click), hub.command(read)]
  first.say({ got: first.sent[2]?.id ?? 0 })
  first.leave()
  const second = extension(hub)
  await assert.rejects(answers[1] as Promise<unknown>, (error) => codeOf(error) === "browser-lost")
  await assert.rejects(answers[2] as Promise<unknown>, (error) => codeOf(error) === "browser-lost")
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(
    second.sent.map(({ method }) => method),
    ["Page.getFrameTree"],
  )
  second.say({ id: second.sent[0]?.id ?? 0, result: 1 })
  assert.equal(await answers[0], 1)
})

test("what may be done already fails as soon as the extension goes; an older connection that ends takes nothing along", async () => {
  const hub = new Hub({ log: silentLog, patience: 60_000 })
  const first = extension(hub)
  const cut = hub.command(click)
  first.leave()
  await assert.rejects(cut, (error) => codeOf(error) === "browser-lost")
  const [older, newer] = [extension(hub), extension(hub)]
  const answer = hub.command(read)
  older.leave()
  newer.say({ id: newer.sent[0]?.id ?? 0, result: 1 })
  assert.equal(await answer, 1)
})

test("tabs stay known through an absence; those that are not told of again, and those of another browser, are gone", () => {
  const hub = new Hub({ log: silentLog })
  const other: RelayTab = { ...tab, session: "T2", targetId: "B" }
  const first = extension(hub, [tab, other])
  const known = hub.bySession("T1")
  first.leave()
  assert.equal(hub.tabs.length, 2)
  const second = extension(hub, [tab])
  assert.equal(hub.bySession("T1"), known, "the same tab, so what was seen of it still counts")
  assert.equal(hub.bySession("T2"), undefined)
  second.leave()
  extension(hub, [], "two")
  assert.deepEqual(hub.tabs, [])
})

test("nothing that a page would notice twice is sent twice, and what keeps failing is told in the end", async () => {
  const methods: [string, boolean][] = [
    ["Page.navigate", false],
    ["Page.reload", false],
    ["Target.createTarget", false],
    ["Input.insertText", false],
    ["Page.navigateToHistoryEntry", true],
    ["Runtime.evaluate", true],
  ]
  for (const [method, isRepeated] of methods) {
    const hub = new Hub({ log: silentLog, patience: 60_000 })
    const first = extension(hub)
    const answer = hub.command({ session: "T1", method, params: {} })
    first.leave()
    const second = extension(hub)
    if (!isRepeated) {
      await assert.rejects(answer, (error) => codeOf(error) === "browser-lost", method)
      assert.deepEqual(second.sent, [], method)
      continue
    }
    await new Promise((resolve) => setImmediate(resolve))
    second.say({ id: second.sent[0]?.id ?? 0, result: method })
    assert.equal(await answer, method)
  }
  const hub = new Hub({ log: silentLog, patience: 60_000 })
  let last = extension(hub)
  const answer = hub.command(read)
  for (let time = 0; time < 2; time += 1) {
    last.leave()
    last = extension(hub)
    await new Promise((resolve) => setImmediate(resolve))
    assert.equal(last.sent.length, 1)
  }
  last.leave()
  await assert.rejects(answer, { code: "browser-lost", hint: /look at the page/ })
})

/** What a client of the hub is told. */
function listen(hub: Hub): string[] {
  const told: string[] = []
  hub.listen({
    attached: ({ session }) => void told.push(`attached ${session}`),
    changed: ({ session, title, url }) => void told.push(`changed ${session} ${title} ${url}`),
    detached: ({ session }) => void told.push(`detached ${session}`),
    event: (_tab, child, method, params) =>
      void told.push(`${child ?? ""} ${method.split(".")[1]} ${String(params["sessionId"] ?? "")}`.trim()),
    hasOn: () => false,
  })
  return told
}

test("tells clients of frames and scripts once, and keeps of them what there is still", () => {
  const hub = new Hub({ log: silentLog })
  const { say } = extension(hub)
  const told = listen(hub)
  const known = hub.bySession("T1")
  const event = (method: string, params: Record<string, unknown>, child?: string) =>
    say({ session: "T1", ...(child === undefined ? {} : { child }), method, params })
  const context = (id: number, uniqueId: string) => ({ context: { id, uniqueId } })
  for (const _again of [1, 2]) event("Target.attachedToTarget", { sessionId: "F1" })
  event("Target.attachedToTarget", { sessionId: "F2" }, "F1")
  assert.deepEqual(told.splice(0), ["attachedToTarget F1", "F1 attachedToTarget F2"])
  assert.deepEqual(
    [...(known?.children.values() ?? [])].map(({ parent }) => parent),
    [undefined, "F1"],
  )
  for (const _again of [1, 2]) event("Runtime.executionContextCreated", context(1, "a"))
  event("Runtime.executionContextCreated", context(1, "b"))
  event("Runtime.executionContextCreated", context(2, "c"))
  event("Runtime.executionContextCreated", context(1, "d"), "F2")
  assert.equal(told.splice(0).length, 4, "told again, it is another")
  const contexts = (child = "") => [...(known?.contexts.get(child)?.values() ?? [])].map((each) => each["uniqueId"])
  assert.deepEqual([contexts(), contexts("F2")], [["b", "c"], ["d"]])
  event("Runtime.executionContextDestroyed", { executionContextId: 1 })
  assert.deepEqual(contexts(), ["c"])
  event("Runtime.executionContextsCleared", {})
  assert.deepEqual([contexts(), contexts("F2")], [[], ["d"]])
  for (const _again of [1, 2]) event("Target.detachedFromTarget", { sessionId: "F2" }, "F1")
  assert.deepEqual([contexts("F2"), [...(known?.children.keys() ?? [])]], [[], ["F1"]])
  assert.equal(told.filter((each) => each === "F1 detachedFromTarget F2").length, 1)
  say({ session: "nobody", method: "Page.loadEventFired", params: {} })
  assert.equal(told.at(-1), "F1 detachedFromTarget F2")
})

test("after an absence tells what has changed meanwhile, and of another browser's tabs and pairings nothing stays", () => {
  const hub = new Hub({ log: silentLog })
  const first = extension(hub)
  const child = (id: string) => ({ session: "T1", child: id, params: { sessionId: id } })
  first.say({ type: "tabs", tabs: [tab], children: [child("F1"), child("F2")] })
  const told = listen(hub)
  first.say({ type: "tabs", tabs: [{ ...tab, title: "New" }], children: [child("F2"), child("F3")] })
  assert.deepEqual(told.splice(0), [
    "changed T1 New https://a.example/",
    "detachedFromTarget F1",
    "attachedToTarget F3",
  ])
  first.say({ type: "changed", tab: { ...tab, title: "Newer", url: "https://b.example/" } })
  first.say({ type: "changed", tab: { ...tab, session: "T9" } })
  first.say({ type: "detached", session: "T9", reason: "" })
  assert.deepEqual(told.splice(0), ["changed T1 Newer https://b.example/"])
  // Before its list comes, it is another's browser already.
  hub.connect({ instance: "another", userAgent: "", version: "1", send: () => undefined })
  assert.deepEqual([hub.tabs, hub.link, told.splice(0)], [[], undefined, ["detached T1"]])
  first.say({ type: "attached", tab })
  assert.deepEqual(hub.tabs, [], "the one before has nothing to say any more")
  const persons: string[] = []
  hub.onPersonTab(({ session }) => persons.push(session))
  const last = extension(hub, [tab, { ...tab, session: "T2", by: "agent" }])
  assert.deepEqual(persons, ["T1"])
  const cut = last.sent.length
  hub.forget()
  assert.deepEqual([hub.tabs, hub.link, cut], [[], undefined, 0])
  last.say({ type: "attached", tab })
  assert.deepEqual(hub.tabs, [])
})
