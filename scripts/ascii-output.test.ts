import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import test from "node:test"
import { runInNewContext } from "node:vm"
import { type BuildOptions, build } from "esbuild"
import { temporaryFolder } from "../test/support/temporary.ts"
import { asciiOutput, escapeBeyondAscii } from "./ascii-output.ts"

const run = (program: string) => JSON.stringify(runInNewContext(program))

test("a program in ASCII does what it did: expressions, classes of characters, pairs, names, comments", () => {
  const program = `
    // ⟦ a comment – with 😀
    const größe = "já😀 ⟦".match(/[é-ü😀⟦]/gu)
    const first = "já😀".replace(/á|😀/u, (it) => it.length + "…")
    ;[größe, first, "x⟧".search(/[⟦⟧]/), \`a – \${größe.length}\`]`
  const escaped = escapeBeyondAscii(program, true)
  assert.match(escaped, /^[\n -~]*$/)
  assert.equal(run(escaped), run(program))
})

test("one that is in ASCII already stays as it is", () => {
  const program = "export const a = String.raw`\\u0041`"
  assert.equal(escapeBeyondAscii(program), program)
})

test("what reads its own raw text is refused rather than changed", () => {
  assert.throws(() => escapeBeyondAscii("export const a = String.raw`…`"), /a tagged template holds more than ASCII/)
})

test("a build writes in ASCII, and nothing where it is only to look", async () => {
  const outdir = join(temporaryFolder(), "out")
  const stdin = { contents: "export const a = 1 // @preserve …" }
  const options: BuildOptions = { stdin, outdir, format: "esm", plugins: [asciiOutput] }
  await build({ ...options, write: false })
  assert.equal(existsSync(outdir), false)
  await build(options)
  assert.match(readFileSync(join(outdir, "stdin.js"), "utf8"), /@preserve \\u2026/)
})
