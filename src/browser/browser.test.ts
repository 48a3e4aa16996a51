// The control service against a real browser: the main road, what is kept of pages, and files in both directions with the
// attacks on their paths.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { after, before, beforeEach, describe, test } from "node:test"
import { setTimeout } from "node:timers/promises"
import { type BrowserBench, type Reply, startBrowserBench } from "../../test/support/browser-service.ts"
import { until } from "../../test/support/world.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"
import { safeName } from "./files/safe-name.ts"

let bench: BrowserBench
let pages: PagesServer
let downloads: string
let uploads: string

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  bench = await startBrowserBench()
  downloads = join(bench.stateFolder, "downloads")
  uploads = join(bench.stateFolder, "uploads")
  await mkdir(uploads, { recursive: true })
  await mkdir(downloads, { recursive: true })
  await writeFile(join(uploads, "one.txt"), "first")
  await writeFile(join(uploads, "two.txt"), "second")
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const go = (path: string) => bench.call("POST", "/navigate", { url: `${pages.url}/${path}` })
const get = async (path: string) => (await bench.call("GET", path)).body
const post = (path: string, body: object) => bench.call("POST", path, body)
const evaluate = async (fn: string) => (await post("/act", { kind: "evaluate", fn })).body.result

test("puts something into the basket of the shop by reading the page and clicking a ref", async () => {
  const opened = await bench.call("POST", "/tabs/open", { url: `${pages.url}/shop/` })
  assert.equal(opened.status, 200)
  assert.equal(opened.body.title, "Corner Shop")
  const { targetId } = opened.body
  const snapshot = await bench.call("GET", `/snapshot?targetId=${targetId}`)
  assert.match(snapshot.body.snapshot, /- heading "Corner Shop" \[ref=\d+\] \[level=1\]/)
  assert.match(snapshot.body.snapshot, /- status \[ref=\d+\]: Basket: 0 items/)
  assert.match(snapshot.body.snapshot, /- button "Add Honey to basket" \[ref=\d+\]/)
  const note = await bench.refOf("Note")
  assert.equal(
    (await bench.call("POST", "/act", { kind: "type", targetId, ref: note, text: "Grüße, “leise”" })).status,
    200,
  )
  const add = await bench.refOf("Add Honey to basket")
  const clicked = await bench.call("POST", "/act", { kind: "click", targetId, ref: `e${add}` })
  assert.equal(clicked.status, 200)
  assert.deepEqual(pages.basket, [{ product: "Honey", note: "Grüße, “leise”" }])
  const after = await bench.call("GET", `/snapshot?targetId=${targetId}`)
  assert.match(after.body.snapshot, /Basket: 1 item\b/)
})

test("searches by typing and Enter", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/shop/` })
  await bench.call("POST", "/act", { kind: "type", ref: await bench.refOf("Search"), text: "tea", submit: true })
  const { body } = await bench.call("GET", "/snapshot")
  assert.match(body.snapshot, /Green Tea/)
  assert.doesNotMatch(body.snapshot, /Rye Bread/)
})

test("saves a screenshot that only the owner may read", async () => {
  const { status, body } = await bench.call("POST", "/screenshot", {})
  assert.equal(status, 200)
  assert.ok(body.path.startsWith(join(bench.stateFolder, "media", "browser")))
  assert.equal((await stat(body.path)).mode & 0o777, 0o600)
  assert.deepEqual([...(await readFile(body.path)).subarray(1, 4)], [...Buffer.from("PNG")])
})

test("keeps console messages with their level and place", async () => {
  const { targetId } = (await post("/tabs/open", { url: `${pages.url}/sent.html` })).body
  assert.equal((await get("/console")).targetId, targetId)
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

test("keeps what the browser itself says of a page: what does not come, and what a policy keeps from it", async () => {
  await post("/tabs/open", { url: `${pages.url}/sent.html` })
  await evaluate(`() => new Promise((done) => {
    document.head.innerHTML = '<meta http-equiv="Content-Security-Policy" content="img-src none.example">'
    document.body.innerHTML = '<link rel="stylesheet" href="/nowhere.css"><img src="/shut-out.png">'
    document.querySelector("link").onerror = done
  })`)
  const said = (words: RegExp) => async () => {
    const { messages } = (await get("/console?level=error")) as {
      messages: { text: string; location: { url: string } }[]
    }
    return messages.find(({ text, location }) => words.test(`${text} ${location.url}`))
  }
  await until("what does not come", said(/status of 404 .*\/nowhere\.css$/))
  await until("what was kept away", said(/shut-out\.png.* violates .*Content Security Policy/))
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
  const [one, other] = [
    post("/response/body", { url: "*/hit?one*", maxChars: 2 }),
    post("/response/body", { url: "?other" }),
  ]
  const first = await repeat(one, "fetch('/hit?one').then((answer) => answer.text())")
  assert.deepEqual([first.status, first.body, first.truncated], [200, "hi", true])
  assert.equal(
    (await repeat(other, "fetch('/hit?other').then((answer) => answer.text())")).body,
    "hit",
    "who waits on still gets it",
  )
  const late = await post("/response/body", { url: "never", timeoutMs: 300 })
  assert.equal(late.body.error.code, "timeout")
})

test("gives bodies of frames that come later, and passes over one that was under way before", async (context) => {
  const held: ServerResponse[] = []
  const site = createServer((request, response) => {
    response.setHeader("access-control-allow-origin", "*")
    if (request.url === "/begun") held.push(response.writeHead(200, { "content-type": "text/plain" }))
    else response.setHeader("content-type", "text/html").end("<script>fetch('/begun?fresh')</script>")
    held.at(-1)?.flushHeaders()
  })
  site.listen(0)
  await once(site, "listening")
  context.after(() => site.close().closeAllConnections())
  const { port } = site.address() as AddressInfo
  await evaluate(`() => void fetch("http://127.0.0.1:${port}/begun")`)
  const waiting = post("/response/body", { url: "/begun" })
  const frame = `() => { const frame = document.createElement("iframe"); frame.src = "http://localhost:${port}/"; document.body.append(frame) }`
  for (const response of held) response.end("old")
  const { url, body } = await repeat(waiting, frame)
  assert.equal(url, `http://localhost:${port}/begun?fresh`)
  assert.match(body, /fetch/)
  await go("sent.html")
})

/** Runs code in the page again and again until the answer is there. */
async function repeat(answer: Promise<Reply>, fn: string) {
  let waiting = true
  const ended = answer.finally(() => (waiting = false))
  while (waiting) await Promise.race([ended, evaluate(fn).then(() => setTimeout(50))])
  const { body } = await ended
  assert.equal(body.ok, true, JSON.stringify(body))
  return body.response
}

test("saves a PDF", async () => {
  const { body } = await bench.call("POST", "/pdf", {})
  assert.match(body.path, /media\/browser\/[\w-]+\.pdf$/)
  assert.equal((await readFile(body.path)).subarray(0, 5).toString(), "%PDF-")
})

test("draws a frame around an element", async () => {
  await go("forms.html")
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

describe("files", () => {
  beforeEach(async () => {
    await go("files.html")
  })

  const waitFor = async (text: string) => {
    const { status, body } = await post("/act", { kind: "wait", text, timeoutMs: 30_000 })
    assert.equal(status, 200, JSON.stringify(body))
  }

  test("downloads what a click gives, whole, to the place that was asked for", async () => {
    const { status, body } = await post("/download", { ref: await bench.refOf("Get zip"), path: "sub/a.zip" })
    assert.equal(status, 200, JSON.stringify(body))
    assert.equal(body.download.path, join(downloads, "sub", "a.zip"))
    assert.deepEqual([body.download.suggestedFilename, body.download.bytes], ["a.zip", 2])
    assert.equal(await readFile(body.download.path, "utf8"), "PK")
    assert.deepEqual(await readdir(join(downloads, ".part")), [])
  })

  test("ends a wait for a download with its tab", async () => {
    const { targetId } = (await post("/tabs/open", { url: `${pages.url}/files.html` })).body
    const first = post("/wait/download", { targetId, timeoutMs: 100_000 })
    const second = post("/wait/download", { targetId, timeoutMs: 100_000 })
    // One took the place of the other: it is waiting.
    assert.equal((await Promise.race([first, second])).body.error.code, "conflict")
    await bench.call("DELETE", `/tabs/${targetId}`)
    const codes = (await Promise.all([first, second])).map(({ body }) => body.error.code)
    assert.deepEqual(codes.toSorted(), ["conflict", "tab-not-found"])
    await go("files.html")
  })

  test("waits for the next download, under a plain name whatever the server suggests", async () => {
    const ref = await bench.refOf("Get evil")
    const first = post("/wait/download", { timeoutMs: 60_000 })
    const second = post("/wait/download", { timeoutMs: 60_000 })
    const superseded = await first
    assert.deepEqual([superseded.status, superseded.body.error.code], [409, "conflict"])
    await post("/act", { kind: "click", ref })
    const { body } = await second
    assert.match(body.download.path, new RegExp(`^${downloads}/[\\w.-]+bashrc$`))
    assert.equal(await readFile(body.download.path, "utf8"), "evil")
  })

  test("tells how far a download is while it comes", async () => {
    assert.deepEqual((await bench.call("GET", "/downloads")).body, { downloads: [] })
    const waiting = post("/wait/download", { timeoutMs: 60_000 })
    const begin = () => post("/act", { kind: "evaluate", fn: '() => { location.href = "/slow-file" }' })
    const url = `${pages.url}/slow-file`
    let downloads: { receivedBytes: number }[] = []
    // One that begins before the wait does is none of its business: then another has to.
    for (let beginAt = 0; !downloads[0]?.receivedBytes;) {
      if (downloads.length === 0 && performance.now() >= beginAt) {
        await begin()
        beginAt = performance.now() + 5_000
      }
      downloads = (await bench.call("GET", "/downloads")).body.downloads
    }
    const [{ receivedBytes, ...rest } = { receivedBytes: 0 }] = downloads
    assert.ok(receivedBytes > 0 && receivedBytes <= 1_000_000, `${receivedBytes}`)
    pages.finishFiles()
    const { targetId } = (await waiting).body
    assert.deepEqual(rest, { targetId, url, suggestedFilename: "big.bin", totalBytes: 2_000_000 })
    assert.deepEqual((await bench.call("GET", "/downloads")).body, { downloads: [] })
  })

  test("gives up a download that does not come", async () => {
    const { body } = await post("/download", { ref: await bench.refOf("No file"), path: "b.zip", timeoutMs: 700 })
    assert.equal(body.error.code, "timeout")
  })

  test("writes nowhere but below the downloads folder", async () => {
    const outside = join(bench.stateFolder, "outside")
    await mkdir(outside, { recursive: true })
    await writeFile(join(outside, "target"), "mine")
    await symlink(outside, join(downloads, "linked"))
    await symlink(join(outside, "target"), join(downloads, "soft"))
    await link(join(outside, "target"), join(downloads, "hard"))
    const ref = await bench.refOf("Get zip")
    for (const path of [
      "/etc/x",
      "../x",
      "a/../../x",
      "linked/x",
      "linked/new/x",
      "soft",
      "hard",
      "..",
      ".",
      "a\0b",
      "..",
    ]) {
      for (const [route, more] of [
        ["/download", { ref }],
        ["/wait/download", {}],
      ] as const) {
        const { status } = await post(route, { path, timeoutMs: 500, ...more })
        assert.equal(status, 400, `${route} ${JSON.stringify(path)}`)
      }
    }
    assert.equal(await readFile(join(outside, "target"), "utf8"), "mine")
    assert.deepEqual(await readdir(outside), ["target"])
  })

  test("gives files to a chooser and to inputs", async () => {
    const choose = await bench.refOf("Choose")
    assert.equal((await post("/hooks/file-chooser", { paths: ["one.txt"], ref: choose })).status, 200)
    await waitFor("one.txt=first")
    await post("/hooks/file-chooser", { paths: ["one.txt"] })
    await post("/hooks/file-chooser", { paths: [join(uploads, "two.txt")] })
    await post("/act", { kind: "click", ref: choose })
    await waitFor("two.txt=second")
    const inputRef = await bench.refOf("Photos")
    assert.equal((await post("/hooks/file-chooser", { paths: ["one.txt", "two.txt"], inputRef })).status, 200)
    await waitFor("one.txt=first,two.txt=second")
    assert.equal((await post("/hooks/file-chooser", { paths: ["one.txt"], element: "#plain" })).status, 200)
    assert.equal((await post("/hooks/file-chooser", { paths: ["one.txt"], element: "p" })).status, 400)
    assert.equal((await post("/hooks/file-chooser", { paths: ["one.txt"], ref: choose, inputRef })).status, 400)
    assert.equal((await post("/hooks/file-chooser", { paths: [] })).status, 400)
  })

  test("gives nothing to a chooser that is opened after the click that was to open one has failed", async () => {
    const failed = await post("/hooks/file-chooser", { paths: ["one.txt"], ref: "999999" })
    assert.equal(failed.body.error.code, "ref-not-found")
    await post("/act", { kind: "click", ref: await bench.refOf("Choose") })
    // Nothing tells that no file comes: one that does is there within a few milliseconds.
    await post("/act", { kind: "wait", timeMs: 200 })
    assert.equal(await evaluate("document.getElementById('hidden').files.length"), 0)
  })

  test("gives no file but plain ones of the uploads folder, and looks again when they are used", async () => {
    await symlink("/etc/passwd", join(uploads, "soft"))
    execFileSync("mkfifo", [join(uploads, "pipe")])
    for (const path of ["/etc/passwd", "../gateway-token", "soft", "pipe", "missing", "."]) {
      assert.equal((await post("/hooks/file-chooser", { paths: [path] })).status, 400, path)
    }
    await writeFile(join(uploads, "swap.txt"), "fine")
    assert.equal((await post("/hooks/file-chooser", { paths: ["swap.txt"] })).status, 200)
    await rm(join(uploads, "swap.txt"))
    await symlink("/etc/passwd", join(uploads, "swap.txt"))
    await post("/act", { kind: "click", ref: await bench.refOf("Choose") })
    assert.doesNotMatch((await bench.call("GET", "/snapshot")).body.snapshot, /root:|swap/)
  })

  test("answers the next question of a page when it was told how", async () => {
    const armed = await post("/hooks/dialog", { accept: true })
    assert.deepEqual([armed.status, armed.body.armed], [200, true])
    const { body } = await post("/act", { kind: "click", ref: await bench.refOf("Ask") })
    assert.equal(body.dialog, undefined)
    assert.equal((await bench.call("GET", "/snapshot")).body.title, "true")
    const asked = await post("/act", { kind: "click", ref: await bench.refOf("Ask") })
    assert.equal(asked.body.dialog.type, "confirm")
    await post("/hooks/dialog", { accept: false })
  })

  test("makes plain names of all that servers suggest", () => {
    for (const [suggested, name] of [
      ["../../.bashrc", "bashrc"],
      ["C:\\Windows\\x.exe", "x.exe"],
      ["con.txt", "_con.txt"],
      ["NUL", "_NUL"],
      ["lpt9.tar.gz", "_lpt9.tar.gz"],
      ["com", "com"],
      ["console.txt", "console.txt"],
      [" .name. ", "name"],
      ['a<b>c:d"e|f?g*h', "a_b_c_d_e_f_g_h"],
      ["a\u0000b\u009fc\u200bd", "a_b_c_d"],
      ["a\tb\u2003c", "a_b c"],
      ["folder/", "download"],
      ["n".repeat(150), "n".repeat(150)],
      ["n".repeat(151), "n".repeat(150)],
      [`${"n".repeat(200)}.longextension`, "n".repeat(150)],
      [`.${"n".repeat(200)}`, "n".repeat(150)],
      [`${"n".repeat(5_000)}.pdf`, `${"n".repeat(146)}.pdf`],
      ["a\u202Ecod.exe", "a_cod.exe"],
      ["...", "download"],
      [`${"n".repeat(300)}.pdf`, `${"n".repeat(146)}.pdf`],
      ["Bericht für März.pdf", "Bericht für März.pdf"],
    ])
      assert.equal(safeName(suggested as string), name)
  })
})
