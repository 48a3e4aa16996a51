import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { openCore } from "./core.ts"
import { describeStartFailure } from "./start-failure.ts"

const spoiled: Record<string, { spoil: (folder: string) => void; words: RegExp }> = {
  "whose place a file takes": {
    spoil: (folder) => writeFileSync(folder, "x"),
    words: /^error: The folder [^\n]*state could not be made: EEXIST[^\n]*\nhint: [^\n]*SVC_STATE_DIR[^\n]*\n$/,
  },
  "whose store is a folder": {
    spoil: (folder) => mkdirSync(join(folder, "svc.db"), { recursive: true }),
    words: /^error: The store cannot be opened: [^\n]*svc\.db is a folder[^\n]*\nhint: Move it away[^\n]*\n$/,
  },
  "whose store is no database": {
    spoil(folder) {
      mkdirSync(folder)
      writeFileSync(join(folder, "svc.db"), Buffer.alloc(40_000, 0x5a))
    },
    words: /^error: Damaged: svc\.db \(file is not a database\)[^\n]*--new-store[^\n]*\n$/,
  },
  "whose lock holds something else": {
    spoil(folder) {
      mkdirSync(folder)
      writeFileSync(join(folder, "gateway.lock"), Buffer.alloc(3_000, 0x5a))
    },
    words: /^error: The lock [^\n]*gateway\.lock cannot be used[^\n]*\nhint: [^\n]*rm [^\n]*gateway\.lock\n$/,
  },
  "whose store was removed": {
    spoil(folder) {
      mkdirSync(folder)
      writeFileSync(join(folder, "store.json"), "{}")
    },
    words: /^error: The store is missing[^\n]*svc\.db[^\n]*\nhint: [^\n]*--new-store[^\n]*\n$/,
  },
}

for (const [what, { spoil, words }] of Object.entries(spoiled)) {
  test(`a state folder ${what} is told in two lines at most`, async () => {
    const stateDir = join(temporaryFolder(), "state")
    spoil(stateDir)
    const failure = await openCore({ stateDir, configPath: join(stateDir, "..", "svc.json"), quiet: true }).then(
      () => undefined,
      (error: unknown) => error,
    )
    assert.match(describeStartFailure(failure), words)
  })
}

test("a full disk is named, whoever met it first", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, mkdir '/x'"), { code: "ENOSPC" })
  const ofSqlite = Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 })
  for (const error of [full, ofSqlite])
    assert.match(describeStartFailure(error), /^error: No space left[^\n]*\nhint: Free some space[^\n]*\n$/)
})
