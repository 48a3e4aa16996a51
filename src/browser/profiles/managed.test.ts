// The life of a managed browser: one start for many callers, crashes, what earlier runs left behind, a clean end.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdir, readdir, readFile, readlink, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { hostname } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { startBrowserBench } from "../../../test/support/browser-service.ts"
import { startPagesServer } from "../../../test/support/pages-server.ts"
import { isProcessAlive } from "./process-info.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"

/** A state folder, and what is done at the end of the test, the last first. */
function temporaryState(t: { after(work: () => Promise<void>): void }) {
  const stateFolder = temporaryFolder()
  const put: (() => unknown)[] = []
  t.after(async () => {
    for (const work of put.reverse()) await work()
  })
  return { stateFolder, atEnd: (work: () => unknown) => void put.push(work) }
}

/** Processes of the profile below the state folder. */
async function processesOf(stateFolder: string): Promise<number[]> {
  const found: number[] = []
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue
    const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "")
    if (line.includes(stateFolder) && (await isProcessAlive(Number(name)))) found.push(Number(name))
  }
  return found
}

function runScript(script: string): Promise<{ signal: string | null; output: string; errors: string }> {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", script], { cwd: import.meta.dirname })
  let output = ""
  let errors = ""
  child.stdout.on("data", (data) => (output += data))
  child.stderr.on("data", (data) => (errors += data))
  return new Promise((resolve) => child.on("close", (_code, signal) => resolve({ signal, output, errors })))
}

async function until(holds: () => Promise<boolean>, ms: number): Promise<number> {
  const startedAt = performance.now()
  while (!(await holds())) {
    if (performance.now() - startedAt > ms) throw new Error(`not so within ${ms} ms`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return performance.now() - startedAt
}

test("starts once for callers at the same time, and leaves nothing behind when it stops", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const bench = await startBrowserBench({}, { stateFolder })
  atEnd(() => bench.stop())
  const replies = await Promise.all([1, 2, 3].map(() => bench.call("POST", "/start")))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
  )
  assert.equal(bench.logLines.filter((line) => line.includes('"browser started"')).length, 1)
  const { body } = await bench.call("GET", "/")
  assert.ok(body.running && body.cdpPort >= 18_800 && body.cdpPort <= 18_899)
  assert.deepEqual((await bench.call("POST", "/stop")).body, { ok: true, stopped: true, profile: "managed" })
  assert.equal(await isProcessAlive(body.pid), false)
  await until(async () => (await processesOf(stateFolder)).length === 0, 2_000)
  assert.equal((await bench.call("POST", "/stop")).body.stopped, false)
})

test("notices a crash at once, says so, and starts again with the next action", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  const bench = await startBrowserBench({}, { stateFolder })
  atEnd(async () => {
    await bench.stop()
    await pages.stop()
  })
  await bench.call("POST", "/start")
  const { pid } = (await bench.call("GET", "/")).body
  const pending = bench.call("POST", "/navigate", { url: `${pages.url}/hang` })
  await until(async () => pages.requests.some(({ url }) => url === "/hang"), 5_000)
  process.kill(pid, "SIGKILL")
  const lost = await pending
  assert.deepEqual([lost.status, lost.body.error.code], [503, "browser-lost"])
  await until(async () => !(await bench.call("GET", "/")).body.running, 1_000)
  const again = await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
  assert.equal(again.body.title, "Sent")
  await bench.call("POST", "/stop")
  await until(async () => (await processesOf(stateFolder)).length === 0, 3_000)
})

test("names a crashed tab, and heals it by navigating", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  const bench = await startBrowserBench({}, { stateFolder })
  atEnd(async () => {
    await bench.stop()
    await pages.stop()
  })
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/sent.html` })).body
  const renderers: number[] = []
  for (const pid of await processesOf(stateFolder)) {
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8")
    if (line.includes("--type=renderer")) renderers.push(pid)
  }
  for (const pid of renderers) process.kill(pid, "SIGKILL")
  let reply = await bench.call("GET", `/snapshot?targetId=${targetId}&timeoutMs=3000`)
  assert.deepEqual([reply.status, reply.body.error.code], [409, "tab-crashed"])
  reply = await bench.call("POST", "/navigate", { targetId, url: `${pages.url}/sent.html` })
  assert.equal(reply.body.title, "Sent", JSON.stringify(reply.body))
  assert.match((await bench.call("GET", `/snapshot?targetId=${targetId}`)).body.snapshot, /Thank you/)
})

test("takes up the browser that a killed gateway left, with its tabs, under refs that mean nothing else", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  atEnd(() => pages.stop())
  const script = `
    import { startBrowserBench } from ${JSON.stringify(join(import.meta.dirname, "../../../test/support/browser-service.ts"))}
    const bench = await startBrowserBench({}, { stateFolder: ${JSON.stringify(stateFolder)} })
    await bench.call("POST", "/tabs/open", { url: ${JSON.stringify(`${pages.url}/forms.html`)} })
    console.log(JSON.stringify([(await bench.call("GET", "/")).body.pid, await bench.refOf("Send form")]))
    process.kill(process.pid, "SIGKILL")`
  const killed = await runScript(script)
  assert.equal(killed.signal, "SIGKILL", killed.errors)
  const [pid, oldRef] = JSON.parse(killed.output) as [number, string]
  const bench = await startBrowserBench({}, { stateFolder })
  atEnd(() => bench.stop())
  assert.equal(await isProcessAlive(pid), true)
  await until(async () => (await bench.call("GET", "/")).body.pid === pid, 5_000)
  const { tabs } = (await bench.call("GET", "/tabs")).body
  const { targetId } = tabs.find((tab: { url: string }) => tab.url.endsWith("/forms.html"))
  await bench.refOf("Send form", `?targetId=${targetId}`)
  const stale = await bench.call("POST", "/act", { kind: "click", targetId, ref: oldRef })
  assert.equal(stale.body.error.code, "ref-not-found")
  await bench.call("POST", "/stop")
  await until(async () => (await processesOf(stateFolder)).length === 0, 3_000)
})

test("ends a left browser that no longer answers, and starts a new one", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const first = await startBrowserBench({}, { stateFolder })
  await first.call("POST", "/start")
  const { pid } = (await first.call("GET", "/")).body
  process.kill(pid, "SIGSTOP")
  const second = await startBrowserBench({}, { stateFolder })
  atEnd(async () => {
    await second.stop()
    await first.stop()
  })
  const started = await second.call("POST", "/start")
  assert.equal(started.status, 200, JSON.stringify(started.body))
  assert.notEqual((await second.call("GET", "/")).body.pid, pid)
  assert.equal(await isProcessAlive(pid), false)
})

test("closes at its end the browser that a killed gateway left, used or not", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const first = await startBrowserBench({}, { stateFolder })
  atEnd(() => first.stop())
  await first.call("POST", "/start")
  const second = await startBrowserBench({}, { stateFolder })
  await second.stop()
  await until(async () => (await processesOf(stateFolder)).length === 0, 3_000)
})

test("does not start as root without leave to do without the sandbox, and says so at once", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("only root has this problem")
  const { stateFolder, atEnd } = temporaryState(t)
  const bench = await startBrowserBench({ noSandbox: false }, { stateFolder })
  atEnd(() => bench.stop())
  const refused = await bench.call("POST", "/start")
  assert.deepEqual([refused.status, refused.body.error.code], [503, "browser-start-failed"])
  assert.match(refused.body.error.hint, /browser\.noSandbox/)
})

test("gets past a stale lock, a zombie's and another program on its port", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const folder = join(stateFolder, "browser", "managed", "user-data")
  await mkdir(folder, { recursive: true })
  await symlink(`${hostname()}-4194000`, join(folder, "SingletonLock"))
  const squatters = await Promise.all(
    [18_800, 18_801].map(
      (port) =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"))
          // Taken already by some other program: then it squats for us.
          server.once("error", () => resolve(server))
          server.listen({ host: "127.0.0.1", port }, () => resolve(server))
        }),
    ),
  )
  const bench = await startBrowserBench({}, { stateFolder })
  atEnd(async () => {
    await bench.stop()
    for (const server of squatters) server.close()
  })
  const started = await bench.call("POST", "/start")
  assert.equal(started.status, 200, JSON.stringify(started.body))
  const { cdpPort, pid } = (await bench.call("GET", "/")).body
  assert.ok(cdpPort > 18_801)
  assert.equal(await readlink(join(folder, "SingletonLock")), `${hostname()}-${pid}`)
})

test("leaves a lock of another host alone, unless our own record says that it was ours", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const folder = join(stateFolder, "browser", "managed", "user-data")
  await mkdir(folder, { recursive: true })
  await symlink("another-host-77", join(folder, "SingletonLock"))
  const bench = await startBrowserBench({}, { stateFolder })
  atEnd(() => bench.stop())
  const refused = await bench.call("POST", "/start")
  assert.deepEqual([refused.status, refused.body.error.code], [503, "browser-start-failed"])
  assert.match(refused.body.error.message, /process 77 on host another-host/)
  const record = {
    pid: 77,
    port: 18_800,
    webSocketUrl: "ws://127.0.0.1:18800/devtools/browser/x",
    host: "another-host",
    headless: true,
    path: "/usr/bin/x",
  }
  await writeFile(join(stateFolder, "browser", "managed", "browser.json"), JSON.stringify(record))
  assert.equal((await bench.call("POST", "/start")).status, 200)
})

test("fails at once, with the browser's own last words, when it does not come up", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const program = join(stateFolder, "broken-browser")
  await writeFile(program, "#!/bin/sh\necho 'something is missing' >&2\nexit 7\n", { mode: 0o755 })
  const bench = await startBrowserBench({ executablePath: program }, { stateFolder })
  atEnd(() => bench.stop())
  const startedAt = performance.now()
  const { status, body } = await bench.call("POST", "/start")
  assert.equal(status, 503)
  assert.match(body.error.message, /exit code 7.*something is missing/)
  assert.ok(performance.now() - startedAt < 10_000, "long before a start is given up")
  assert.match((await bench.call("GET", "/")).body.lastError, /exit code 7/)
})

test("decides about the missing automation library before it starts anything", async (t) => {
  const { stateFolder, atEnd } = temporaryState(t)
  const bench = await startBrowserBench({}, { stateFolder, hasAutomationLibrary: () => false })
  atEnd(() => bench.stop())
  const replies = [
    await bench.call("POST", "/navigate", { url: "http://127.0.0.1:1/" }),
    await bench.call("GET", "/snapshot"),
    await bench.call("POST", "/act", { kind: "press", key: "Enter" }),
  ]
  for (const { status, body } of replies) {
    assert.deepEqual([status, body.error.code], [501, "library-missing"])
    assert.match(body.error.message, /automation library is unavailable in this gateway build/)
    assert.match(body.error.hint, /full package.*core-only.*restart/)
  }
  assert.equal((await bench.call("GET", "/tabs")).body.running, false)
  assert.equal((await bench.call("POST", "/screenshot", {})).status, 200)
})
