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
