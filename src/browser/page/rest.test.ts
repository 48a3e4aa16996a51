// Windows that nobody uses rest: what moves in their pages is drawn about once a second, and the pages know nothing of it.
import assert from "node:assert/strict"
import { once } from "node:events"
import { type Server, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"

/** Tells the server each half a second how often it was drawn since the last time, and what it was told of itself. */
const page = `<title>moves</title><button onclick="this.textContent = 'pressed'">Press</button>
<a href="/second" target="_blank">More</a><canvas></canvas><script>
  const board = document.querySelector("canvas").getContext("2d")
  let frames = 0
  const told = []
  for (const name of ["blur", "focus", "resize"]) addEventListener(name, () => told.push(name))
  document.addEventListener("visibilitychange", () => told.push(document.visibilityState))
  const draw = () => {
    frames += 1
    board.fillStyle = frames % 2 ? "red" : "blue"
    board.fillRect(0, 0, 99, 99)
    requestAnimationFrame(draw)
  }
  requestAnimationFrame(draw)
  setInterval(() => {
    fetch("/report", { method: "POST", body: JSON.stringify({ path: location.pathname, frames, told }) })
    frames = 0
  }, 500)
</script>`

interface Report {
  path: string
  frames: number
  told: string[]
}

let bench: BrowserBench
let server: Server
let url: string
let listeners: ((report: Report) => void)[] = []

before(async () => {
  server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.setHeader("content-type", "text/html").end(page)
    const parts = await request.toArray()
    response.end()
    const report = JSON.parse(Buffer.concat(parts).toString()) as Report
    for (const listener of listeners) listener(report)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // Some three seconds after it was filmed Chromium lets a window draw again by itself, whatever state it has.
  bench = await startBrowserBench({}, { restAfterMs: 4_000 })
})

after(async () => {
  await bench.stop()
  server.closeAllConnections()
  server.close()
})

/** Some reports in a row that are all as wanted. */
function reports(path: string, isWanted: (report: Report) => boolean): Promise<Report> {
  const { promise, resolve, reject } = Promise.withResolvers<Report>()
  const seen: number[] = []
  let inRow = 0
  const listener = (report: Report) => {
    if (report.path !== path) return
    seen.push(report.frames)
    inRow = isWanted(report) ? inRow + 1 : 0
    if (inRow === 3) resolve(report)
  }
  listeners.push(listener)
  const timer = setTimeout(() => reject(new Error(`frames of ${path}: ${seen.join(", ")}`)), 30_000)
  return promise.finally(() => {
    clearTimeout(timer)
    listeners = listeners.filter((each) => each !== listener)
  })
}

const rests = ({ frames }: Report) => frames <= 3
const draws = ({ frames }: Report) => frames > 3
const done = async (path: string, body: object) => {
  const reply = await bench.call("POST", path, body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}

test("a tab that nobody uses rests and is not told so; whoever uses it finds it as ever, and so does who looks on", async () => {
  const { targetId } = await done("/tabs/open", { url: `${url}/first` })
  assert.deepEqual((await reports("/first", rests)).told, [])
  // Much moves in a page that waits for the next frame of its own.
  await done("/act", { targetId, kind: "click", ref: await bench.refOf("Press", `?targetId=${targetId}`) })
  const two =
    "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve('drawn'))))"
  assert.equal((await done("/act", { targetId, kind: "evaluate", fn: two })).result, "drawn")
  await reports("/first", rests)
  const seen = reports("/first", draws)
  const look = new AbortController()
  const stream = await bench.service.view().watch("managed", targetId, look.signal)
  const lines: string[] = []
  const reading = (async () => {
    for await (const line of stream) lines.push(new TextDecoder().decode(line))
  })()
  assert.deepEqual((await seen).told, [])
  look.abort()
  await reading
  const { url: shown, title, image } = JSON.parse(lines[0] ?? "{}")
  assert.deepEqual([shown, title, typeof image], [`${url}/first`, "moves", "string"])
  await reports("/first", rests)
})

test("a tab that a page opens has its own rest, and wakes in a window that rests", async () => {
  const { targetId } = await done("/tabs/open", { url: `${url}/opener` })
  await done("/act", { targetId, kind: "click", ref: await bench.refOf("More", `?targetId=${targetId}`) })
  // A tab that a page opens may be there before the browser takes it for the one in front, and is told then.
  const { told } = await reports("/second", rests)
  const { tabs } = (await bench.call("GET", "/tabs")).body as { tabs: { targetId: string; url: string }[] }
  const second = tabs.find((tab) => tab.url === `${url}/second`)
  assert.ok(second)
  const seen = reports("/second", draws)
  await done("/act", {
    targetId: second.targetId,
    kind: "evaluate",
    fn: "() => new Promise((resolve) => setTimeout(resolve, 3_000))",
  })
  assert.deepEqual((await seen).told, told)
})
