import assert from "node:assert/strict"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { createPageFiles } from "./files.ts"

test("files whose name changes with what they hold are kept for good, others are asked about each time", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "page-files-"))
  context.after(() => rmSync(folder, { recursive: true }))
  for (const name of ["index.html", "main-ABCD2345.js", "main-short.js"]) writeFileSync(join(folder, name), "text")
  const files = createPageFiles(() => folder)
  const kept = (name: string) => files.serve(name, {})?.headers.get("cache-control")
  assert.equal(kept("main-ABCD2345.js"), "public, max-age=31536000, immutable")
  assert.equal(kept("index.html"), "no-cache")
  assert.equal(kept(""), "no-cache")
  assert.equal(kept("main-short.js"), "no-cache")
  const etag = files.serve("index.html", {})?.headers.get("etag") ?? ""
  assert.equal(files.serve("index.html", { "if-none-match": `"other", W/${etag}` })?.status, 304)
  assert.equal(files.serve("../index.html", {}), undefined)
})
