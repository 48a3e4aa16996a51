import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import type { Core } from "./core.ts"
import { createPause } from "./pause.ts"

test("what the disk did not take has not happened: neither a pause nor its end", async (context) => {
  const store = await testStore(context)
  let wakes = 0
  const runner = () => ({ wake: () => (wakes += 1) }) as never
  const core = { store, log: silentLog, background: { run: (_name: string, work: () => Promise<void>) => void work() } }
  const pause = createPause(core as unknown as Core, { runner, senders: () => new Map() })
  const refused = (work: Promise<unknown>) => assert.rejects(work, { code: "storage-failed" })

  store.handle.raw.exec("pragma query_only = on")
  await refused(pause.begin("gateway"))
  assert.deepEqual([pause.state(), wakes], [undefined, 0])
  store.handle.raw.exec("pragma query_only = off")
  assert.equal(await pause.begin("gateway"), true)

  store.handle.raw.exec("pragma query_only = on")
  await refused(pause.end("gateway"))
  assert.deepEqual([pause.state()?.by, wakes], ["gateway", 1])
  store.handle.raw.exec("pragma query_only = off")
  assert.equal(await pause.end("gateway"), 0)
  assert.deepEqual([pause.state(), wakes], [undefined, 2])
})

test("who writes while a pause is on its way to the disk is told of it", async (context) => {
  const store = await testStore(context)
  const told: Promise<void>[] = []
  const background = { run: (_name: string, work: () => Promise<void>) => void told.push(work()) }
  const route = { channel: "chatapp", account: "main", chatId: "7", chatKind: "private" }
  const outbox = { laneKey: "7", channel: "chatapp", account: "main", chatId: "7", route, kind: "text", payload: {} }
  const sender = { plan: (_route: unknown, { text }: { text: string }) => [{ ...outbox, payload: { text } }] }
  const pause = createPause({ store, log: silentLog, background } as unknown as Core, {
    runner: () => ({ wake: () => undefined }) as never,
    senders: () => new Map([["chatapp", sender]]) as never,
  })
  // Both share a commit: the message is told of as added before the pause has resolved.
  const begun = pause.begin("gateway")
  const payload = { purpose: "chat", origin: "owner", route }
  const entry = { source: "chatapp", account: "main", deliveryId: "1", payload: {} }
  await store.ingest({ ...entry, jobs: [{ runId: "r", kind: "turn", laneKey: "7", payload }] })
  await begun
  await Promise.all(told)
  const rows = store.handle.prepare("select payload from outbox").all() as { payload: string }[]
  assert.deepEqual(
    rows.map((row) => (JSON.parse(row.payload) as { text: string }).text),
    ["I am paused. Your message is kept and waits. Go on with /resume."],
  )
})
