// What to run before every commit: format, lint, types and the unit tests, under half a minute.
import { spawn } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// What one test file has compiled serves the others, and the next run.
const environment = { ...process.env, NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "tests") }
const bin = (name) => join(root, "node_modules", ".bin", name)

/** Unit tests start nothing: no program, browser, gateway, emulator or model server. `npm test` runs the others too. */
const starts =
  /child_process|test-bench|model-server|startEmulator|tdl|support\/(gateway|world|browser-service|pages-server|google)|fixture\.ts"/

function isUnitTest(path) {
  return !starts.test(readFileSync(join(root, path), "utf8"))
}
const unitTests = globSync(["src/**/*.test.ts", "cli/**/*.test.ts", "emulator/**/*.test.ts"], { cwd: root }).filter(
  (path) => !path.startsWith("src/browser/") && !path.includes("node_modules") && isUnitTest(path),
)

const steps = [
  ["format", bin("oxfmt"), ["--check", "."]],
  ["lint", bin("oxlint"), ["--deny-warnings"]],
  ["types", bin("tsc"), ["--noEmit"]],
  [
    "unit tests",
    process.execPath,
    ["--test", "--test-concurrency=2", "--test-timeout=60000", "--test-reporter=dot", ...unitTests],
  ],
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

let failed = false
// The first three are quick and compete little; the tests come after them, with the machine to themselves.
const groups = [steps.slice(0, 3), steps.slice(3)]
for (const group of groups) {
  for (const result of await Promise.all(group.map(run))) {
    console.log(`${result.ok ? "ok  " : "FAIL"} ${result.name} (${result.seconds.toFixed(1)} s)`)
    if (!result.ok) {
      console.log(result.output)
      failed = true
    }
  }
}
process.exit(failed ? 1 : 0)
