// Boards, as libraries for dragging make them: tiles that look at how far they lie over each other, lists without entries.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/boards.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const look = async (mode: "efficient" | "full") =>
  (await bench.call("GET", `/snapshot?mode=${mode}`)).body.snapshot as string

async function refOf(line: RegExp, mode: "efficient" | "full" = "efficient"): Promise<string> {
  const text = await look(mode)
  const ref = /\[ref=(\w+)\]/.exec(text.split("\n").find((each) => line.test(each)) ?? "")?.[1]
  assert.ok(ref, `no ref for ${line} in:\n${text}`)
  return ref
}

async function drag(from: RegExp, to: RegExp): Promise<void> {
  const [startRef, endRef] = [await refOf(from), await refOf(to)]
  const { status, body } = await bench.call("POST", "/act", { kind: "drag", startRef, endRef })
  assert.equal(status, 200, JSON.stringify(body))
}

test("lays a tile that is held by its words over another of its size", async () => {
  await drag(/"Bob"/, /"Ann"/)
  assert.match(await look("efficient"), /status.*: Bob on Ann;$/m)
})

test("shows a list without entries beside those whose entries can be dragged, and drops there", async () => {
  const empty = /^- generic \[ref=\w+\] \[empty\]( \[hint="list"\])?$/gm
  for (const mode of ["efficient", "full"] as const) assert.equal((await look(mode)).match(empty)?.length, 1, mode)
  await drag(/"Paint wall"/, /\[empty\]/)
  await drag(/"Fix lamp"/, /"Paint wall"/)
  assert.match(
    await look("efficient"),
    /"To do".*\n- generic \[ref=\w+\] \[empty\].*\n- heading "Done".*\n- generic "Paint wall"/,
  )
})

test("tells the handles around a thing by the way in which they are pulled", async () => {
  const text = await look("efficient")
  for (const way of ["nw-resize", "se-resize"]) assert.match(text, new RegExp(`^- generic .*\\[hint="[^"]*${way}`, "m"))
})
