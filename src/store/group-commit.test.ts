// When nothing waits to be written: a store that is closed before that would lose what it has accepted.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { systemClock } from "../kernel/index.ts"
import { createGroupCommit } from "./group-commit.ts"
import { openSqlite } from "./sqlite.ts"

test("is idle once everything is committed: what waits, what came meanwhile, and what is held", async () => {
  const handle = openSqlite(join(temporaryFolder(), "svc.db"))
  handle.raw.exec("create table note (text text)")
  const commit = createGroupCommit({ handle, monotonic: systemClock.monotonic, onFailure: assert.ifError })
  const settled: string[] = []
  const note = (text: string) =>
    commit
      .write(async () => void handle.raw.prepare("insert into note values (?)").run(text))
      .then(() => settled.push(text))
  const first = commit.write(async () => {
    // Asked for within the transaction, it is written by the next one.
    void note("second")
    handle.raw.prepare("insert into note values ('first')").run()
  })
  void first.then(() => settled.push("first"))
  await commit.idle()
  const rows = handle.raw.prepare("select text from note order by rowid").all()
  assert.deepEqual(
    [rows.map(({ text }) => text), settled],
    [
      ["first", "second"],
      ["first", "second"],
    ],
  )

  let isHeld = true
  const { promise, resolve } = Promise.withResolvers<void>()
  const holding = commit.hold(async () => {
    await promise
    isHeld = false
  })
  const idle = commit.idle().then(() => isHeld)
  resolve()
  assert.equal(await idle, false)
  await holding
  await handle.db.destroy()
})
