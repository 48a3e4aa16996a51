// The life of a managed browser: one start for many callers, crashes, freezes, what stands in the way of a start, a clean end.
import assert from "node:assert/strict"
import { mkdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { hostname } from "node:os"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { browsersOf } from "../../../test/support/left-browsers.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { until } from "../../../test/support/world.ts"
import { isLong } from "../../../test/support/long.ts"
import { isProcessAlive } from "../../kernel/process-alive.ts"
import type { BrowserConfig } from "../config.ts"

const stateFolder = temporaryFolder()
let hasLibrary = true
let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench({}, { stateFolder, hasAutomationLibrary: () => hasLibrary })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const status = async () => (await bench.call("GET", "/")).body
const lockOf = (folder: string) => readlink(join(folder, "browser", "managed", "user-data", "SingletonLock"))

/** Processes of the folder that live; a zombie waits for its parent and is none. */
function livingOf(folder: string): number[] {
  return browsersOf(folder).filter(isProcessAlive)
}

const nothingLives = () => (livingOf(stateFolder).length === 0 ? true : undefined)
const isNoticed = async () => ((await status()).running ? undefined : true)

async function startedPid(): Promise<number> {
  const { status: code, body } = await bench.call("POST", "/start")
  assert.equal(code, 200, JSON.stringify(body))
  return (await status()).pid
}

test("starts once for callers at the same time, and leaves nothing behind when it stops", async () => {
  const replies = await Promise.all([1, 2, 3].map(() => bench.call("POST", "/start")))
  assert.deepEqual(
    replies.map(({ status: code }) => code),
    [200, 200, 200],
  )
  assert.equal(bench.logLines.filter((line) => line.includes('"browser started"')).length, 1)
  const { running, cdpPort, pid } = await status()
  assert.deepEqual([running, cdpPort], [true, null])
  assert.deepEqual((await bench.call("POST", "/stop")).body, { ok: true, stopped: true, profile: "managed" })
  assert.equal(isProcessAlive(pid), false)
  await until("all its processes are gone", nothingLives)
  assert.equal((await bench.call("POST", "/stop")).body.stopped, false)
})

test("shows a window where somebody can see one, and none elsewhere, when nothing is set", async (t) => {
  const { DISPLAY: _x11, WAYLAND_DISPLAY: _wayland, ...environment } = process.env
  const screens = [{}, { DISPLAY: ":0" }, { WAYLAND_DISPLAY: "wayland-0" }]
  const found = []
  for (const screen of screens) {
    const other = await startBrowserBench({ headless: "auto" }, { environment: { ...environment, ...screen } })
    t.after(() => other.stop())
    found.push((await other.call("GET", "/")).body.headless)
  }
  assert.deepEqual(found, [true, false, false])
})

test("decides about the missing automation library before it starts anything", async (t) => {
  await bench.call("POST", "/stop")
  hasLibrary = false
  t.after(() => (hasLibrary = true))
  const replies = [
    await bench.call("POST", "/navigate", { url: "http://127.0.0.1:1/" }),
    await bench.call("GET", "/snapshot?format=ai"),
    await bench.call("POST", "/act", { kind: "press", key: "Enter" }),
  ]
  for (const { status: code, body } of replies) {
    assert.deepEqual([code, body.error.code], [501, "library-missing"])
    assert.match(body.error.message, /automation library is unavailable in this gateway build/)
    assert.match(body.error.hint, /full package.*core-only.*restart/)
  }
  assert.equal((await bench.call("GET", "/tabs")).body.running, false)
  assert.equal((await bench.call("POST", "/screenshot", {})).status, 200)
})

test("names a crashed tab, and heals it by navigating", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body
  for (const pid of livingOf(stateFolder)) {
    if ((await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("--type=renderer")) process.kill(pid, "SIGKILL")
  }
  let reply = await bench.call("GET", `/snapshot?targetId=${targetId}`)
  assert.deepEqual([reply.status, reply.body.error.code], [409, "tab-crashed"])
  reply = await bench.call("POST", "/navigate", { targetId, url: `${pages.url}/sent.html` })
  assert.equal(reply.body.title, "Sent", JSON.stringify(reply.body))
  assert.match((await bench.call("GET", `/snapshot?targetId=${targetId}`)).body.snapshot, /Thank you/)
})

test("notices a crash at once, says so, and starts again past the lock that is left", async () => {
  const pid = await startedPid()
  const pending = bench.call("POST", "/navigate", { url: `${pages.url}/hang` })
  await until("the page is asked for", () => pages.requests.some(({ url }) => url === "/hang") || undefined)
  process.kill(pid, "SIGKILL")
  const lost = await pending
  assert.deepEqual([lost.status, lost.body.error.code], [503, "browser-lost"])
  assert.match(lost.body.error.hint, /The next call starts it .*new snapshot/)
  await until("it is noticed", isNoticed)
  assert.match((await status()).lastError, /ended|pipe/)
  assert.equal(await lockOf(stateFolder), `${hostname()}-${pid}`)
  const again = await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
  assert.equal(again.body.title, "Sent")
  assert.equal(await lockOf(stateFolder), `${hostname()}-${(await status()).pid}`)
})

test("ends a browser of its own that froze, and the next action starts another under refs that mean nothing else", async () => {
  await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })
  const ref = await bench.refOf("Send form")
  const { pid } = await status()
  process.kill(-pid, "SIGSTOP")
  const lost = await bench.call("POST", "/act", { kind: "wait", text: "never", timeoutMs: 100_000 })
  assert.deepEqual([lost.status, lost.body.error.code], [503, "browser-lost"])
  assert.match(lost.body.error.hint, /The next call starts it .*new snapshot/)
  const { body } = await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })
  assert.equal(isProcessAlive(pid), false)
  await bench.refOf("Send form")
  const stale = await bench.call("POST", "/act", { kind: "click", ref, targetId: body.targetId })
  assert.deepEqual([stale.status, stale.body.error.code], [409, "stale-ref"])
})

test("ends a frozen browser when it is told to stop", async () => {
  const pid = await startedPid()
  process.kill(-pid, "SIGSTOP")
  assert.equal((await bench.call("POST", "/stop", {})).status, 200)
  assert.equal(isProcessAlive(pid), false)
  await until("all its processes are gone", nothingLives)
})

test("has one process at a time, however often it is started, stopped and killed", async () => {
  const counts: number[] = []
  const rounds = isLong ? 3 : 2
  for (let round = 0; round < rounds; round += 1) {
    const pid = await startedPid()
    const browsers: number[] = []
    for (const living of livingOf(stateFolder)) {
      const line = await readFile(`/proc/${living}/cmdline`, "utf8").catch(() => "--type=gone")
      if (!line.includes("--type=")) browsers.push(living)
    }
    assert.deepEqual(browsers, [pid])
    counts.push(browsers.length)
    if (round % 2 === 0) await bench.call("POST", "/stop", {})
    else process.kill(pid, "SIGKILL")
    await until("it is noticed", isNoticed)
  }
  assert.deepEqual(counts, Array<number>(rounds).fill(1))
  await until("all are gone", nothingLives)
})

test("does not start as root without leave to do without the sandbox, and says so at once", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root has this problem")
  const sandboxed = await startBrowserBench({ noSandbox: false })
  t.after(() => sandboxed.stop())
  const refused = await sandboxed.call("POST", "/start")
  assert.deepEqual([refused.status, refused.body.error.code], [503, "browser-start-failed"])
  assert.match(refused.body.error.hint, /browser\.noSandbox/)
})

test("leaves a lock of another host alone, unless our own record says that it was ours, and other programs their ports", async (t) => {
  const folder = temporaryFolder()
  const userData = join(folder, "browser", "managed", "user-data")
  await mkdir(userData, { recursive: true })
  await symlink("another-host-77", join(userData, "SingletonLock"))
  const squatters = await Promise.all(
    [18_800, 18_801].map(
      (port) =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"))
          // Taken already by some other program, which may leave again.
          server.once("error", () => resolve(server))
          server.listen({ host: "127.0.0.1", port }, () => resolve(server))
        }),
    ),
  )
  const profiles: BrowserConfig["profiles"] = { managed: { driver: "managed", cdpPort: 18_800 } }
  const moved = await startBrowserBench({ profiles }, { stateFolder: folder })
  t.after(async () => {
    await moved.stop()
    for (const server of squatters) server.close()
  })
  const refused = await moved.call("POST", "/start")
  assert.deepEqual([refused.status, refused.body.error.code], [503, "browser-start-failed"])
  assert.match(refused.body.error.message, /process 77 on host another-host/)
  assert.match(refused.body.error.hint, /host is gone, remove .*SingletonLock$/)
  const record = {
    pid: 77,
    door: { port: 18_800, webSocketUrl: "ws://127.0.0.1:18800/devtools/browser/x" },
    host: "another-host",
    headless: true,
    path: "/usr/bin/x",
  }
  await writeFile(join(folder, "browser", "managed", "browser.json"), JSON.stringify(record))
  const started = await moved.call("POST", "/start")
  assert.equal(started.status, 200, JSON.stringify(started.body))
  const { cdpPort, pid } = (await moved.call("GET", "/")).body
  const held = squatters.filter((server) => server.listening).map((server) => (server.address() as AddressInfo).port)
  assert.ok(cdpPort >= 18_800 && !held.includes(cdpPort), `${cdpPort} was held: ${held}`)
  assert.equal(await lockOf(folder), `${hostname()}-${pid}`)
})

test("fails at once, with the browser's own last words, when it does not come up", async (t) => {
  const folder = temporaryFolder()
  const program = join(folder, "broken-browser")
  await writeFile(program, "#!/bin/sh\necho 'something is missing' >&2\nexit 7\n", { mode: 0o755 })
  const broken = await startBrowserBench({ executablePath: program }, { stateFolder: folder, startTimeoutMs: 8_000 })
  t.after(() => broken.stop())
  const { status: code, body } = await broken.call("POST", "/start")
  assert.equal(code, 503)
  assert.match(body.error.message, /exit code 7.*something is missing/)
  assert.match((await broken.call("GET", "/")).body.lastError, /exit code 7/)
  // One that hangs, and does better the second time.
  const hangs = `[ -e ${folder}/tried ] && exec chromium "$@"\ntouch ${folder}/tried\necho 'no bus' >&2\nexec sleep 1000`
  await writeFile(program, `#!/bin/sh\n${hangs}\n`)
  const started = await broken.call("POST", "/start")
  assert.equal(started.status, 200, JSON.stringify(started.body))
  assert.match(broken.logLines.join(""), /browser did not answer within 8000 ms: no bus.*browser started once more/)
  await broken.call("POST", "/stop")
  // A file where the folder should be.
  await mkdir(join(folder, "browser", "managed"), { recursive: true })
  await rm(join(folder, "browser", "managed", "user-data"), { recursive: true, force: true })
  await writeFile(join(folder, "browser", "managed", "user-data"), "")
  const blocked = await broken.call("POST", "/start")
  assert.deepEqual([blocked.status, blocked.body.error.code], [503, "browser-start-failed"])
  assert.match(blocked.body.error.message, /folder of profile managed cannot be used: EEXIST/)
  assert.match(blocked.body.error.hint, new RegExp(`Look at ${join(folder, "browser", "managed")}: `))
})

test("says of each browser that does not come up what to do, and tries again only where that may help", async (t) => {
  const folder = temporaryFolder()
  const program = join(folder, "program")
  const tries = join(folder, "tries")
  const profiles: BrowserConfig["profiles"] = { port: { driver: "managed", cdpPort: 18_860 } }
  const settings = { executablePath: program, profiles }
  const bench = await startBrowserBench(settings, { stateFolder: folder, startTimeoutMs: 400 })
  t.after(() => bench.stop())
  const lines = Array.from({ length: 7 }, (_, at) => `line ${at}`)
  const taken = "echo 'Cannot start http server for devtools.' >&2; exec sleep 1000"
  for (const [profile, first, body, tried, message, hint] of [
    [
      "managed",
      "#!/bin/sh",
      "echo 'No usable sandbox!' >&2; exit 1",
      1,
      /exit code 1.*usable sandbox/,
      /noSandbox to true/,
    ],
    ["managed", "#!/bin/sh", "kill -9 $$", 1, /ended at once \(SIGKILL\)$/, /by hand with the same arguments/],
    [
      "managed",
      "#!/bin/sh",
      `printf '${lines.join("\\n")}' >&2; exit 2`,
      1,
      /: line 2 \| line 3 \| .*line 6$/,
      /by hand/,
    ],
    ["managed", "#!/bin/sh", "exec sleep 1000", 2, /did not answer within 400 ms$/, /very busy needs another try/],
    ["managed", "#!/nowhere/at/all", "", 0, /could not be started: .*ENOENT/, /Check browser\.executablePath/],
    ["port", "#!/bin/sh", taken, 5, /its port is taken/, /try again/],
  ] as const) {
    await writeFile(program, `${first}\necho >> ${tries}\n${body}\n`, { mode: 0o755 })
    await writeFile(tries, "")
    const refused = await bench.call("POST", `/start?profile=${profile}`)
    assert.deepEqual([refused.status, refused.body.error.code], [503, "browser-start-failed"], body)
    assert.match(refused.body.error.message, message)
    assert.match(refused.body.error.hint, hint, body)
    assert.equal((await readFile(tries, "utf8")).length, tried, body)
  }
})
