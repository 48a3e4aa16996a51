import assert from "node:assert/strict"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import { makeFolder } from "./make-folder.ts"

const folder = mkdtempSync(join(tmpdir(), "svc-make-folder-"))
after(() => rmSync(folder, { recursive: true, force: true }))

test("makes a folder with those above it, for this user alone, and leaves one that is there", () => {
  const path = join(folder, "a", "b", "c")
  makeFolder(path)
  makeFolder(path)
  assert.equal(statSync(path).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, "a")).mode & 0o777, 0o700)
})

test("says which folder cannot be made where a file is in its way", () => {
  writeFileSync(join(folder, "file"), "")
  for (const path of [join(folder, "file"), join(folder, "file", "below")]) {
    assert.throws(() => makeFolder(path), { code: "storage-failed", message: new RegExp(`${path} could not be made`) })
  }
})

test("ends where the system makes no folders", { skip: process.platform !== "linux" }, () => {
  assert.throws(() => makeFolder("/proc/svc-state/below"), { code: "storage-failed" })
})
