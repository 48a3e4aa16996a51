import assert from "node:assert/strict"
import { rmSync, writeFileSync } from "node:fs"
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { watchStateFolder } from "./folder-watch.ts"

test("says nothing of what goes after it was stopped, also in the middle of a look", async () => {
  const folder = temporaryFolder()
  const log = join(folder, "svc.db-wal")
  writeFileSync(log, "")
  const everyMs = 20
  let losses = 0
  const watch = watchStateFolder({ folder, onLost: () => (losses += 1), everyMs })
  // Timers of one length, begun together, run together: the look has begun, and has not come to the log.
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      watch.stop()
      rmSync(log)
      resolve()
    }, everyMs)
  })
  // A look asks for less than that.
  for (let asked = 0; asked < 100; asked += 1) await stat(folder)
  assert.equal(losses, 0)
})
