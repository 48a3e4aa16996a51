// What goes wrong with browsers of our own and is mended: frozen, left without a record, held by a person, started again
// and again.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { suite, test, type TestContext } from "node:test"
import { startBrowserBench } from "../../../test/support/browser-service.ts"
import { browsersOf } from "../../../test/support/left-browsers.ts"
import { startPagesServer } from "../../../test/support/pages-server.ts"
import { isProcessAlive } from "./process-info.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"

async function startBench(t: TestContext, folder: string) {
  const bench = await startBrowserBench({}, { stateFolder: folder })
  t.after(() => bench.stop())
  return bench
}

async function until(holds: () => Promise<boolean> | boolean, what: string, ms = 30_000): Promise<void> {
  for (const end = performance.now() + ms; !(await holds());) {
    if (performance.now() > end) throw new Error(`not so within ${ms} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Processes of the folder that live; a zombie waits for its parent and is none. */
async function livingOf(folder: string): Promise<number[]> {
  const living: number[] = []
  for (const pid of browsersOf(folder)) if (await isProcessAlive(pid)) living.push(pid)
  return living
}

async function existsLink(path: string): Promise<boolean> {
  return (await readdir(join(path, ".."))).includes("SingletonLock")
}

// Most of the time is spent on waiting for what does not answer: together.
suite("browsers of our own", { concurrency: 3 }, () => {
  test("ends a browser of its own that froze, and the next action starts another under refs that mean nothing else", async (t) => {
    const folder = temporaryFolder()
    const pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
    t.after(() => pages.stop())
    const bench = await startBench(t, folder)
    await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })
    const ref = await bench.refOf("Send form")
    const { pid } = (await bench.call("GET", "/")).body
    process.kill(-pid, "SIGSTOP")
    const lost = await bench.call("POST", "/act", { kind: "wait", text: "never", timeoutMs: 100_000 })
    assert.deepEqual([lost.status, lost.body.error.code], [503, "browser-lost"])
    const { body } = await bench.call("POST", "/tabs/open", { url: `${pages.url}/forms.html` })
    assert.equal(await isProcessAlive(pid), false)
    await bench.refOf("Send form")
    const stale = await bench.call("POST", "/act", { kind: "click", ref, targetId: body.targetId })
    assert.deepEqual([stale.status, stale.body.error.code], [409, "stale-ref"])
  })

  test("takes up its browser also when the gateway died before it had written down which", async (t) => {
    const folder = temporaryFolder()
    const first = await startBench(t, folder)
    await first.call("POST", "/start")
    const { pid } = (await first.call("GET", "/")).body
    const record = join(folder, "browser", "managed", "browser.json")
    await rm(record)
    const second = await startBench(t, folder)
    assert.equal((await second.call("POST", "/start")).status, 200)
    assert.equal((await second.call("GET", "/")).body.pid, pid)
    assert.equal(JSON.parse(await readFile(record, "utf8")).pid, pid, "written down now")
    await second.stop()
    await until(async () => !(await isProcessAlive(pid)), "ended with the gateway that has it")
  })

  test("ends its unrecorded browser when it does not answer", async (t) => {
    const folder = temporaryFolder()
    const first = await startBench(t, folder)
    await first.call("POST", "/start")
    const { pid } = (await first.call("GET", "/")).body
    await rm(join(folder, "browser", "managed", "browser.json"))
    process.kill(-pid, "SIGSTOP")
    const second = await startBench(t, folder)
    assert.equal((await second.call("POST", "/start")).status, 200)
    assert.equal(await isProcessAlive(pid), false)
  })

  test("finds other ports when several gateways start browsers at the same moment", async (t) => {
    const benches = await Promise.all([1, 2, 3].map(async () => startBench(t, temporaryFolder())))
    const started = await Promise.all(benches.map((bench) => bench.call("POST", "/start")))
    for (const { status, body } of started) assert.equal(status, 200, JSON.stringify(body))
    const statuses = await Promise.all(benches.map((bench) => bench.call("GET", "/")))
    assert.equal(new Set(statuses.map(({ body }) => body.cdpPort)).size, 3)
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
    await until(() => existsLink(join(userData, "SingletonLock")), "the browser works in the folder")
    const bench = await startBench(t, folder)
    const refused = await bench.call("POST", "/start")
    assert.deepEqual([refused.status, refused.body.error.code], [503, "browser-start-failed"])
    assert.match(refused.body.error.message, new RegExp(`in use by another browser \\(process ${child.pid}\\)`))
    const reset = await bench.call("POST", "/reset-profile", {})
    assert.deepEqual([reset.status, reset.body.error.code], [409, "conflict"])
    assert.equal(child.exitCode, null)
    assert.ok((await stat(userData)).isDirectory())
  })

  test("leaves no process behind, however often it is started, stopped and killed", { timeout: 120_000 }, async (t) => {
    const folder = temporaryFolder()
    const bench = await startBench(t, folder)
    const counts: number[] = []
    for (let round = 0; round < 6; round += 1) {
      assert.equal((await bench.call("POST", "/start")).status, 200)
      const { pid } = (await bench.call("GET", "/")).body
      counts.push((await livingOf(folder)).filter((living) => living === pid).length)
      if (round % 2 === 0) await bench.call("POST", "/stop", {})
      else process.kill(pid, "SIGKILL")
      await until(async () => !(await bench.call("GET", "/")).body.running, "it is noticed")
    }
    assert.deepEqual(counts, [1, 1, 1, 1, 1, 1])
    await until(async () => (await livingOf(folder)).length === 0, "all are gone")
  })
})
