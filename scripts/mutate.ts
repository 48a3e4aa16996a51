// Changes the code at random places, one at a time, and looks whether a test notices: npm run mutate -- src/store
// What is not noticed is printed with its place; with --write the score stands in docs/testing.md.
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { parseArgs } from "node:util"
import { writeSection } from "../bench/document.ts"
import { readHarmless } from "./mutate/harmless.ts"
import { relateTests } from "./mutate/related-tests.ts"
import { TestRunner } from "./mutate/run-test.ts"
import { type Mutation, apply, findMutations } from "./mutate/sites.ts"

const root = join(import.meta.dirname, "..")
const usage = `npm run mutate -- <folder or file ...> [--count 40] [--seed 1] [--jobs 2] [--write]

  --count   changes to try in each folder given (default 40)
  --seed    the same seed tries the same changes while the code is the same (default 1)
  --jobs    changes tried at the same time (default 2)
  --ask     tests beside sources that are asked, at most (default 12)
  --write   puts the scores into docs/testing.md
`
const mostWholeMs = 60_000

type Verdict =
  | { kind: "noticed"; by: string }
  | { kind: "harmless"; why: string }
  | { kind: "unnoticed" }
  | { kind: "no test" }

function readWords() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        count: { type: "string" },
        seed: { type: "string" },
        jobs: { type: "string" },
        ask: { type: "string" },
        write: { type: "boolean" },
      },
    })
    const [count, seed, jobs] = [Number(values.count ?? 40), Number(values.seed ?? 1), Number(values.jobs ?? 2)]
    const ask = Number(values.ask ?? 12)
    if (positionals.length === 0 || !(count > 0) || !Number.isSafeInteger(seed) || !(jobs >= 1) || !(ask >= 1))
      throw new Error("what is to be changed?")
    return { count, seed, jobs, ask, write: values.write === true, places: positionals }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exit(2)
  }
}

function sourcesIn(place: string): string[] {
  const pattern = place.endsWith(".ts") ? place : `${place.replace(/\/+$/, "")}/**/*.ts`
  return globSync(pattern, { cwd: root })
    .filter((path) => !/\.(?:test|fixture)\.ts$|(?:migrations|test-bench)\//.test(path))
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

async function judge(mutation: Mutation, source: string): Promise<Verdict> {
  const why = harmlessOf(mutation, source)
  if (why !== undefined) return { kind: "harmless", why }
  const near = related.of(mutation.file)
  const senders = related.sendersOf(mutation.file)
  const seen = await runner.comingTo(mutation, near, senders)
  const units = seen.length > 0 ? seen.slice(0, ask).map(({ test }) => test) : unseen(mutation.file, near)
  for (const test of units) {
    if (await runner.notices(test, mutation)) return { kind: "noticed", by: test }
  }
  const whole = affordable(await runner.comingTo(mutation, related.whole, senders))
  for (const test of whole) {
    if (await runner.notices(test, mutation)) return { kind: "noticed", by: test }
  }
  return units.length + whole.length === 0 ? { kind: "no test" } : { kind: "unnoticed" }
}

/** Tests of the whole program take up to a minute each: so many of them as take a minute together, the first first. */
function affordable(tests: readonly { test: string; ms: number }[]): string[] {
  let left = mostWholeMs
  return tests.flatMap(({ test, ms }) => (ms > left ? [] : ((left -= ms), [test])))
}

/** A worker that is ended tells nobody where it has been, nor does a page. */
function unseen(file: string, near: readonly string[]): string[] {
  const page = "src/browser/page/"
  if (file.startsWith(`${page}inject/`)) return near.filter((test) => test.startsWith(page))
  return near.filter((test) => dirname(test) === dirname(file))
}

/** Some at a time; told in the order of the changes. */
async function judgeAll(
  mutations: readonly Mutation[],
  jobs: number,
  judgeOne: (mutation: Mutation) => Promise<Verdict>,
  told: (mutation: Mutation, verdict: Verdict, index: number) => void,
) {
  const verdicts = mutations.map(() => Promise.withResolvers<Verdict>())
  let next = 0
  const work = async () => {
    for (let at = next++; at < mutations.length; at = next++) {
      const mutation = mutations[at]
      if (mutation) await judgeOne(mutation).then(verdicts[at]?.resolve, verdicts[at]?.reject)
    }
  }
  const workers = Promise.all(Array.from({ length: jobs }, work))
  for (const [index, mutation] of mutations.entries()) {
    const verdict = await verdicts[index]?.promise
    if (verdict) told(mutation, verdict, index)
  }
  await workers
}

function wordOf(verdict: Verdict): string {
  if (verdict.kind === "noticed") return `noticed by ${verdict.by}`
  return verdict.kind === "harmless" ? `harmless: ${verdict.why}` : verdict.kind.toUpperCase()
}

/** With those of other folders that stand there already. */
function rowsWith(rows: ReadonlyMap<string, string>): string[] {
  const text = readFileSync(join(root, "docs/testing.md"), "utf8")
  const before = [...text.matchAll(/^\| `((?:src|cli|emulator)[\w./-]*)` +\|.*$/gm)]
  const all = new Map([...before.map(([row, place = ""]) => [place, row] as const), ...rows])
  return [...all.entries()].toSorted(([a], [b]) => a.localeCompare(b)).map(([, row]) => row)
}

function show(source: string, mutation: Mutation): string {
  const lineOf = (text: string) => text.split("\n")[mutation.line - 1]?.trim() ?? ""
  return `  ${mutation.file}:${mutation.line}  ${mutation.what}\n    - ${lineOf(source)}\n    + ${lineOf(apply(source, mutation))}\n`
}

const { count, seed, jobs, ask, write, places } = readWords()
const related = relateTests(root)
const runner = new TestRunner(root, jobs)
const harmlessOf = readHarmless(join(root, "scripts/mutate"))
const rows = new Map<string, string>()
for (const place of places) {
  const texts = new Map(sourcesIn(place).map((file) => [file, readFileSync(join(root, file), "utf8")]))
  const all = [...texts].flatMap(([file, text]) => findMutations(file, text))
  const chosen = choose(all, count, randomFrom(seed))
  if (chosen.length === 0) {
    process.stderr.write(`${place}: nothing to change there\n`)
    process.exit(2)
  }
  const counts = { noticed: 0, harmless: 0 }
  const textOf = (mutation: Mutation) => texts.get(mutation.file) ?? ""
  const judgeOne = (mutation: Mutation) => judge(mutation, textOf(mutation))
  await judgeAll(chosen, jobs, judgeOne, (mutation, verdict, index) => {
    const at = `${mutation.file}:${mutation.line}`
    process.stdout.write(`${place} ${index + 1}/${chosen.length} ${at} ${mutation.what}: ${wordOf(verdict)}\n`)
    if (verdict.kind === "noticed" || verdict.kind === "harmless") counts[verdict.kind] += 1
    else process.stdout.write(show(textOf(mutation), mutation))
  })
  const mattering = chosen.length - counts.harmless
  const score = Math.round((counts.noticed / Math.max(1, mattering)) * 100)
  process.stdout.write(`${place}: ${counts.noticed} of ${mattering} noticed (${score} of 100)\n`)
  const today = new Date().toISOString().slice(0, 10)
  const cells = [all.length, `${chosen.length} (seed ${seed})`, counts.harmless, counts.noticed, score, today]
  rows.set(place, `| \`${place}\` | ${cells.join(" | ")} |`)
}
if (write) {
  const head =
    "| folder | places to change | tried | harmless | noticed | of 100 that matter | measured |\n| --- | --- | --- | --- | --- | --- | --- |"
  writeSection("changes", [head, ...rowsWith(rows)].join("\n"), "testing.md")
}
