// Runs what is built on the other Node.js releases that it must run on: the main road through the gateway, and calls of
// the chat platform that are given up. With --install it only gets these releases (npm packages, 100 MB each).
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, "scripts", "other-nodes")
/** A slow registry must not hold up the tests for ever. */
const installTimeoutMs = 60_000

function install() {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex")
  const stamp = join(folder, "node_modules", ".installed-lock")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return 0
  const parameters = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
  const stdio = ["ignore", "ignore", "inherit"]
  const result = spawnSync("npm", parameters, { cwd: folder, stdio, timeout: installTimeoutMs })
  if (result.status !== 0) return 1
  writeFileSync(stamp, lock)
  return 0
}

function test() {
  const options = ["--test", "--test-timeout=300000", "--test-reporter=spec", "test/e2e/other-nodes.test.ts"]
  const env = { ...process.env, SVC_LONG_TESTS: "1" }
  return spawnSync(process.execPath, options, { cwd: root, env, stdio: "inherit" }).status ?? 1
}

process.exit(process.argv.includes("--install") ? install() : install() || test())
