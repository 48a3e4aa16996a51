// Makes a fresh clone ready: packages, the pinned Node, the bundles, and (with --browser) a browser, (with --faketime) what sets clocks.
// Runs before every npm script, so it must be quick when there is nothing to do, and it must itself
// run on any Node from 20 on: it is what brings the newer one.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const pinned = join(root, "scripts", "pinned-node")
const say = (line) => process.stderr.write(`setup: ${line}\n`)

function fail(line) {
  process.stderr.write(`setup: ${line}\n`)
  process.exit(1)
}

function run(command, parameters, options = {}) {
  const result = spawnSync(command, parameters, { cwd: root, stdio: ["ignore", "ignore", "inherit"], ...options })
  if (result.error) fail(`cannot run ${command}: ${result.error.message}`)
  return result.status === 0
}

/** `npm ci`, only when the lockfile is not the one that the installed tree was made from. */
function installPackages(folder, what, extra = []) {
  const lock = createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex")
  const stamp = join(folder, "node_modules", ".installed-lock")
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return
  say(`installing ${what} (npm ci --ignore-scripts)`)
  const arguments_ = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...extra]
  if (!run("npm", arguments_, { cwd: folder })) fail(`npm ci failed in ${folder}; see the lines above`)
  mkdirSync(join(folder, "node_modules"), { recursive: true })
  writeFileSync(stamp, lock)
}

/** Puts a name on the path of every npm script and of `npx`. */
function link(name, target) {
  const path = join(root, "node_modules", ".bin", name)
  mkdirSync(dirname(path), { recursive: true })
  if (lstatSync(path, { throwIfNoEntry: false })) rmSync(path)
  symlinkSync(target, path)
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
  if (!run(node, [join("scripts", "build.mjs"), "--if-changed"])) fail("the build failed; see the lines above")
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
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/snap/bin"].filter(Boolean)
  return folders.some((folder) =>
    browserNames.some((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile()),
  )
}

function ensureBrowser() {
  if (findBrowser()) return
  const advice = "install one, for example: sudo apt-get install chromium"
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    fail(`no browser that speaks CDP was found; ${advice}`)
  }
  say("no browser found: installing Debian's chromium (apt-get; this takes a minute)")
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } }
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
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, timeout: 120_000 }
  const install = () => run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "bubblewrap"], options)
  if (!install() && !(run("apt-get", ["update", "-q"], options) && install())) {
    say("apt-get could not install it: its tests will be skipped")
  }
}

/** For the tests of docs/guides/exposing; without them these are skipped, which is no reason to end. */
function ensureProxies() {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/bin"].filter(Boolean)
  const lacks = (name) => !folders.some((folder) => existsSync(join(folder, name)))
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
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, timeout: 120_000 }
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
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, timeout: 120_000 }
  if (!run("apt-get", ["install", "-y", "-q", "faketime"], options)) say("faketime could not be installed")
}

/** Its verifier and its manager for a user judge `svc service`. Where it runs the machine it is there already. */
function ensureSystemd() {
  const isRoot = process.platform === "linux" && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")
  if (!isRoot || existsSync("/lib/systemd/systemd")) return
  say("installing Debian's systemd for the tests (it is not started)")
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, timeout: 120_000 }
  const isInstalled =
    run("apt-get", ["update", "-q"], options) &&
    run("apt-get", ["install", "-y", "-q", "--no-install-recommends", "systemd"], options)
  if (!isInstalled) say("systemd could not be installed: the tests of the service will be skipped")
}

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
