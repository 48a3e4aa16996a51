// The rule that no regular expression may take longer than in proportion to its text, and what is allowed all the same.
import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { allowed } from "./allowed-patterns.mjs"
import { slowness } from "./slow-pattern.mjs"

const root = fileURLToPath(new URL("../..", import.meta.url))

const slow = [
  "^(a+)+$",
  "(a|aa)+$",
  "(a*)*b",
  "^\\s+|\\s+$",
  "<[^>]*>",
  "[*`~_]+$",
  "\\b[a-z][a-z0-9+.-]*:\\/\\/",
  "\\d+:",
  "^(.*),(.*)$",
  "(?:x+x+)+y",
  "\\[.*?\\]\\(.*?\\)",
  "(?=.*x)y",
  "(?:\\w+\\s?)+!",
  "^(?:a|b|ab)*c",
  "^(['\"])(.*)\\1$",
]
for (const pattern of slow) {
  test(`finds ${pattern} slow`, () => assert.ok(slowness(pattern, "")))
}

const quick = [
  "^a+$",
  "<[^<>]*>",
  "(?<!\\d)\\d{6,}:[a-z]{30,}",
  "\\b\\d{6,}:",
  "(:\\/\\/)[^\\s/]+@",
  "^\\w+-\\d+$",
  "a.{0,80}b",
]
quick.push("\\s+", "(?:ab)+", "^\\[([^\\]]*)\\]", "^(?:a+,)*$", "(?:a|b)+", "x*", "^#+\\s*", "(?:^|\\n)a", "[^]*")
for (const pattern of quick) {
  test(`finds ${pattern} quick`, () => assert.equal(slowness(pattern, ""), undefined))
}

test("takes a sticky pattern for one that begins where it is told", () => {
  assert.ok(slowness("a+b", "g"))
  assert.equal(slowness("a+b", "y"), undefined)
})

test("sees a pattern however it is made", () => {
  const ways = [
    "/(a+)+$/",
    'new RegExp("(a+)+$")',
    'RegExp("(a+)+$")',
    "new globalThis.RegExp(text)",
    "RegExp(`${text}+$`)",
    'text.match("(a+)+$")',
    "text.search(`${text}+$`)",
    '[...text.matchAll("(a+)+$")]',
  ]
  const folder = temporaryFolder()
  const config = { jsPlugins: [join(import.meta.dirname, "plugin.mjs")], rules: { "svc/linear-pattern": "error" } }
  writeFileSync(join(folder, "rules.json"), JSON.stringify(config))
  writeFileSync(
    join(folder, "ways.ts"),
    ways.map((way, index) => `export const make${index} = (text: string) => ${way}\n`).join(""),
  )
  const { stdout } = spawnSync(
    process.execPath,
    ["node_modules/oxlint/dist/cli.js", "--format=unix", "-c", join(folder, "rules.json"), folder],
    { cwd: root },
  )
  const seen = String(stdout)
    .split("\n")
    .flatMap((line) => (line.includes("linear-pattern") ? [Number(/ways\.ts:(\d+)/.exec(line)?.[1])] : []))
  assert.deepEqual(
    ways.filter((_, index) => !seen.includes(index + 1)),
    [],
  )
})

test("no source has a slow pattern but those that are allowed, each with its reason, and none is allowed in vain", () => {
  const result = spawnSync(process.execPath, ["node_modules/oxlint/dist/cli.js", "--format=unix", "src"], { cwd: root })
  const lines = String(result.stdout)
    .split("\n")
    .filter((line) => line.includes("linear-pattern"))
  assert.deepEqual(lines, [])
  assert.equal(result.status, 0, String(result.stdout).slice(0, 2_000) + String(result.stderr))
  for (const { file, pattern, why } of allowed) {
    assert.ok(why.length > 20, file)
    // The formatter may have broken the line before or behind it.
    assert.ok(readFileSync(`${root}${file}`, "utf8").includes(pattern), `${file} has no ${pattern} any more`)
  }
})
