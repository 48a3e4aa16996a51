// Many actions at once in one tab: each is done once, in turn, and none is told otherwise.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { Tab } from "./tab.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench()
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const act = (body: object) => bench.call("POST", "/act", body)
const many = Number(process.env["SVC_TEST_CROWD"] ?? 30)

test("loses none of many clicks at once, and none of many actions of several kinds", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/counting.html` })
  const [count, field] = [await bench.refOf("Count"), await bench.refOf("Field")]
  // Less time than all of them need together: the time of one begins with its turn.
  const replies = await Promise.all(
    Array.from({ length: many }, (_, index) =>
      act(
        index % 3 === 2
          ? { kind: "press", key: "a", timeoutMs: 2_000 }
          : index % 3 === 1
            ? { kind: "type", ref: field, text: `${index}`, timeoutMs: 2_000 }
            : { kind: "click", ref: count, timeoutMs: 2_000 },
      ),
    ),
  )
  assert.deepEqual(
    replies.filter(({ status }) => status !== 200).map(({ body }) => body),
    [],
  )
  const done = (await act({ kind: "evaluate", fn: "() => count" })).body.result
  assert.equal(done, Math.ceil(many / 3))
})

test("answers a click as done whose answer the page never reads", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/counting.html` })
  const began = performance.now()
  const reply = await act({ kind: "click", ref: await bench.refOf("Ask and leave it"), timeoutMs: 3_000 })
  assert.deepEqual([reply.status, reply.body.settled], [200, undefined], JSON.stringify(reply.body))
  assert.ok(performance.now() - began < 3_000)
})

test("says that nothing was done when the turn never came", async () => {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url: `${pages.url}/counting.html` })).body
  const ref = await bench.refOf("Count", `?targetId=${targetId}`)
  const holding = act({ kind: "wait", targetId, fn: "() => window.free", timeoutMs: 20_000 })
  const late = await act({ kind: "click", ref, targetId, timeoutMs: 500 })
  assert.equal(late.body.error.code, "timeout")
  assert.match(`${late.body.error.message} ${late.body.error.hint}`, /was not begun.*Nothing was done/)
  const patient = act({ kind: "click", ref, targetId, timeoutMs: 20_000 })
  await bench.call("DELETE", `/tabs/${targetId}`)
  assert.equal((await patient).body.error.code, "tab-not-found")
  assert.equal((await holding).status, 404)
})

test("listens to a tab no longer than an action takes, also to one that fails", async (t) => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/counting.html` })
  let listening = 0
  const listen = Tab.prototype.onNavigation
  t.mock.method(Tab.prototype, "onNavigation", function (this: Tab, listener: Parameters<typeof listen>[0]) {
    const leave = listen.call(this, listener)
    listening += 1
    return () => {
      listening -= 1
      leave()
    }
  })
  assert.equal((await act({ kind: "click", ref: await bench.refOf("Count") })).status, 200)
  assert.equal((await act({ kind: "click", ref: "99999" })).status, 404)
  assert.equal(
    (await bench.call("POST", "/navigate", { url: "http://127.0.0.1:1/" })).body.error.code,
    "navigation-failed",
  )
  assert.equal(listening, 0)
})

test("leaves no guard of a click behind that came to nothing: what is done there next is done", async () => {
  const inside = `<body style="margin:0"><button id="one">One</button><button style="position:fixed;left:0;top:100px;width:100px;height:50px" onclick="parent.document.title = 'reached'">Two</button>`
  const page = `<title>covered</title><body style="margin:0"><iframe style="border:0;width:300px;height:200px" srcdoc='${inside.replaceAll("'", "&#39;")}'></iframe><div id="cover" style="position:fixed;inset:0">Cover</div>`
  const site = createServer((_request, response) => response.setHeader("content-type", "text/html").end(page))
  await once(site.listen(0, "127.0.0.1"), "listening")
  try {
    await bench.call("POST", "/navigate", { url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/` })
    const refused = await act({ kind: "click", ref: await bench.refOf("One"), timeoutMs: 3_000 })
    assert.equal(refused.body.error.code, "covered")
    await act({ kind: "evaluate", fn: "() => document.getElementById('cover').remove()" })
    const { body } = await act({ kind: "click", x: 50, y: 125 })
    assert.equal(body.title, "reached", JSON.stringify(body))
  } finally {
    site.closeAllConnections()
    site.close()
  }
})
