import assert from "node:assert/strict"
import { test } from "node:test"
import type { QueueMode } from "../sessions/queue-choice.ts"
import { queuedBy } from "./queue.ts"

test("what waits is taken up after a pause, in the end without one; where none is set or the turn is broken off, at once", () => {
  const queued = (mode: QueueMode, debounceMs: number) => queuedBy("ada", { mode, debounceMs, cap: 3, drop: "old" })
  const rule = (mode: QueueMode) => ({ mode, cap: 3, drop: "old" })
  const hold = { key: "queue:ada", holdMs: 500, maxHoldMs: 5_000 }
  for (const mode of ["collect", "followup", "steer"] as const)
    assert.deepEqual(queued(mode, 500), { rule: rule(mode), hold })
  assert.deepEqual(queued("collect", 0), { rule: rule("collect") })
  assert.deepEqual(queued("interrupt", 500), { rule: rule("interrupt") })
})
