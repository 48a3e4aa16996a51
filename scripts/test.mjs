// Runs every test, or those whose path contains one of the words given: `npm test -- store pairing`.
// The last thing printed are the closing lines of the test runner.
import { spawnSync } from "node:child_process"
import { globSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { batchTests } from "./test-batches.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const words = process.argv.slice(2)
const folders = ["src", "cli", "emulator", "extension", "dashboard", "test", "scripts"]
const files = globSync(
  folders.map((folder) => `${folder}/**/*.test.ts`),
  { cwd: root },
)
  .filter((path) => !path.includes("node_modules") && (words.length === 0 || words.some((word) => path.includes(word))))
  .toSorted()
if (files.length === 0) {
  process.stderr.write(`no test file matches: ${words.join(" ")}\n`)
  process.exit(1)
}
// Whoever runs some of them looks for something: then each has a process of its own.
const batches = words.length > 0 ? { files, remove: () => undefined } : batchTests(root, files)
// Five at once on the two cores that this is meant for: many tests wait for a limit or a page for much of their time.
// --test-force-exit is left out on purpose: a test that leaves something running must be seen.
const options = [
  // Much of what a test file makes at its start stays: with little room V8 copies it again and again, a twentieth of a run.
  "--min-semi-space-size=16",
  "--test",
  "--test-concurrency=5",
  "--test-timeout=60000",
  "--test-reporter=spec",
  "--import=./test/support/watchdog.ts",
  ...batches.files,
]
// Every test file is a process that loads much of the source: what one has compiled serves the others.
const environment = { ...process.env, NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "tests") }
const result = spawnSync(process.execPath, options, { cwd: root, env: environment, stdio: "inherit" })
batches.remove()
process.exit(result.status ?? 1)
