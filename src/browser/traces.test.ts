// Traces of a real browser: what is in the file, and that tracing changes nothing about the browser.
import assert from "node:assert/strict"
import { mkdir, readFile, stat, symlink } from "node:fs/promises"
import { join } from "node:path"
import { after, before, suite, test } from "node:test"
import { inflateRawSync } from "node:zlib"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { startChaosProxy } from "../../test/support/chaos-proxy.ts"
import { startRemoteBrowser } from "../../test/support/remote-browser.ts"
import { until } from "../../test/support/world.ts"
import { systemClock } from "../kernel/index.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer
const hourMs = 60 * 60_000
/** Ends the hour that somebody waits for. */
let passHour = () => {}

function hour(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    passHour = resolve
    signal?.addEventListener("abort", () => reject(new Error("woken")), { once: true })
  })
}

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  const sleep = (ms: number, signal?: AbortSignal) =>
    ms === hourMs ? hour(signal) : systemClock.sleep(ms, ...(signal ? [signal] : []))
  bench = await startBrowserBench({}, { clock: { ...systemClock, sleep } })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const post = (path: string, body: object = {}) => bench.call("POST", path, body)
const show = async (page: string) => (await post("/navigate", { url: `${pages.url}/${page}` })).body
const click = async (name: string) => (await post("/act", { kind: "click", ref: await bench.refOf(name) })).body

/** The files of a zip by name, out of its central directory. */
async function unzip(path: string): Promise<Map<string, Buffer>> {
  const zip = await readFile(path)
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const files = new Map<string, Buffer>()
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [nameLength, extraLength, noteLength] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset))
    const name = zip.toString("utf8", at + 46, at + 46 + Number(nameLength))
    const local = zip.readUInt32LE(at + 42)
    const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const packed = zip.subarray(data, data + zip.readUInt32LE(at + 20))
    files.set(name, zip.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed))
    at += 46 + Number(nameLength) + Number(extraLength) + Number(noteLength)
  }
  return files
}

test("writes a film, the actions with their pages, and the network into a file that only its owner reads", async () => {
  await show("forms.html")
  assert.equal((await post("/trace/start")).status, 200)
  await show("shop/")
  const ref = await bench.refOf("Note")
  await post("/act", { kind: "type", ref, text: "hidden words" })
  await click("Add Green Tea to basket")
  const { status, body } = await post("/trace/stop")
  assert.equal(status, 200, JSON.stringify(body))
  assert.match(body.path, /\/traces\/trace-[\w-]+\.zip$/)
  assert.equal((await stat(body.path)).mode & 0o777, 0o600)
  const files = await unzip(body.path)
  const trace = String(files.get("trace.trace"))
  assert.ok(trace.includes(`"title":"navigate ${pages.url}/shop/"`))
  assert.match(trace, new RegExp(`"type ${ref}"`))
  assert.match(trace, /"frame-snapshot"/)
  assert.match(String(files.get("trace.network")), /\/basket/)
  assert.ok([...files.keys()].some((name) => /\.jpe?g$/.test(name)))
})

test("leaves questions, downloads and uploads to us while it runs", async () => {
  await show("dialogs.html")
  await post("/trace/start")
  const { dialog } = await click("Confirm")
  assert.equal(dialog?.type, "confirm")
  assert.equal((await bench.call("GET", "/snapshot")).body.error.code, "dialog-open")
  await post("/hooks/dialog", { accept: true })
  assert.equal((await bench.call("GET", "/snapshot")).body.title, "answer true")
  await post("/hooks/dialog", { accept: false })
  await click("Confirm")
  assert.equal((await bench.call("GET", "/snapshot")).body.title, "answer false")
  await show("files.html")
  const got = await post("/download", { ref: await bench.refOf("Get zip"), path: "traced.zip" })
  assert.equal(got.status, 200, JSON.stringify(got.body))
  assert.equal((await readFile(join(bench.stateFolder, "downloads", "traced.zip"))).toString(), "PK")
  assert.equal((await post("/trace/stop", { path: "sub/questions.zip" })).status, 200)
  assert.ok((await unzip(join(bench.stateFolder, "traces", "sub", "questions.zip"))).has("trace.trace"))
  await show("dialogs.html")
  assert.equal((await click("Confirm")).dialog?.type, "confirm")
  await post("/hooks/dialog", { accept: true })
})

test("says so when one runs already, when none does, and while a question is open", async () => {
  await post("/stop")
  assert.equal((await post("/trace/stop")).status, 404)
  assert.equal((await bench.call("GET", "/tabs")).body.running, false, "nothing is started to say so")
  const statuses = async (path: string) =>
    (await Promise.all([1, 2, 3].map(() => post(path)))).map(({ status }) => status).toSorted()
  assert.deepEqual(await statuses("/trace/start"), [200, 409, 409])
  assert.deepEqual(await statuses("/trace/stop"), [200, 404, 404])
  assert.deepEqual([(await post("/trace/stop")).status, (await post("/trace/start")).status], [404, 200])
  const second = await post("/trace/start")
  assert.deepEqual([second.status, second.body.error.code], [409, "conflict"])
  assert.equal((await post("/trace/stop")).status, 200)
  await show("dialogs.html")
  await click("Confirm")
  assert.equal((await post("/trace/start")).body.error.code, "dialog-open")
  await post("/hooks/dialog", { accept: true })
})

test("ends and keeps a trace that everybody has forgotten, after an hour", async () => {
  assert.equal((await post("/trace/start")).status, 200)
  passHour()
  const kept = await until("it is written", () => {
    const line = bench.logLines.find((each) => each.includes("trace ended: nobody did"))
    return line === undefined ? undefined : (JSON.parse(line).path as string)
  })
  assert.ok((await unzip(kept)).has("trace.trace"))
  assert.equal((await post("/trace/stop")).status, 404)
})

test("A10: writes nowhere but below its folder", async () => {
  const root = join(bench.stateFolder, "traces")
  await mkdir(root, { recursive: true })
  await symlink("/tmp", join(root, "link"))
  await post("/trace/start")
  for (const path of ["/etc/x.zip", "../x.zip", "..%2fx/../../x.zip", "link/x.zip", `${root}/link/x.zip`, "a\0.zip"]) {
    const { status, body } = await post("/trace/stop", { path })
    assert.deepEqual([status, body.error.code], [400, "bad-request"], path)
  }
  assert.equal((await post("/trace/stop", { path: "fine.zip" })).status, 200)
})

// Both wait for what does not answer.
suite("what cannot be traced", { concurrency: 2 }, () => {
  test(
    "a tab that does not answer is named, and the trace can be started without it",
    { timeout: 120_000 },
    async () => {
      const { targetId } = (await post("/tabs/open", { url: `${pages.url}/forms.html` })).body
      await post("/act", {
        kind: "evaluate",
        // Waits for an answer that never comes: as deaf as one that reckons for ever, and leaves the machine to others.
        fn: `() => void setTimeout(() => {
          const request = new XMLHttpRequest()
          request.open("GET", "/hang", false)
          request.send()
        })`,
        targetId,
        timeoutMs: 500,
      })
      const { status, body } = await post("/trace/start")
      assert.deepEqual([status, body.error.code], [504, "timeout"])
      assert.match(body.error.message, new RegExp(`do not answer: ${targetId}$`))
      await bench.call("DELETE", `/tabs/${targetId}`)
      await show("forms.html")
      assert.equal((await post("/trace/start")).status, 200)
      assert.equal((await post("/trace/stop")).status, 200)
    },
  )

  test("traces a remote browser through its credentials, which no error shows", async (context) => {
    const remote = await startRemoteBrowser()
    context.after(() => remote.stop())
    const proxy = await startChaosProxy({ target: remote.port, basic: "ada:tea-pot", token: "tok-1" })
    context.after(() => proxy.stop())
    const cdpUrl = `http://ada:tea-pot@127.0.0.1:${proxy.port}/?token=tok-1`
    const far = await startBrowserBench({ defaultProfile: "far", profiles: { far: { driver: "managed", cdpUrl } } })
    context.after(() => far.stop())
    await far.call("POST", "/navigate", { url: `${pages.url}/forms.html` })
    assert.equal((await far.call("POST", "/trace/start", {})).status, 200)
    await far.call("POST", "/navigate", { url: `${pages.url}/shop/` })
    const { body } = await far.call("POST", "/trace/stop", {})
    assert.match(String((await unzip(body.path)).get("trace.trace")), /navigate http/)
    // Closed to all who come from now on; the connection that stands goes on.
    proxy.swallow = true
    const { body: refused } = await far.call("POST", "/trace/start", {})
    assert.equal(refused.ok, false)
    assert.doesNotMatch(JSON.stringify(refused) + far.logLines.join(""), /tea-pot|tok-1/)
  })
})
