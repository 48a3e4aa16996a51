// Small tasks on pages without roles: a calendar of boxes, actions that are pictures, things to drag, menus behind icons.
// They are worked with the words of the short snapshot alone, as the agent's tool has it.
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
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const show = async (name: string) => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
  await bench.call("POST", "/navigate", { url: `${pages.url}/everyday.html#${name}` })
}
const look = async () => (await bench.call("GET", "/snapshot?mode=efficient")).body.snapshot as string

/** The ref of the first line that fits. */
async function refOf(line: RegExp): Promise<string> {
  const text = await look()
  const found = text.split("\n").find((each) => line.test(each))
  const ref = /\[ref=(\w+)\]/.exec(found ?? "")?.[1]
  assert.ok(ref, `no ref for ${line} in:\n${text}`)
  return ref
}

async function act(body: object): Promise<void> {
  const reply = await bench.call("POST", "/act", body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
}

const click = async (line: RegExp) => act({ kind: "click", ref: await refOf(line) })
const done = async () => {
  const reply = await bench.call("POST", "/act", {
    kind: "evaluate",
    fn: "() => document.getElementById('done').textContent",
  })
  return reply.body.result as string
}

test("picks a day of another month in a calendar of plain boxes", async () => {
  await show("picker")
  await click(/"When"/)
  await click(/"On"/)
  assert.match(await bench.call("GET", "/snapshot").then(({ body }) => body.snapshot as string), /February/)
  await click(/ "27"/)
  assert.equal(await done(), "27 February;")
})

test("works the right one of equal icons, and the mail around them", async () => {
  await show("mail")
  await click(/"Star".* of "Bob/)
  await click(/"Bin".* of "Cyd/)
  await click(/"Ada about/)
  assert.equal(await done(), "Star Bob;Bin Cyd;open Ada;")
})

test("drags a box into a target", async () => {
  await show("parcel")
  const { refs } = (await bench.call("GET", "/snapshot")).body
  assert.ok(Object.keys(refs).length > 0)
  // The target takes no clicks and has no role: it is a place below the parcel.
  const parcel = await refOf(/"Parcel"/)
  await act({ kind: "drag", startRef: parcel, endRef: parcel, endX: 90, endY: 50 })
  assert.equal(await done(), "delivered;")
})

test("puts entries in order", async () => {
  await show("order")
  await act({ kind: "drag", startRef: await refOf(/Three/), endRef: await refOf(/Two/), place: "after" })
  assert.equal(await done(), "One Two Three;")
})

test("opens the menu behind an icon and takes an entry of it", async () => {
  await show("feed")
  await click(/⋯.* of "@flo/)
  await click(/"Mute"/)
  assert.equal(await done(), "Mute flo;")
})
