import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { createBackground, systemClock } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import type { Delivery } from "./delivery.ts"
import { createRecorder } from "./recorder.ts"

function refused(mapping: string) {
  const delivery: Delivery = {
    receivedAt: 0,
    beganAt: 0,
    mapping,
    path: mapping,
    method: "POST",
    headers: {},
    query: {},
    body: Buffer.alloc(0),
    payload: null,
    proof: { kind: "token" },
  }
  return { delivery, verdict: "refused" as const, status: 401, runIds: [], answer: null, tookMs: 0 }
}

test("a row that the disk did not take lends its number to nobody, and is written by the next refusal", async (context) => {
  const store = await testStore(context)
  const background = createBackground(silentLog)
  let fails = true
  const write: Store["write"] = (work) =>
    store.write(async (transaction) => {
      const result = await work(transaction)
      if (fails) throw new Error("the disk is gone")
      return result
    })
  const failing = { accepting: () => true, write } as Store
  const recorder = createRecorder({ store: failing, clock: systemClock, log: silentLog, background })
  const counts = () =>
    store.handle.raw
      .prepare("select mapping, times from hook_delivery order by id")
      .all()
      .map((row) => ({ ...row }))

  recorder.keepStranger(refused("strange"), "127.0.0.1")
  await background.idle()
  assert.deepEqual(counts(), [])
  fails = false
  recorder.keep(refused("proven"))
  await background.idle()
  for (let time = 0; time < 2; time += 1) recorder.keepStranger(refused("strange"), "127.0.0.1")
  await background.idle()
  fails = true
  await assert.rejects(() => recorder.stop(), /disk is gone/)
  fails = false
  await recorder.stop()
  assert.deepEqual(counts(), [
    { mapping: "proven", times: 1 },
    { mapping: "strange", times: 3 },
  ])
})
