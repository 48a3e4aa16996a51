import assert from "node:assert/strict"
import { readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { writePrivateFile } from "./private-file.ts"

test("a private file is for its owner only, in a folder that is too, whoever could read it before", () => {
  const file = join(temporaryFolder(), "made", "token")
  assert.equal(writePrivateFile(file, "one"), true)
  assert.equal(statSync(join(file, "..")).mode & 0o777, 0o700)
  writeFileSync(join(file, "..", "other"), "open to all", { mode: 0o644 })
  assert.equal(writePrivateFile(join(file, "..", "other"), "two"), true)
  for (const name of ["token", "other"]) assert.equal(statSync(join(file, "..", name)).mode & 0o777, 0o600, name)
})

test("stays as it is where it is not to be replaced after all, and its writer is told", () => {
  const folder = temporaryFolder()
  const file = join(folder, "token")
  writePrivateFile(file, "one")
  assert.equal(
    writePrivateFile(file, "two", () => false),
    false,
  )
  assert.deepEqual([readFileSync(file, "utf8"), readdirSync(folder)], ["one", ["token"]])
})

test("what killed writers of the same file left is removed, what others write or have written is not", () => {
  const folder = temporaryFolder()
  const old = (Date.now() - 2 * 3_600_000) / 1000
  for (const [name, isOld] of [
    [".token.0123456789ab.tmp", true],
    [".token.ba9876543210.tmp", false],
    [".other.0123456789ab.tmp", true],
    [".token.notes", true],
  ] as const) {
    writeFileSync(join(folder, name), "x")
    if (isOld) utimesSync(join(folder, name), old, old)
  }
  writePrivateFile(join(folder, "token"), "one")
  assert.deepEqual(readdirSync(folder).toSorted(), [
    ".other.0123456789ab.tmp",
    ".token.ba9876543210.tmp",
    ".token.notes",
    "token",
  ])
})
