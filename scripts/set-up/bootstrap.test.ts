// The set-up script in the surroundings that machines have: each ends well, or with a line that says what to do.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { type TestContext, test } from "node:test"
import { aptEnvironment } from "./machine.mjs"
import { temporaryFolder } from "../../test/support/temporary.ts"

const scripts = join(import.meta.dirname, "..")
const pinnedName = `node-linux-${process.arch}`
/** Root may do everything: the surroundings are those of the user that has no rights. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const isOnLinux = process.platform === "linux"

interface Clone {
  folder: string
  bin: string
}

/** A clone with its set-up done, as small as it can be; `npm` stands in its own folder of programs. */
function makeClone({ isSetUp = true, npm = "exit 1" } = {}): Clone {
  const folder = join(temporaryFolder(), "clone")
  const bin = join(folder, "..", "bin")
  mkdirSync(join(folder, "scripts"), { recursive: true })
  mkdirSync(bin)
  copyFileSync(join(scripts, "bootstrap.mjs"), join(folder, "scripts", "bootstrap.mjs"))
  cpSync(import.meta.dirname, join(folder, "scripts", "set-up"), { recursive: true })
  writeFileSync(join(folder, "scripts", "build.mjs"), "")
  for (const place of [folder, join(folder, "scripts", "pinned-node")]) {
    mkdirSync(join(place, "node_modules", ".bin"), { recursive: true })
    writeFileSync(join(place, "package-lock.json"), "{}")
    const lock = createHash("sha256").update("{}").digest("hex")
    if (isSetUp) writeFileSync(join(place, "node_modules", ".installed-lock"), lock)
  }
  const pinned = join(folder, "scripts", "pinned-node", "node_modules", pinnedName, "bin")
  mkdirSync(pinned, { recursive: true })
  program(pinned, "node", `exec ${process.execPath} "$@"`)
  program(bin, "npm", npm)
  program(bin, "chromium", "exit 0")
  for (const place of [join(folder, ".."), folder]) chmodSync(place, 0o755)
  return { folder, bin }
}

function program(folder: string, name: string, body: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
}

/** An npm that knows its version, and then does this. */
function npmThat(body: string): string {
  return `if [ "$1" = --version ]; then echo 10.9.0; exit 0; fi\n${body}`
}

function bootstrap(clone: Clone, words: string[] = [], environment: NodeJS.ProcessEnv = {}, user = {}) {
  const PATH = [clone.bin, "/usr/bin", "/bin"].join(delimiter)
  const result = spawnSync(process.execPath, [join(clone.folder, "scripts", "bootstrap.mjs"), ...words], {
    cwd: clone.folder,
    env: { PATH, HOME: clone.folder, ...environment },
    encoding: "utf8",
    timeout: 20_000,
    ...user,
  })
  return { code: result.status, stderr: result.stderr }
}

/** False where another user cannot even start this Node. */
function canBeNobody(context: TestContext): boolean {
  const { status } = spawnSync(process.execPath, ["--version"], { cwd: "/", ...nobody })
  if (status !== 0) context.skip("another user cannot start this Node")
  return status === 0
}

test("a folder on PATH that may not be read ends nothing", { skip: !isOnLinux }, (context) => {
  if (!canBeNobody(context)) return
  const clone = makeClone()
  assert.equal(bootstrap(clone).code, 0)
  const closed = join(clone.folder, "..", "closed")
  mkdirSync(closed, { mode: 0o000 })
  const PATH = [closed, join(clone.bin, "npm"), clone.bin].join(delimiter)
  assert.deepEqual(bootstrap(clone, ["--browser", "--proxies"], { PATH }, nobody).code, 0)
  rmSync(join(clone.bin, "chromium"))
  const without = bootstrap(clone, ["--browser"], { PATH: closed }, nobody)
  // A browser of the machine may be found in the usual places.
  assert.doesNotMatch(without.stderr, /EACCES|at .*\.mjs/)
  chmodSync(closed, 0o700)
})

test("a read-only clone that is set up works, and one that is not says what to do", { skip: !isOnLinux }, (context) => {
  if (!canBeNobody(context)) return
  const done = makeClone()
  assert.equal(bootstrap(done).code, 0)
  assert.deepEqual(bootstrap(done, [], {}, nobody), { code: 0, stderr: "" })
  const bare = makeClone({ isSetUp: false })
  const { code, stderr } = bootstrap(bare, [], {}, nobody)
  assert.equal(code, 1)
  assert.match(stderr, /^setup: \S+ cannot be written by this user: take a copy of your own .*npm run bootstrap\n$/)
})

test("without a home, or with one that cannot be written, npm gets a place that goes away", () => {
  const seen = '"$npm_config_cache" "$HOME" >> seen; touch "$npm_config_cache/x"'
  const clone = makeClone({ isSetUp: false, npm: npmThat(`printf '%s|%s\\n' ${seen}`) })
  for (const HOME of [undefined, join(clone.folder, "no", "home")]) {
    assert.deepEqual(bootstrap(clone, [], { HOME }).code, 0)
    for (const place of ["", "scripts/pinned-node"])
      rmSync(join(clone.folder, place, "node_modules", ".installed-lock"))
  }
  const lines = readFileSync(join(clone.folder, "seen"), "utf8").trim().split("\n")
  assert.equal(lines.length, 2)
  const cache = lines.at(-1)?.split("|")[0] ?? ""
  assert.ok(cache.includes("svc-npm-") && !existsSync(cache), cache)
})

test("what npm fails with is said in words, with the next step", () => {
  const failures = [
    { npm: npmThat('echo "npm error code ENOSPC" >&2; exit 228'), says: /the disk is full .*700 MB/ },
    { npm: npmThat('echo "npm error code ECONNREFUSED" >&2; exit 1'), says: /behind a proxy: export HTTPS_PROXY=/ },
    {
      npm: npmThat('echo "npm error code ECONNRESET" >&2; exit 1'),
      environment: { HTTPS_PROXY: "http://me:secret-word@proxy.test:3128" },
      says: /through the proxy http:\/\/\*\*\*@proxy\.test:3128: is it right/,
    },
    { npm: npmThat('echo "npm error code SELF_SIGNED_CERT_IN_CHAIN" >&2; exit 1'), says: /NODE_EXTRA_CA_CERTS/ },
    {
      npm: npmThat('echo "npm error strange" >&2; exit 1'),
      says: /npm error strange[^]*npm ci failed in .*see the lines above/,
    },
    { npm: 'echo "6.14.4"', says: /npm 6\.14\.4 is too old for the lockfile.*npm install --global npm@10/ },
    { npm: 'echo "cannot find module x" >&2; exit 1', says: /npm does not work: cannot find module x/ },
  ]
  for (const { npm, says, environment } of failures) {
    const { code, stderr } = bootstrap(makeClone({ isSetUp: false, npm }), [], environment)
    assert.equal(code, 1)
    assert.match(stderr, says)
    assert.doesNotMatch(stderr, /secret-word|at .*\.mjs/)
  }
  const without = makeClone({ isSetUp: false })
  rmSync(join(without.bin, "npm"))
  const { stderr } = bootstrap(without, [], { PATH: without.bin })
  assert.match(stderr, /there is no npm on PATH: install it/)
  const nowhere = bootstrap(makeClone(), [], { TMPDIR: "/proc/nowhere" })
  assert.deepEqual([nowhere.code, /set TMPDIR to one that can/.test(nowhere.stderr)], [1, true])
})

test(
  "a disk that is full ends with a line, not with a stack",
  { skip: !isOnLinux || process.getuid?.() !== 0 },
  (context) => {
    const clone = makeClone({ npm: npmThat("exit 0") })
    const small = join(clone.folder, "..", "small")
    mkdirSync(small)
    // A real full disk: a file system of a few pages, in a name space of its own.
    const fill = `mount -t tmpfs -o size=256k none ${small} && cp -r ${clone.folder}/. ${small}/ &&
    rm ${small}/node_modules/.installed-lock && (cat /dev/zero > ${small}/filler; true) &&
    exec ${process.execPath} ${small}/scripts/bootstrap.mjs`
    const options = { encoding: "utf8", env: { PATH: `${clone.bin}:/usr/bin:/bin`, HOME: clone.folder } } as const
    const { status, stderr } = spawnSync("unshare", ["-m", "sh", "-c", fill], options)
    if (/unshare|mount/.test(stderr)) return context.skip("no file system may be mounted here")
    assert.equal(status, 1)
    assert.match(stderr, /setup: the disk is full \(0 MB are free\)/)
  },
)

test("apt-get gets the proxy in the letters that it reads", () => {
  assert.equal(aptEnvironment({ HTTPS_PROXY: "http://p:1" })["https_proxy"], "http://p:1")
  assert.equal(aptEnvironment({ HTTPS_PROXY: "http://p:1", https_proxy: "http://q:2" })["https_proxy"], "http://q:2")
})
