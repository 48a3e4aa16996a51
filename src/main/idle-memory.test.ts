import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../test/support/store.ts"
import { watchIdleMemory } from "./idle-memory.ts"

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
