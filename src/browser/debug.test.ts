// What is kept of pages, against a real one.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const evaluate = async (fn: string) => (await bench.call("POST", "/act", { kind: "evaluate", fn })).body.result
const get = async (path: string) => (await bench.call("GET", path)).body

test("keeps console messages with their level and place", async () => {
  await evaluate(
    "() => { console.log('plain', 1, { a: 2 }); console.warn('careful'); console.error('broken'); console.debug('detail') }",
  )
  const texts = (await get("/console")).messages.map(({ text }: { text: string }) => text)
  assert.deepEqual(texts.slice(-4), ["plain 1 Object", "careful", "broken", "detail"])
  for (const [level, count] of [
    ["error", 1],
    ["warn", 2],
    ["warning", 2],
    ["info", 3],
    ["debug", 4],
  ])
    assert.equal((await get(`/console?level=${level}`)).messages.length, count, String(level))
  assert.equal((await bench.call("GET", "/console?level=loud")).status, 400)
})

test("keeps errors until they are cleared", async () => {
  await evaluate(
    "() => new Promise((done) => { setTimeout(() => { setTimeout(done, 20); throw new TypeError('oops') }) })",
  )
  const { errors } = await get("/errors?clear=true")
  assert.deepEqual([errors.length, errors[0].name], [1, "TypeError"])
  assert.match(errors[0].message, /TypeError: oops/)
  assert.deepEqual((await get("/errors")).errors, [])
})

test("keeps requests with how they went, and filters them", async () => {
  await evaluate(
    "async () => { await fetch('/hit?yes'); await fetch('/nowhere'); await fetch('http://127.0.0.1:1/').catch(() => 0) }",
  )
  const { requests } = await get("/requests?filter=/hit")
  assert.equal(requests.length, 1)
  assert.deepEqual([requests[0].status, requests[0].ok, requests[0].resourceType], [200, true, "fetch"])
  assert.equal((await get("/requests?filter=nowhere")).requests[0].ok, false)
  assert.match((await get("/requests?filter=127.0.0.1:1/")).requests[0].failureText, /ERR_/)
  await get("/requests?clear=true")
  assert.deepEqual((await get("/requests")).requests, [])
})

test("gives the body of the next matching response, while other things are done in the tab", async () => {
  const waiting = bench.call("POST", "/response/body", { url: "*/hit?body*", maxChars: 2 })
  const ticking = setInterval(() => void evaluate("fetch('/hit?body').then((answer) => answer.text())"), 100)
  const { body } = await waiting
  clearInterval(ticking)
  assert.deepEqual([body.response.status, body.response.body, body.response.truncated], [200, "hi", true])
  const late = await bench.call("POST", "/response/body", { url: "never", timeoutMs: 500 })
  assert.equal(late.body.error.code, "timeout")
})

test("saves a PDF", async () => {
  const { body } = await bench.call("POST", "/pdf", {})
  assert.match(body.path, /media\/browser\/[\w-]+\.pdf$/)
  assert.equal((await readFile(body.path)).subarray(0, 5).toString(), "%PDF-")
})

test("draws a frame around an element", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/forms.html` })
  assert.equal((await bench.call("POST", "/highlight", { ref: await bench.refOf("Send form") })).status, 200)
  assert.equal(await evaluate("document.querySelectorAll('svc-labels').length"), 1)
  assert.equal((await bench.call("POST", "/highlight", {})).status, 400)
})

test("sets, reads and clears cookies", async () => {
  const set = await bench.call("POST", "/cookies/set", { cookie: { name: "a", value: "1", url: pages.url } })
  assert.equal(set.status, 200, JSON.stringify(set.body))
  assert.equal(await evaluate("document.cookie"), "a=1")
  const [cookie] = (await get("/cookies")).cookies
  assert.deepEqual([cookie.name, cookie.value, cookie.domain, cookie.path], ["a", "1", "127.0.0.1", "/"])
  assert.equal((await bench.call("POST", "/cookies/set", { cookie: { name: "a", value: "1" } })).status, 400)
  await bench.call("POST", "/cookies/clear", {})
  assert.deepEqual((await get("/cookies")).cookies, [])
})

test("sets, reads and clears storage of both kinds", async () => {
  for (const kind of ["local", "session"]) {
    await bench.call("POST", `/storage/${kind}/set`, { key: 'k"1', value: "v" })
    await bench.call("POST", `/storage/${kind}/set`, { key: "other" })
    assert.deepEqual((await get(`/storage/${kind}`)).values, { 'k"1': "v", other: "" })
    assert.deepEqual((await get(`/storage/${kind}?key=other`)).values, { other: "" })
    assert.deepEqual((await get(`/storage/${kind}?key=none`)).values, {})
    await bench.call("POST", `/storage/${kind}/clear`, {})
    assert.deepEqual((await get(`/storage/${kind}`)).values, {})
  }
  assert.equal((await bench.call("GET", "/storage/other")).status, 400)
})
