import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"

const root = join(import.meta.dirname, "../..")

test("every promise of SECURITY.md names tests, and those that it names exist", () => {
  const document = readFileSync(join(root, "SECURITY.md"), "utf8")
  const rows = document.split("\n").filter((line) => line.startsWith("| **"))
  assert.ok(rows.length > 10)
  for (const row of rows) {
    const tests = row.match(/[\w/.-]+\.test\.ts/g) ?? []
    assert.ok(tests.length > 0, row)
    for (const path of tests) assert.ok(existsSync(join(root, path)), path)
  }
  for (const [, path] of document.matchAll(/\]\(([^)#:]+)\)/g)) assert.ok(existsSync(join(root, path as string)), path)
})
