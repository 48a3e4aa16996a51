import assert from "node:assert/strict"
import { test } from "node:test"
import { setTimeout as nextTurn } from "node:timers/promises"
import { getHeapSpaceStatistics } from "node:v8"
import { silentLog } from "../../test/support/store.ts"
import { watchIdleMemory } from "./idle-memory.ts"

const young = () => getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0

test("keeps the room for young objects at a quarter of what V8 takes", async (context) => {
  const watch = watchIdleMemory({ log: silentLog, everyMs: 1 })
  context.after(() => watch.stop())
  let kept: object[] = []
  for (let round = 0; round < 60; round += 1) {
    for (let n = 0; n < 15_000; n += 1) kept.push({ some: Array.from({ length: 20 }, () => n) })
    if (round % 4 === 0) kept = []
    await nextTurn()
  }
  assert.ok(young() <= 64 * 1024 * 1024, `${young() / 1024 ** 2} MB`)
})

test("collects what a load has left when it is over, twice, and not again until there was another", async (context) => {
  let garbage: object[] | undefined = Array.from({ length: 200_000 }, (_, n) => ({ n }))
  const left = new WeakRef(garbage)
  // As the looks find the loop: quiet after the start for long, a load, quiet again.
  const looks = [...Array.from({ length: 30 }, () => 0.01), 0.8, ...Array.from({ length: 30 }, () => 0.01)]
  const collectedAt: number[] = []
  let look = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  const watch = watchIdleMemory({
    log: silentLog,
    everyMs: 5,
    utilization() {
      if (look === looks.length) resolve()
      return looks[look++] ?? 0.01
    },
    onCollected: () => collectedAt.push(look),
  })
  context.after(() => watch.stop())
  garbage = undefined
  await promise
  assert.equal(left.deref(), undefined)
  assert.equal(collectedAt.length, 4)
  assert.equal(collectedAt.filter((at) => at <= 31).length, 2, "a quiet process is left alone")
  assert.equal(typeof (globalThis as { gc?: unknown }).gc, "undefined")
})
