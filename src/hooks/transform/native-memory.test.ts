// A file of its own, for a process of its own: what is measured is the size of the process, and what other threads give back
// in it would count for this one.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import pino from "pino"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemClock } from "../../kernel/index.ts"
import { createTransforms } from "./transforms.ts"

test("a transform begins anew when it keeps what no heap counts", async (context) => {
  const folder = temporaryFolder()
  writeFileSync(
    join(folder, "keep.mjs"),
    `import { DatabaseSync } from "node:sqlite"
     const kept = new DatabaseSync(":memory:")
     kept.exec("create table kept (x)")
     let n = 0
     export default () => {
       kept.exec("insert into kept values (zeroblob(1.5e8))")
       return { message: String(n += 1) }
     }`,
  )
  const log = pino({ level: "silent" })
  // Not of the time that a call takes on a busy machine.
  const transforms = createTransforms({ folder: () => folder, clock: systemClock, log, timeLimitMs: 60_000 })
  context.after(() => transforms.stop())
  const input = { payload: {}, headers: {}, url: "http://localhost/t", path: "t" }
  let kept = 0
  for (let isAnew = false; !isAnew;) {
    // One that the thread is ended in the middle of fails.
    const answer = await transforms.run({ module: "keep.mjs" }, input).catch(() => undefined)
    const count = Number(answer?.message ?? 0)
    isAnew = count <= kept
    kept = Math.max(kept, count)
    assert.ok(kept < 9, `it keeps ${kept} times 150 MB`)
  }
  assert.ok(kept > 0)
})
