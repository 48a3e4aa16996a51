// One test file in a process of its own: whether it fails with a change, and which places it comes to without one.
import { createHash } from "node:crypto"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { hashesOf } from "../unit-tests.mjs"
import { inPages } from "./related-tests.ts"
import type { Mutation } from "./sites.ts"

/** What a test did without any change. Intervals are of characters of the source, the end left out. */
interface Sound {
  failed: boolean
  ms: number
  reached: Record<string, [number, number][]>
}

interface ScriptCoverage {
  url: string
  functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[]
}

const startsPrograms = /^(?:test|cli)\//
const programs = ["test/support/gateway-process.ts", "cli/main.ts"]
const soundMs = 120_000

export class TestRunner {
  readonly #root: string
  readonly #cache: string
  readonly #known = new Map<string, Promise<Sound>>()
  #places: number
  readonly #waiting: (() => void)[] = []

  /** `jobs`: how many tests run at a time. */
  constructor(root: string, jobs: number) {
    this.#root = root
    this.#places = jobs
    this.#cache = join(root, "node_modules/.cache/svc-mutate")
  }

  /**
   * Those of the tests that come to the place. First the one that bears the name of the file, then those that come to most
   * of it: what is about a file takes its branches too, while what only passes through keeps to the main way. Of what runs
   * in pages nothing is seen: there they come first that come to most of its `senders`.
   */
  async comingTo(
    mutation: Mutation,
    tests: readonly string[],
    senders: readonly string[],
  ): Promise<{ test: string; ms: number }[]> {
    const found: { test: string; first: number; ms: number }[] = []
    const sounds = await Promise.all(tests.map(async (test) => ({ test, ...(await this.#sound(test)) })))
    for (const { test, failed, ms, reached } of sounds) {
      // A test that fails without a change tells nothing.
      if (failed) continue
      const places = reached[mutation.file] ?? []
      const comes = places.some(([start, end]) => start <= mutation.start && mutation.start < end)
      const bears = test === mutation.file.replace(/\.ts$/, ".test.ts")
      const isInPages = inPages.test(mutation.file)
      const seen = isInPages ? senders.flatMap((file) => reached[file] ?? []) : places
      const first = bears ? Infinity : seen.reduce((sum, [start, end]) => sum + end - start, 0)
      if (isInPages ? first > 0 : comes) found.push({ test, first, ms })
    }
    return found.toSorted((a, b) => (a.first === b.first ? a.ms - b.ms : b.first - a.first))
  }

  /** One that does not end any more has noticed. */
  async notices(test: string, mutation: Mutation): Promise<boolean> {
    const { ms } = await this.#sound(test)
    const hook = join(this.#root, "scripts/mutate/load-changed.mjs")
    const change = JSON.stringify({ ...mutation, file: join(this.#root, mutation.file) })
    // By way of the environment the hook is in the gateways and programs too that the test starts.
    const environment = { SVC_MUTATION: change, NODE_OPTIONS: `--import=${hook}` }
    return (await this.#run(test, environment, 15_000 + 8 * ms)).failed
  }

  #sound(test: string): Promise<Sound> {
    const known = this.#known.get(test) ?? this.#look(test)
    this.#known.set(test, known)
    return known
  }

  async #look(test: string): Promise<Sound> {
    const file = join(this.#cache, `${hashOf(this.#root, test)}.json`)
    try {
      return JSON.parse(readFileSync(file, "utf8")) as Sound
    } catch {
      // Not looked at yet as it is now.
    }
    const folder = mkdtempSync(join(tmpdir(), "svc-mutate-"))
    try {
      const { failed, ms } = await this.#run(test, { NODE_V8_COVERAGE: folder }, soundMs)
      const sound = { failed, ms, reached: this.#reachedIn(folder) }
      if (failed) process.stderr.write(`${test} fails without any change; it is left out\n`)
      else keep(file, sound)
      return sound
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  #reachedIn(folder: string): Sound["reached"] {
    const marks = new Map<string, Uint8Array>()
    for (const name of readdirSync(folder)) {
      for (const script of readScripts(join(folder, name))) {
        const path = script.url.startsWith("file:") ? relative(this.#root, fileURLToPath(script.url)) : ""
        if (!/^(?:src|cli|emulator)\/.*\.ts$/.test(path)) continue
        const mark = marksOf(script)
        const before = marks.get(path)
        marks.set(path, before ? mark.map((each, at) => each | (before[at] ?? 0)) : mark)
      }
    }
    return Object.fromEntries([...marks].map(([path, mark]) => [path, intervalsOf(mark)]))
  }

  async #run(test: string, environment: Record<string, string>, ms: number): Promise<{ failed: boolean; ms: number }> {
    if (this.#places > 0) this.#places -= 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    const started = performance.now()
    try {
      const failed = await this.#fails(test, environment, ms)
      return { failed, ms: Math.round(performance.now() - started) }
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#places += 1
    }
  }

  #fails(test: string, environment: Record<string, string>, ms: number): Promise<boolean> {
    const all = ["--test-reporter=dot", "--import=./test/support/watchdog.ts", test]
    const compiled = join(this.#cache, "compiled")
    const env = { ...process.env, NODE_COMPILE_CACHE: compiled, SVC_TEST_FROM_SOURCES: "1", ...environment }
    const child = spawn(process.execPath, all, { cwd: this.#root, env, stdio: "ignore", detached: true })
    const timer = setTimeout(() => {
      // With what it started: a browser or a gateway would stay.
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
    }, ms)
    return new Promise((resolve) => {
      child.on("close", (code) => {
        clearTimeout(timer)
        resolve(code !== 0)
      })
    })
  }
}

/** Of all that the test may run. */
function hashOf(root: string, test: string): string {
  const hashes = hashesOf(root, startsPrograms.test(test) ? [test, ...programs] : [test])
  return createHash("sha256")
    .update([...hashes.values()].join(" "))
    .digest("hex")
}

function keep(file: string, sound: Sound): void {
  mkdirSync(dirname(file), { recursive: true })
  const own = `${file}.${process.pid}`
  writeFileSync(own, JSON.stringify(sound))
  renameSync(own, file)
}

/** A process that was killed while it wrote leaves half a file. */
function readScripts(path: string): ScriptCoverage[] {
  try {
    const { result } = JSON.parse(readFileSync(path, "utf8")) as { result?: ScriptCoverage[] }
    return result ?? []
  } catch {
    return []
  }
}

/** A one for each character that ran. Ranges come outer first, so that the innermost decides. */
function marksOf({ functions }: ScriptCoverage): Uint8Array {
  const ranges = functions.flatMap((each) => each.ranges)
  const mark = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)))
  for (const { startOffset, endOffset, count } of ranges) mark.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  return mark
}

function intervalsOf(mark: Uint8Array): [number, number][] {
  const found: [number, number][] = []
  for (let start = mark.indexOf(1); start >= 0;) {
    const zero = mark.indexOf(0, start)
    const end = zero < 0 ? mark.length : zero
    found.push([start, end])
    start = mark.indexOf(1, end)
  }
  return found
}
