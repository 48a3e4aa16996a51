import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import { type Clock, systemClock } from "../kernel/index.ts"
import { claimJobs, isJoinOpen, nextDue, takeJoined } from "./jobs.ts"
import type { Store } from "./store.ts"

function settableClock(): Clock & { time: number } {
  const clock = { ...systemClock, time: 1_000_000, now: () => clock.time }
  return clock
}

async function add(store: Store, runId: string, key?: string, laneKey = "lane"): Promise<void> {
  const join = key === undefined ? undefined : { key, holdMs: 500, maxHoldMs: 2_000 }
  await store.write(async (write) => {
    write.addJob({ runId, laneKey, kind: "turn", payload: { said: runId }, ...(join ? { join } : {}) })
  })
}

const stateOf = (store: Store, runId: string) =>
  store.handle.prepare("select state, head, result from job where run_id = ?").get(runId) as {
    state: string
    head: number
    result: string | null
  }

describe("jobs that are joined", () => {
  test("wait for each other, each part anew, but not beyond the longest wait", async (context) => {
    const clock = settableClock()
    const store = await testStore(context, { clock })
    await add(store, "one", "album")
    assert.equal(nextDue(store), 1_000_500)
    for (let part = 0; part < 4; part += 1) {
      clock.time += 400
      await add(store, `more-${part}`, "album")
    }
    assert.equal(nextDue(store), 1_002_000, "the first came at 1,000,000 and waits 2,000 at most")
    assert.deepEqual(await claimJobs(store, 4), [])
    clock.time = 1_002_000
    assert.deepEqual(
      (await claimJobs(store, 4)).map((job) => job.run_id),
      ["one"],
    )
  })

  test("become part of the first, which stays the head of its lane", async (context) => {
    const clock = settableClock()
    const store = await testStore(context, { clock })
    await add(store, "one", "album")
    await add(store, "two", "album")
    await add(store, "other")
    await add(store, "three", "album")
    await add(store, "elsewhere", "album", "another lane")
    assert.equal(isJoinOpen(store, "album"), true)
    clock.time += 500
    const [first] = (await claimJobs(store, 4)).filter((job) => job.lane_key === "lane")
    assert.ok(first)
    const parts = await store.write(async (write) =>
      takeJoined(store, write, first, { adjacent: false, limit: 60 }).map((job) => job.run_id),
    )
    assert.deepEqual(parts, ["two", "three"])
    assert.deepEqual(
      { ...stateOf(store, "two") },
      { state: "done", head: 0, result: JSON.stringify({ joined: first.run_id }) },
    )
    assert.equal(stateOf(store, "one").head, 1)
    assert.equal(stateOf(store, "other").head, 0, "one job of a lane at a time")
  })

  test("are taken only up to a job of another key when order matters", async (context) => {
    const clock = settableClock()
    const store = await testStore(context, { clock })
    await add(store, "one", "burst")
    await add(store, "two", "burst")
    await add(store, "other")
    await add(store, "three", "burst")
    clock.time += 500
    const [first] = await claimJobs(store, 4)
    assert.ok(first)
    const parts = await store.write(async (write) => takeJoined(store, write, first, { adjacent: true, limit: 60 }))
    assert.deepEqual(
      parts.map((job) => job.run_id),
      ["two"],
    )
    assert.equal(stateOf(store, "three").state, "ready")
  })
})
