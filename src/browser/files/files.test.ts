// Uploads, downloads and armed answers against a real page, and the attacks on their paths.
import assert from "node:assert/strict"
import { link, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { safeName } from "./safe-path.ts"

let bench: BrowserBench
let pages: PagesServer
let downloads: string
let uploads: string

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
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

beforeEach(async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/files.html` })
})

const post = (path: string, body: object) => bench.call("POST", path, body)
const waitFor = async (text: string) => {
  const { status, body } = await post("/act", { kind: "wait", text, timeoutMs: 4_000 })
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

test("waits for the next download, under a plain name whatever the server suggests", async () => {
  const ref = await bench.refOf("Get evil")
  const first = post("/wait/download", { timeoutMs: 8_000 })
  const second = post("/wait/download", { timeoutMs: 8_000 })
  const superseded = await first
  assert.deepEqual([superseded.status, superseded.body.error.code], [409, "conflict"])
  await post("/act", { kind: "click", ref })
  const { body } = await second
  assert.match(body.download.path, new RegExp(`^${downloads}/[\\w.-]+bashrc$`))
  assert.equal(await readFile(body.download.path, "utf8"), "evil")
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

test("gives no file but plain ones of the uploads folder, and looks again when they are used", async () => {
  await symlink("/etc/passwd", join(uploads, "soft"))
  for (const path of ["/etc/passwd", "../gateway-token", "soft", "missing", "."]) {
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
    ["a\u202Ecod.exe", "a_cod.exe"],
    ["...", "download"],
    [`${"n".repeat(300)}.pdf`, `${"n".repeat(146)}.pdf`],
    ["Bericht für März.pdf", "Bericht für März.pdf"],
  ])
    assert.equal(safeName(suggested as string), name)
})
