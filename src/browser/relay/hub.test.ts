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
