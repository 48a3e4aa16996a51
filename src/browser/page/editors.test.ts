// Editors of formatted text, as libraries make them: tools around a text that only the editor knows.
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
  await bench.call("POST", "/navigate", { url: `${pages.url}/editors.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const look = async (mode: "efficient" | "full" = "efficient") =>
  (await bench.call("GET", `/snapshot?mode=${mode}`)).body.snapshot as string

async function refOf(line: RegExp): Promise<string> {
  const text = await look()
  const ref = /\[ref=(\w+)\]/.exec(text.split("\n").find((each) => line.test(each)) ?? "")?.[1]
  assert.ok(ref, `no ref for ${line} in:\n${text}`)
  return ref
}

async function act(request: object): Promise<void> {
  const { status, body } = await bench.call("POST", "/act", request)
  assert.equal(status, 200, JSON.stringify(body))
}

const read = async (expression: string) =>
  (await bench.call("POST", "/act", { kind: "evaluate", fn: `() => ${expression}` })).body.result as unknown
const texts = () => read("texts.join('|')")

test("takes neither the tools of an editor nor the state below it for what it is called", async () => {
  const text = await look()
  assert.match(text, /^- textbox \[ref=\w+\]$/m)
  assert.match(text, /^- textbox \[ref=\w+\] \[nth=1\] \[hint="Tell a story"\]$/m)
})

test("does not say once more as a heading what a control says that is drawn as one", async () => {
  await act({ kind: "click", ref: await refOf(/"Style"/) })
  const text = await look()
  assert.match(text, /^- button "Title"/m)
  assert.match(text, /^- listitem "h2".*: Subtitle$/m)
  assert.doesNotMatch(text, /heading "(Title|Subtitle)"/)
  assert.match(text, /^- heading "A heading of the page"/m)
})

test("replaces and goes on with the text of an editor that knows places in words alone", async () => {
  const ref = await refOf(/"Blocks"/)
  await act({ kind: "type", ref, text: " more", mode: "append" })
  assert.equal(await texts(), "one|two|three more")
  await act({ kind: "type", ref, text: "new" })
  assert.equal(await texts(), "new")
})

test("marks words of an editor and of a field, over what they are made of, and says where there are none", async () => {
  const ref = await refOf(/"Letter"/)
  await act({ kind: "select", ref, values: ["green tea"] })
  await act({ kind: "click", ref: await refOf(/button "Bold"/) })
  assert.equal(await read("letter.querySelector('b').textContent"), "green\u00a0tea")
  await act({ kind: "select", ref: await refOf(/"Plain words"/), values: ["green"] })
  assert.equal(await read("getSelection().toString()"), "green")
  const { status, body } = await bench.call("POST", "/act", { kind: "select", ref, values: ["coffee"] })
  assert.deepEqual([status, body.error.message], [400, `The text of ref ${ref.slice(1)} does not hold 'coffee'`])
})

test("tells what has changed since the last snapshot of a kind, whatever other kind was looked at in between", async () => {
  const ref = await refOf(/"Plain words"/)
  await look("full")
  const request = { kind: "type", ref, text: "Buy coffee", snapshot: "diff" }
  const { snapshot } = (await bench.call("POST", "/act", request)).body
  assert.deepEqual(
    (snapshot as string).split("\n").map((line) => line.replace(/ref=\w+/, "ref")),
    ['-- textbox "Plain words" [ref]: Buy green tea', '+- textbox "Plain words" [ref]: Buy coffee'],
  )
})

test("lists the entries of a menu with icons that one handler works, when it is open", async () => {
  const listed = async () => {
    const text = await look()
    return /"Quotation"/.test(text) ? text : undefined
  }
  // A look for listeners takes a few milliseconds of each snapshot.
  for (let looks = 0; looks < 5; looks += 1) await look()
  assert.doesNotMatch(await look(), /Filter|Quotation/)
  await act({ kind: "click", ref: await refOf(/"Add a block"/) })
  for (let looks = 0; looks < 5 && !(await listed()); looks += 1);
  const text = await look()
  assert.match(
    text,
    /textbox "Filter" \[ref=\w+\]\n- generic "Plain text" \[ref=\w+\]\n- generic "Quotation" \[ref=\w+\]\n- button/,
  )
  await act({ kind: "click", ref: await refOf(/"Quotation"/) })
  assert.match(await look(), /^- status.*: Quotation;$/m)
})

test("does not take a piece of the text for all that an editor of code holds", async () => {
  for (const mode of ["efficient", "full"] as const)
    assert.doesNotMatch(await look(mode), /textbox "Code".*: last line/)
  assert.match(await look("full"), /first line last line/)
})
