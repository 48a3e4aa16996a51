// What earlier gateways, people and crashes leave in a profile's folder and on its ports: taken up when it is ours and
// works, ended when it is ours and does not, left alone when it is not ours.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"
import { suite, test, type TestContext } from "node:test"
import { startBrowserBench } from "../../../test/support/browser-service.ts"
import { browsersOf } from "../../../test/support/left-browsers.ts"
import { startPagesServer } from "../../../test/support/pages-server.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { until } from "../../../test/support/world.ts"
import { isProcessAlive } from "../../kernel/process-alive.ts"
import type { BrowserConfig } from "../config.ts"
import { isLong } from "../../../test/support/long.ts"

const support = join(import.meta.dirname, "../../../test/support")

/** Of a profile that is given a port: only such a browser can be spoken to by somebody new. */
const withPort: Partial<BrowserConfig> = { profiles: { managed: { driver: "managed", cdpPort: 18_800 } } }

async function startBench(t: TestContext, folder: string, settings = withPort) {
  const bench = await startBrowserBench(settings, { stateFolder: folder })
  t.after(() => bench.stop())
  return bench
}

const recordOf = (folder: string) => join(folder, "browser", "managed", "browser.json")
const lockIn = (userData: string) => readlink(join(userData, "SingletonLock")).catch(() => undefined)

async function isGone(pid: number): Promise<true | undefined> {
  return isProcessAlive(pid) ? undefined : true
}

/** Runs a gateway's browser service until it has done the work, kills it, and gives the process of its browser. */
async function leave(folder: string, settings: Partial<BrowserConfig>, work: string): Promise<number> {
  const script = `
    import { startBrowserBench } from ${JSON.stringify(join(support, "browser-service.ts"))}
    const bench = await startBrowserBench(${JSON.stringify(settings)}, { stateFolder: ${JSON.stringify(folder)} })
    ${work}
    console.log((await bench.call("GET", "/")).body.pid)
    process.kill(process.pid, "SIGKILL")`
  const words = ["--input-type=module-typescript", "-e", script]
  const child = spawn(process.execPath, words, { cwd: import.meta.dirname })
  let output = ""
  let errors = ""
  child.stdout.on("data", (data) => (output += data))
  child.stderr.on("data", (data) => (errors += data))
  const [, signal] = await once(child, "close")
  assert.equal(signal, "SIGKILL", errors)
  return Number(output)
}

/** A browser in the folder whose parent never asks after it, as in a container without an init: ended, it is a zombie. */
async function startUnreaped(t: TestContext, userData: string) {
  const words = ["--headless=new", "--no-sandbox", "--remote-debugging-port=0", `--user-data-dir=${userData}`]
  // The program that takes the shell's place knows nothing of the shell's child.
  const script = 'chromium "$@" about:blank & echo "pid $!"; exec sleep 1000'
  const parent = spawn("sh", ["-c", script, "sh", ...words], { stdio: ["ignore", "pipe", "pipe"] })
  t.after(async () => {
    const ended = once(parent, "exit")
    parent.kill("SIGKILL")
    await ended
  })
  let said = ""
  for (const stream of [parent.stdout, parent.stderr]) stream.on("data", (data) => (said += data))
  const [, pid, webSocketUrl] = await until(
    "the browser listens",
    () => /pid (\d+)[^]*DevTools listening on (\S+)/.exec(said) ?? undefined,
  )
  return { pid: Number(pid), webSocketUrl: String(webSocketUrl), parent: parent.pid }
}

// Most of the time is spent on waiting for what does not answer: together.
suite("what is left behind", { concurrency: 2 }, () => {
  test("a browser ends with its gateway, however that one ended, and the next starts with its data", async (t) => {
    const folder = temporaryFolder()
    const left = await leave(folder, {}, `await bench.call("POST", "/tabs/open", { url: "about:blank" })`)
    const bench = await startBench(t, folder, {})
    // At once, while the old one may still be writing.
    const started = await bench.call("POST", "/start")
    assert.equal(started.status, 200, JSON.stringify(started.body))
    assert.equal(isProcessAlive(left), false)
    await bench.call("POST", "/stop")
    await until("all processes of both are gone", () => (browsersOf(folder).length === 0 ? true : undefined))
  })

  test("ends a browser that goes on without its pipe", async (t) => {
    const folder = temporaryFolder()
    const freeze = `process.kill(-(await bench.call("GET", "/")).body.pid, "SIGSTOP")`
    const pid = await leave(folder, {}, `await bench.call("POST", "/start"); ${freeze}`)
    await startBench(t, folder, {})
    await until("nobody has to ask for that", () => isGone(pid))
    await until("all its processes are gone", () => (browsersOf(folder).length === 0 ? true : undefined))
  })

  test("takes up the browser that a killed gateway left on a port, with its tabs, under refs that mean nothing else", async (t) => {
    const folder = temporaryFolder()
    const pages = await startPagesServer({ folder: join(support, "../fixtures/pages") })
    t.after(() => pages.stop())
    const pid = await leave(
      folder,
      withPort,
      `await bench.call("POST", "/tabs/open", { url: ${JSON.stringify(`${pages.url}/forms.html`)} })
       await bench.refOf("Send form")
       const { readFileSync } = await import("node:fs")
       while (!readFileSync(${JSON.stringify(recordOf(folder))}, "utf8").includes("refsBelow"))
         await new Promise((resolve) => setImmediate(resolve))`,
    )
    const bench = await startBench(t, folder)
    assert.equal(isProcessAlive(pid), true)
    await until("it is taken up unasked", async () =>
      (await bench.call("GET", "/")).body.pid === pid ? true : undefined,
    )
    const { tabs } = (await bench.call("GET", "/tabs")).body
    const { targetId } = tabs.find((tab: { url: string }) => tab.url.endsWith("/forms.html"))
    const first = Number(await bench.refOf("Send form", `?targetId=${targetId}`))
    assert.ok(first >= 100 && first < 1_000, `${first} is past all that were given before, and short`)
    const stale = await bench.call("POST", "/act", { kind: "click", targetId, ref: "e1" })
    assert.equal(stale.body.error.code, "stale-ref", "given by the gateway before")
    // Its way to the network is the new gateway's.
    const again = await bench.call("POST", "/navigate", { targetId, url: `${pages.url}/sent.html` })
    assert.equal(again.body.title, "Sent", JSON.stringify(again.body))
    // One that has not used it closes it at its end as well.
    const next = await startBrowserBench(withPort, { stateFolder: folder })
    await next.stop()
    await until("it is closed", () => isGone(pid))
    await until("all its processes are gone", () => (browsersOf(folder).length === 0 ? true : undefined))
  })

  test("knows its browser with and without a record of it, and ends it when it does not answer", async (t) => {
    const folder = temporaryFolder()
    const pid = await leave(folder, withPort, `await bench.call("POST", "/start")`)
    // Its gateway died before it had written down which.
    await rm(recordOf(folder))
    const second = await startBench(t, folder)
    assert.equal((await second.call("POST", "/start")).status, 200)
    assert.equal((await second.call("GET", "/")).body.pid, pid)
    assert.equal((await second.call("GET", "/")).body.chosenBrowser, "chromium")
    assert.equal(JSON.parse(await readFile(recordOf(folder), "utf8")).pid, pid, "written down now")
    let frozen = pid
    for (const isRecorded of isLong ? [true, false] : [false]) {
      if (!isRecorded) await rm(recordOf(folder))
      process.kill(-frozen, "SIGSTOP")
      const next = await startBench(t, folder)
      const started = await next.call("POST", "/start")
      assert.equal(started.status, 200, JSON.stringify(started.body))
      assert.equal(isProcessAlive(frozen), false, `ended, recorded: ${isRecorded}`)
      const running = (await next.call("GET", "/")).body.pid
      assert.notEqual(running, frozen)
      frozen = running
    }
  })

  test("takes another browser that answers on the port for none of its own, and starts one", async (t) => {
    const folder = temporaryFolder()
    const pid = await leave(folder, withPort, `await bench.call("POST", "/start")`)
    const record = JSON.parse(await readFile(recordOf(folder), "utf8"))
    record.door.webSocketUrl = record.door.webSocketUrl.replace(/[^/]+$/, "another")
    await writeFile(recordOf(folder), JSON.stringify(record))
    const bench = await startBench(t, folder)
    assert.equal((await bench.call("POST", "/start")).status, 200)
    assert.notEqual((await bench.call("GET", "/")).body.pid, pid)
    assert.equal(isProcessAlive(pid), false)
    assert.match(bench.logLines.join(""), /another browser answers on its port.*left browser ended/)
  })

  test("gets past a zombie: its browser that has ended and that nobody has asked after", async (t) => {
    const folder = temporaryFolder()
    const userData = join(folder, "browser", "managed", "user-data")
    await mkdir(userData, { recursive: true })
    const left = await startUnreaped(t, userData)
    const { pid: leftPid, webSocketUrl } = left
    const door = { port: Number(new URL(webSocketUrl).port), webSocketUrl }
    const record = { pid: leftPid, door, host: hostname(), headless: true, path: "/usr/bin/chromium" }
    await writeFile(recordOf(folder), JSON.stringify(record))
    const bench = await startBench(t, folder)
    await bench.call("POST", "/start")
    assert.equal((await bench.call("GET", "/")).body.pid, left.pid, "ours by the record")
    process.kill(left.pid, "SIGKILL")
    await until("it is noticed", async () => ((await bench.call("GET", "/")).body.running ? undefined : true))
    const state = await readFile(`/proc/${left.pid}/stat`, "utf8")
    assert.match(state, new RegExp(`\\) Z ${left.parent} `), "a zombie, whose number is still taken")
    assert.equal(await lockIn(userData), `${hostname()}-${left.pid}`, "which holds the lock, as far as that tells")
    const started = await bench.call("POST", "/start")
    assert.equal(started.status, 200, JSON.stringify(started.body))
    const { pid } = (await bench.call("GET", "/")).body
    assert.equal(await lockIn(userData), `${hostname()}-${pid}`)
    assert.match(await readFile(`/proc/${left.pid}/stat`, "utf8"), /\) Z /)
  })

  test("finds other ports when several gateways start browsers at the same moment", async (t) => {
    const benches = await Promise.all([1, 2].map(async () => startBench(t, temporaryFolder())))
    const started = await Promise.all(benches.map((bench) => bench.call("POST", "/start")))
    for (const { status, body } of started) assert.equal(status, 200, JSON.stringify(body))
    const statuses = await Promise.all(benches.map((bench) => bench.call("GET", "/")))
    assert.equal(new Set(statuses.map(({ body }) => body.cdpPort)).size, 2)
  })

  test("leaves alone a browser that a person has started in the profile's folder, and says who holds it", async (t) => {
    const folder = temporaryFolder()
    const userData = join(folder, "browser", "managed", "user-data")
    await mkdir(userData, { recursive: true })
    const child = spawn("chromium", ["--headless=new", "--no-sandbox", `--user-data-dir=${userData}`, "about:blank"], {
      stdio: "ignore",
    })
    t.after(async () => {
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
    })
    await until("the browser works in the folder", () => lockIn(userData))
    const bench = await startBench(t, folder)
    const refused = await bench.call("POST", "/start")
    assert.deepEqual([refused.status, refused.body.error.code], [503, "browser-start-failed"])
    assert.match(refused.body.error.message, new RegExp(`in use by another browser \\(process ${child.pid}\\)`))
    assert.match(refused.body.error.hint, /Close that browser/)
    const reset = await bench.call("POST", "/reset-profile", {})
    assert.deepEqual([reset.status, reset.body.error.code], [409, "conflict"])
    assert.equal(child.exitCode, null)
    assert.ok((await stat(userData)).isDirectory())
  })
})
