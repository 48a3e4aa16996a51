// What to run before every commit: format, lint, types and the unit tests of what has changed since they last passed.
// `npm run check -- --all` runs every unit test.
import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { hashesOf, Passed, unitTestsOf } from "./unit-tests.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// What one test file has compiled serves the others, and the next run.
const environment = { ...process.env, NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "tests") }
const bin = (name) => join(root, "node_modules", ".bin", name)

const words = process.argv.slice(2)
const unknown = words.find((word) => word !== "--all")
if (unknown !== undefined) {
  process.stderr.write(`${unknown}: not known here. npm run check [-- --all]\n`)
  process.exit(2)
}

const tests = unitTestsOf(root)
const hashes = hashesOf(root, tests)
const passed = new Passed(root)
const due = words.includes("--all") ? tests : tests.filter((test) => !passed.has(test, hashes.get(test)))

const steps = [
  ["format", bin("oxfmt"), ["--check", "."]],
  ["lint", bin("oxlint"), ["--deny-warnings"]],
  ["types", bin("tsc"), ["--noEmit"]],
  ["types of the page", bin("tsc"), ["-p", "dashboard"]],
  ["types of the emulator's page", bin("tsc"), ["-p", "emulator/page/client"]],
]
const testStep = [
  `${due.length} of ${tests.length} unit test files`,
  process.execPath,
  ["--test", "--test-concurrency=2", "--test-timeout=60000", "--test-reporter=dot", ...due],
]

function run([name, command, parameters]) {
  return new Promise((resolve) => {
    const started = performance.now()
    const child = spawn(command, parameters, { cwd: root, env: environment, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk))
    child.on("close", (code) =>
      resolve({ name, ok: code === 0, output, seconds: (performance.now() - started) / 1000 }),
    )
  })
}

function tell(result) {
  console.log(`${result.ok ? "ok  " : "FAIL"} ${result.name} (${result.seconds.toFixed(1)} s)`)
  if (!result.ok) console.log(result.output)
  return result.ok
}

// The first five are quick and compete little; the tests come after them, with the machine to themselves.
let ok = (await Promise.all(steps.map(run))).map(tell).every(Boolean)
if (due.length === 0) console.log("ok   unit tests: nothing that they are made of has changed since they passed")
else {
  const areGood = tell(await run(testStep))
  if (areGood) passed.keep(due.map((test) => [test, hashes.get(test)]))
  ok &&= areGood
}
process.exit(ok ? 0 : 1)
