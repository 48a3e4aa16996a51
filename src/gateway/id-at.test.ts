import assert from "node:assert/strict"
import { test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import { idAt } from "./id-at.ts"

test("the first row at or after a moment is found, whatever gaps there are between ids", async (context) => {
  const store = await testStore(context)
  assert.equal(idAt(store, "job", 0), 1, "an empty table")
  await store.write(async ({ addJob, prepare }) => {
    for (let n = 1; n <= 9; n += 1) addJob({ runId: `run-${n}`, kind: "turn", laneKey: `lane-${n}`, payload: null })
    prepare("update job set created_at = id * 100").run()
    prepare("delete from job where id in (1, 4, 5)").run()
  })
  const found = [0, 200, 201, 300, 301, 600, 601, 900, 901].map((time) => idAt(store, "job", time))
  const first = (time: number) =>
    (store.handle.prepare("select min(id) as id from job where created_at >= ?").get(time) as { id: number | null }).id
  // Between rows any id of the gap will do: what is asked for next is a row at or behind it.
  const rowAt = (id: number) =>
    (store.handle.prepare("select min(id) as id from job where id >= ?").get(id) as { id: number | null }).id
  assert.deepEqual(found.map(rowAt), [0, 200, 201, 300, 301, 600, 601, 900, 901].map(first))
})
