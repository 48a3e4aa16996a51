// Changes the code at random places, one at a time, and looks whether a test notices: npm run mutate -- src/store
// What is not noticed is printed with its place; with --write the score stands in docs/testing.md.
import { spawn } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { writeSection } from "../bench/document.ts"
import { relateTests } from "./mutate/related-tests.ts"
import { type Mutation, apply, findMutations } from "./mutate/sites.ts"

const root = join(import.meta.dirname, "..")
const usage = `npm run mutate -- <folder or file ...> [--count 40] [--seed 1] [--write]

  --count   changes to try in each folder given (default 40)
  --seed    the same seed tries the same changes while the code is the same (default 1)
  --write   puts the scores into docs/testing.md
`
/** A test that does not end any more has noticed; those that end take a fraction of it. */
const testMs = 60_000

type Verdict = { kind: "noticed"; by: string } | { kind: "unnoticed" } | { kind: "no test" }

function readWords() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { count: { type: "string" }, seed: { type: "string" }, write: { type: "boolean" } },
    })
    const [count, seed] = [Number(values.count ?? 40), Number(values.seed ?? 1)]
    if (positionals.length === 0 || !(count > 0) || !Number.isSafeInteger(seed))
      throw new Error("what is to be changed?")
    return { count, seed, write: values.write === true, places: positionals }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exit(2)
  }
}

function sourcesIn(place: string): string[] {
  const pattern = place.endsWith(".ts") ? place : `${place.replace(/\/+$/, "")}/**/*.ts`
  return globSync(pattern, { cwd: root })
    .filter((path) => !/\.(?:test|fixture)\.ts$/.test(path) && !path.includes("migrations/"))
    .toSorted()
}

/** mulberry32: the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function choose(all: Mutation[], count: number, random: () => number): Mutation[] {
  const left = [...all]
  const chosen: Mutation[] = []
  while (chosen.length < count && left.length > 0) chosen.push(...left.splice(Math.floor(random() * left.length), 1))
  return chosen
}

/** Whether the test fails with this change in the file; without one, whether it fails at all. */
function fails(test: string, mutation: Mutation | undefined): Promise<boolean> {
  const hook = join(root, "scripts/mutate/load-changed.mjs")
  const change = mutation && { ...mutation, file: join(root, mutation.file) }
  const flags = [
    "--test",
    "--test-reporter=dot",
    "--import=./test/support/watchdog.ts",
    ...(change ? [`--import=${hook}`] : []),
  ]
  const environment = { ...process.env, ...(change ? { SVC_MUTATION: JSON.stringify(change) } : {}) }
  const child = spawn(process.execPath, [...flags, test], { cwd: root, env: environment, stdio: "ignore" })
  const timer = setTimeout(() => child.kill("SIGKILL"), testMs)
  return new Promise((resolve) => {
    child.on("close", (code) => {
      clearTimeout(timer)
      resolve(code !== 0)
    })
  })
}

const broken = new Map<string, boolean>()
/** A test that fails without a change tells nothing. */
async function isSound(test: string): Promise<boolean> {
  const known = broken.get(test)
  if (known !== undefined) return !known
  const isBroken = await fails(test, undefined)
  if (isBroken) process.stderr.write(`${test} fails without any change; it is left out\n`)
  broken.set(test, isBroken)
  return !isBroken
}

async function judge(mutation: Mutation, tests: readonly string[]): Promise<Verdict> {
  let asked = 0
  for (const test of tests) {
    if (!(await isSound(test))) continue
    asked += 1
    if (await fails(test, mutation)) return { kind: "noticed", by: test }
  }
  return asked === 0 ? { kind: "no test" } : { kind: "unnoticed" }
}

function show(source: string, mutation: Mutation): string {
  const lineOf = (text: string) => text.split("\n")[mutation.line - 1]?.trim() ?? ""
  return `  ${mutation.file}:${mutation.line}  ${mutation.what}\n    - ${lineOf(source)}\n    + ${lineOf(apply(source, mutation))}\n`
}

const { count, seed, write, places } = readWords()
const related = relateTests(root)
const rows: string[] = []
for (const place of places) {
  const texts = new Map(sourcesIn(place).map((file) => [file, readFileSync(join(root, file), "utf8")]))
  const all = [...texts].flatMap(([file, text]) => findMutations(file, text))
  const chosen = choose(all, count, randomFrom(seed))
  if (chosen.length === 0) {
    process.stderr.write(`${place}: nothing to change there\n`)
    process.exit(2)
  }
  let noticed = 0
  for (const [index, mutation] of chosen.entries()) {
    const verdict = await judge(mutation, related.of(mutation.file))
    if (verdict.kind === "noticed") noticed += 1
    const word = verdict.kind === "noticed" ? `noticed by ${verdict.by}` : verdict.kind.toUpperCase()
    process.stdout.write(
      `${place} ${index + 1}/${chosen.length} ${mutation.file}:${mutation.line} ${mutation.what}: ${word}\n`,
    )
    if (verdict.kind !== "noticed") process.stdout.write(show(texts.get(mutation.file) ?? "", mutation))
  }
  const score = Math.round((noticed / chosen.length) * 100)
  process.stdout.write(`${place}: ${noticed} of ${chosen.length} noticed (${score} of 100)\n`)
  rows.push(`| \`${place}\` | ${all.length} | ${chosen.length} (seed ${seed}) | ${noticed} | ${score} |`)
}
if (write) {
  const head = "| folder | places to change | tried | noticed | of 100 |\n| --- | --- | --- | --- | --- |"
  writeSection("changes", `${head}\n${rows.join("\n")}`, "testing.md")
}
