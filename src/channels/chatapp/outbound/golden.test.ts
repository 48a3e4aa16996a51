// Sixty answers as models write them, beside what becomes of them. A missing golden file is written and fails once, so
// that somebody looks at it.
import assert from "node:assert/strict"
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { describe, test } from "node:test"
import { checkCut, html } from "./oracle.fixture.ts"

const folder = new URL("../../../../test/fixtures/rendering/", import.meta.url)
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".md"))
  .map((name) => name.slice(0, -3))

/** Small enough that most answers are cut. */
const cutAt = 120

describe("an answer", () => {
  test("of every sort has its golden file", () => assert.equal(names.length, 60))

  for (const name of names) {
    test(`like ${name} is shown as its golden file says`, () => {
      const markdown = readFileSync(new URL(`${name}.md`, folder), "utf8")
      for (const limit of [cutAt, 4000])
        for (const mode of ["length", "newline"] as const) checkCut(markdown, limit, { mode })
      const golden = new URL(`${name}.html`, folder)
      const shown = `${html(markdown).join("\n=====\n")}\n===== cut at ${cutAt}\n${html(markdown, cutAt).join("\n=====\n")}\n`
      if (!existsSync(golden)) {
        writeFileSync(golden, shown)
        assert.fail(`${name}.html was written: look at it`)
      }
      assert.equal(shown, readFileSync(golden, "utf8"))
    })
  }
})
