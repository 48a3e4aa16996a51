// Makes a fresh clone ready: packages, the pinned Node, the bundles, and (with --browser) a browser, (with --faketime) what sets clocks.
// Runs before every npm script, so it must be quick when there is nothing to do, and it must itself
// run on any Node from 20 on: it is what brings the newer one.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { explain } from "./set-up/explain.mjs"
import {
  aptEnvironment,
  findProgram,
  freeMb,
  isWritable,
  npmEnvironment,
  programFolders,
  temporaryFolderProblem,
} from "./set-up/machine.mjs"

const { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } = fs
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pinned = join(root, "scripts", "pinned-node")
const say = (line) => process.stderr.write(`setup: ${line}\n`)

function fail(line) {
  process.stderr.write(`setup: ${line}\n`)
  process.exit(1)
}

function run(command, parameters, options = {}) {
  const result = spawnSync(command, parameters, { cwd: root, stdio: ["ignore", "ignore", "inherit"], ...options })
  if (result.error?.code === "ETIMEDOUT") return false
  if (result.error) fail(`cannot run ${command}: ${result.error.message}`)
  return result.status === 0
}

/** Ends the set-up with what the failure of a file of the clone means. */
function failWith(error) {
  fail(explain(String(error.code), { folder: root, freeMb: freeMb(root) }) ?? error.message)
}

const oldestNode = 20
/** The lockfiles are of a form that came with npm 7. */
const oldestNpm = 7

function checkNode() {
  const major = Number(process.versions.node.split(".")[0])
  if (major >= oldestNode) return
  fail(
    `this is Node ${process.versions.node} (${process.execPath}); the set-up needs ${oldestNode} or newer: install Node 24`,
  )
}

function checkNpm(environment) {
  const asked = spawnSync("npm", ["--version"], { cwd: root, env: environment, encoding: "utf8" })
  if (asked.error?.code === "ENOENT") {
    fail("there is no npm on PATH: install it (it comes with Node; on Debian: sudo apt-get install npm)")
  }
  const major = Number(/^(\d+)\./.exec(asked.stdout ?? "")?.[1] ?? Number.NaN)
  if (major >= oldestNpm) return
  const version = (asked.stdout ?? "").trim()
  fail(
    version === ""
      ? `npm does not work: ${
          String(asked.stderr ?? asked.error)
            .trim()
            .split("\n")[0]
        }`
      : `npm ${version} is too old for the lockfile; npm ${oldestNpm} or newer is needed: npm install --global npm@10`,
  )
}

/** `npm ci`, only when the lockfile is not the one that the installed tree was made from. */
function installPackages(folder, what, extra = []) {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex")
  const stamp = join(folder, "node_modules", ".installed-lock")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return
  if (!isWritable(folder)) failWith({ code: "EACCES" })
  const environment = { ...process.env, ...npmEnvironment() }
  checkNpm(environment)
  say(`installing ${what} (npm ci --ignore-scripts)`)
  install(folder, extra, environment)
  try {
    mkdirSync(join(folder, "node_modules"), { recursive: true })
    writeFileSync(stamp, lock)
  } catch (error) {
    failWith(error)
  }
}

function install(folder, extra, environment) {
  const parameters = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...extra]
  const options = { cwd: folder, env: environment, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" }
  const result = spawnSync("npm", parameters, { ...options, maxBuffer: 64 * 1024 * 1024 })
  process.stderr.write(result.stderr ?? "")
  if (result.status === 0) return
  const { npm_config_https_proxy: ofNpm, HTTPS_PROXY, https_proxy: small, HTTP_PROXY } = environment
  const proxy = [ofNpm, HTTPS_PROXY, small, HTTP_PROXY].find((value) => value !== undefined && value !== "")
  const why = explain(`${result.stderr ?? ""} ${result.error?.code ?? ""}`, {
    folder: root,
    freeMb: freeMb(root),
    proxy,
  })
  fail(why ?? `npm ci failed in ${folder}; see the lines above`)
}

/** Puts a name on the path of every npm script and of `npx`. */
function link(name, target) {
  const path = join(root, "node_modules", ".bin", name)
  const there = lstatSync(path, { throwIfNoEntry: false })
  // A clone that somebody else has set up may be read only.
  if (there?.isSymbolicLink() && readlinkSync(path) === target) return
  try {
    mkdirSync(dirname(path), { recursive: true })
    if (there) rmSync(path)
    symlinkSync(target, path)
  } catch (error) {
    failWith(error)
  }
}

function installPinnedNode() {
  const binary = join(pinned, "node_modules", `node-linux-${process.arch}`, "bin", "node")
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
    const [major, minor] = process.versions.node.split(".").map(Number)
    if (major > 22 || (major === 22 && minor >= 18)) {
      link("node", process.execPath)
      return process.execPath
    }
    return fail(`Node ${process.versions.node} is too old and no pinned Node exists for this platform: install Node 24`)
  }
  installPackages(pinned, "the pinned Node")
  link("node", binary)
  return binary
}

/** The bundles are made anew only when a source is newer than the last build. */
function build(node) {
  const parameters = [join("scripts", "build.mjs"), "--if-changed"]
  const result = spawnSync(node, parameters, { cwd: root, stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" })
  if (result.error) fail(`cannot run ${node}: ${result.error.message}`)
  if (result.status !== 0) {
    const why = explain(result.stderr, { folder: root, freeMb: freeMb(root) })
    if (why === undefined) process.stderr.write(result.stderr)
    fail(why ?? "the build failed; see the lines above")
  }
  link("svc", join(root, "dist", "svc.cjs"))
}

// The names under which Debian, Ubuntu, Fedora and the vendors' own packages install a browser that speaks CDP.
const browserNames = [
  "google-chrome",
  "google-chrome-stable",
  "brave-browser",
  "brave",
  "microsoft-edge",
  "microsoft-edge-stable",
  "chromium",
  "chromium-browser",
  "google-chrome-beta",
  "google-chrome-unstable",
  "google-chrome-canary",
]

function findBrowser() {
  if (process.platform !== "linux") return true
  return findProgram(browserNames, programFolders("/usr/bin", "/snap/bin")) !== undefined
}

function ensureBrowser() {
  if (findBrowser()) return
  const advice = "install one, for example: sudo apt-get install chromium"
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    fail(`no browser that speaks CDP was found; ${advice}`)
  }
  say("no browser found: installing Debian's chromium (apt-get; this takes a minute)")
  const options = { env: aptEnvironment() }
  if (!run("apt-get", ["update", "-q"], options) || !run("apt-get", ["install", "-y", "-q", "chromium"], options)) {
    fail(`apt-get could not install chromium; ${advice}`)
  }
}

/** For the tests of the sandbox; without it these are skipped, which is no reason to end. */
function ensureBubblewrap() {
  if (process.platform !== "linux" || existsSync("/usr/bin/bwrap")) return
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    return say("bubblewrap not found: its tests will be skipped (sudo apt-get install bubblewrap)")
  }
  say("installing Debian's bubblewrap for the tests (apt-get)")
  const options = { env: aptEnvironment(), timeout: 120_000 }
  const install = () => run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "bubblewrap"], options)
  if (!install() && !(run("apt-get", ["update", "-q"], options) && install())) {
    say("apt-get could not install it: its tests will be skipped")
  }
}

/** For the tests of docs/guides/exposing; without them these are skipped, which is no reason to end. */
function ensureProxies() {
  const folders = programFolders("/usr/sbin", "/usr/bin")
  const lacks = (name) => findProgram([name], folders) === undefined
  const missing = ["caddy", "nginx"].filter(lacks)
  if (missing.length === 0) return
  // Where services are run by the system, installing one starts it: that is for the machine's owner to decide.
  const mayInstall = process.platform === "linux" && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")
  if (!mayInstall || existsSync("/run/systemd/system")) {
    return say(
      `${missing.join(" and ")} not found: their tests will be skipped (sudo apt-get install ${missing.join(" ")})`,
    )
  }
  say(`installing Debian's ${missing.join(" and ")} for the tests`)
  // Without a network it must not hold everything up: these tests can be skipped.
  const options = { env: aptEnvironment(), timeout: 120_000 }
  const isInstalled =
    run("apt-get", ["update", "-q"], options) &&
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...missing], options)
  if (!isInstalled) say("apt-get could not install them: their tests will be skipped")
}

/** Sets the clock of a test's own processes. Where it cannot be had, that test says so and is skipped. */
function ensureFaketime() {
  const isRoot = process.platform === "linux" && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")
  if (!isRoot || existsSync("/usr/bin/faketime")) return
  say("installing Debian's faketime (apt-get)")
  const options = { env: aptEnvironment(), timeout: 120_000 }
  if (!run("apt-get", ["install", "-y", "-q", "faketime"], options)) say("faketime could not be installed")
}

/** Its verifier and its manager for a user judge `svc service`. Where it runs the machine it is there already. */
function ensureSystemd() {
  const isRoot = process.platform === "linux" && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")
  if (!isRoot || existsSync("/lib/systemd/systemd")) return
  say("installing Debian's systemd for the tests (it is not started)")
  const options = { env: aptEnvironment(), timeout: 120_000 }
  const isInstalled =
    run("apt-get", ["update", "-q"], options) &&
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "systemd"], options)
  if (!isInstalled) say("systemd could not be installed: the tests of the service will be skipped")
}

checkNode()
const problem = temporaryFolderProblem()
if (problem !== undefined) fail(problem)
installPackages(root, "packages")
const node = installPinnedNode()
build(node)
if (process.argv.includes("--browser")) {
  ensureBrowser()
  ensureBubblewrap()
}
if (process.argv.includes("--faketime")) ensureFaketime()
if (process.argv.includes("--proxies")) ensureProxies()
if (process.argv.includes("--systemd")) ensureSystemd()
