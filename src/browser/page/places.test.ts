// What is done at a place: points of a box and of the view, drags between items of a list, sliders, the browser's own drag.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
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

beforeEach(async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/places.html` })
})

const act = (body: object) => bench.call("POST", "/act", body)
const done = async (body: object) => {
  const reply = await act(body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const evaluate = async (fn: string) => (await done({ kind: "evaluate", fn })).result
const log = async () =>
  ((await evaluate("() => document.getElementById('log').textContent")) as string).split(";").slice(0, -1)
/** Of an element that stands with these words, as its name or as its text. */
const refOf = async (words: string) => {
  const { snapshot } = (await bench.call("GET", "/snapshot")).body
  const line = (snapshot as string)
    .split("\n")
    .find((each) => each.endsWith(`: ${words}`) || each.includes(`"${words}"`))
  return /\[ref=(\w+)\]/.exec(line ?? "")?.[1]
}
const order = async (id: string) =>
  (await evaluate(`() => [...document.querySelectorAll("#${id} li")].map((item) => item.textContent).join()`)) as string

test("clicks, drags, hovers and turns the wheel at a point of an element's box", async () => {
  const board = await bench.refOf("Board")
  await done({ kind: "click", ref: board, x: 0.25, y: 0.5 })
  await done({ kind: "click", ref: board, x: 390, y: 10 })
  await done({ kind: "click", ref: board, x: 1, y: 1 })
  await done({ kind: "drag", startRef: board, startX: 20, startY: 30, endRef: board, endX: 200, endY: 150 })
  await done({ kind: "scroll", ref: board, x: 50, y: 60, direction: "up", pixels: 120 })
  await done({ kind: "hover", ref: board, x: 300, y: 40 })
  assert.equal(await evaluate("() => document.querySelector('canvas').dataset.over"), "300,40")
  assert.deepEqual(await log(), [
    "Board click 100,100",
    "Board click 390,10",
    "Board click 400,200",
    "Board drag 20,30 to 200,150",
    "Board wheel 50,60 0,-120",
  ])
})

test("brings a point into view first, and refuses what is covered or out of view", async () => {
  const far = await bench.refOf("Far board")
  await done({ kind: "click", ref: far, x: 30, y: 290 })
  assert.deepEqual(await log(), ["Far board click 30,290"])
  await evaluate(
    "() => { const veil = document.createElement('div'); veil.id = 'veil'; veil.style = 'position: fixed; inset: 0'; document.body.append(veil) }",
  )
  const covered = await act({ kind: "click", ref: far, x: 30, y: 290 })
  assert.equal(covered.body.error.code, "covered")
  const outside = await act({ kind: "click", x: 100_000, y: 5 })
  assert.deepEqual([outside.status, outside.body.error.code], [400, "bad-request"])
  for (const wrong of [
    { kind: "click" },
    { kind: "hover", x: 4 },
    { kind: "drag", startRef: far, place: "after", endX: 1, endY: 1 },
  ])
    assert.equal((await act(wrong)).status, 400, JSON.stringify(wrong))
})

test("clicks at the point of the view that a picture of it shows", async () => {
  const picture = (await bench.call("POST", "/screenshot", {})).body
  const { area } = picture
  assert.deepEqual([area.x, area.y], [0, 0])
  // A picture of a dense screen has more pixels than the view.
  const scale = picture.width / area.width
  await done({ kind: "click", x: 120 / scale, y: 80 / scale })
  await done({ kind: "drag", startX: 10, startY: 10, endX: 60, endY: 90 })
  assert.deepEqual(await log(), ["Board click 120,80", "Board drag 10,10 to 60,90"])
  const far = (await bench.call("POST", "/screenshot", { ref: await bench.refOf("Far board") })).body
  await done({ kind: "click", x: far.area.x + 25, y: far.area.y + 35 })
  assert.equal((await log()).at(-1), "Far board click 25,35")
})

test("drops an item of a list between two others, from both sides, in columns and in rows", async () => {
  const move = async (from: string, place: string, to: string) =>
    done({ kind: "drag", startRef: await refOf(from), endRef: await refOf(to), place })
  await move("Alpha", "before", "Delta")
  assert.equal(await order("list"), "Beta,Gamma,Alpha,Delta")
  await move("Delta", "after", "Beta")
  assert.equal(await order("list"), "Beta,Delta,Gamma,Alpha")
  await move("Alpha", "before", "Beta")
  assert.equal(await order("list"), "Alpha,Beta,Delta,Gamma")
  await move("Alpha", "after", "Gamma")
  assert.equal(await order("list"), "Beta,Delta,Gamma,Alpha")
  await move("One", "before", "Three")
  assert.equal(await order("row"), "Two,One,Three")
})

test("pulls a slider's handle to a share of its track, and by so many pixels", async () => {
  const handle = await bench.refOf("Loudness")
  await done({ kind: "drag", startRef: handle, endRef: handle, endX: 100, endY: 10 })
  const { snapshot } = (await bench.call("GET", "/snapshot")).body
  assert.match(snapshot, /slider "Loudness" \[ref=\d+\]: 50/)
})

test("carries the data of the browser's own drag over the page to where it is dropped", async () => {
  await done({ kind: "drag", startRef: await bench.refOf("Paper"), endRef: await bench.refOf("Bin") })
  assert.deepEqual(await log(), ["drop words of the paper 7 text/plain+application/x-paper true", "dragend move"])
})

test("drops where the mouse has come to on a page that looks at a drag only now and then", async () => {
  await evaluate(`() => {
    document.body.insertAdjacentHTML("afterbegin", "<div id=letter role=button draggable=true>Slow letter</div><div id=parcel role=button>Slow parcel</div><div id=shelf role=button style='height: 60px'>Shelf</div>")
    let over = ""
    let due
    const look = (event) => {
      if (due === undefined) due = setTimeout(() => ((due = undefined), (over = look.last)), 30)
      look.last = event.target.id
    }
    letter.ondragstart = (event) => event.dataTransfer.setData("text/plain", "letter")
    addEventListener("dragover", (event) => (event.preventDefault(), look(event)))
    addEventListener("mousemove", look)
    const log = (words) => {
      document.getElementById("log").textContent += words + " " + over + ";"
      over = ""
    }
    addEventListener("drop", () => log("letter"))
    parcel.onmousedown = (event) => {
      event.preventDefault()
      shelf.onmouseup = () => log("parcel")
    }
  }`)
  const shelf = await bench.refOf("Shelf")
  await done({ kind: "drag", startRef: await bench.refOf("Slow letter"), endRef: shelf })
  await done({ kind: "drag", startRef: await bench.refOf("Slow parcel"), endRef: shelf })
  assert.deepEqual(await log(), ["letter shelf", "parcel shelf"])
})

test("drags to a place that no view shows together with the first, by the mouse and by the browser's own drag", async () => {
  await evaluate(`() => {
    const tall = "<div id=from1 role=button>Near parcel</div><div id=from2 role=button draggable=true>Near letter</div><div style='height: 4000px'></div><div id=goal role=button style='height: 60px'>Far shelf</div>"
    document.body.insertAdjacentHTML("afterbegin", tall)
    const log = (words) => (document.getElementById("log").textContent += words + ";")
    let held = false
    from1.onmousedown = (event) => { event.preventDefault(); held = true }
    goal.onmouseup = () => { if (held) log("parcel"); held = false }
    from2.ondragstart = (event) => event.dataTransfer.setData("text/plain", "letter")
    goal.ondragover = (event) => event.preventDefault()
    goal.ondrop = (event) => log(event.dataTransfer.getData("text/plain"))
  }`)
  const goal = await bench.refOf("Far shelf")
  await done({ kind: "drag", startRef: await bench.refOf("Near parcel"), endRef: goal })
  await done({ kind: "drag", startRef: await bench.refOf("Near letter"), endRef: goal })
  assert.deepEqual(await log(), ["parcel", "letter"])
})

test("drags with a finger on a device that has a touch screen", async () => {
  const device = await bench.call("POST", "/set/device", { name: "iPhone 13" })
  assert.equal(device.status, 200, JSON.stringify(device.body))
  try {
    await evaluate(`() => {
      const row = document.createElement("div")
      row.textContent = "Swipe me"
      row.style.cssText = "width: 300px; height: 60px; background: gold; touch-action: none"
      row.tabIndex = 0
      const said = []
      let from
      row.addEventListener("touchstart", ({ touches }) => (from = touches[0].clientX))
      row.addEventListener("touchmove", ({ touches }) => (row.dataset.by = Math.round(touches[0].clientX - from)))
      for (const type of ["touchstart", "touchend", "mousedown"]) row.addEventListener(type, () => said.push(type))
      row.addEventListener("touchend", () => (row.dataset.said = said))
      document.body.prepend(row)
    }`)
    const ref = await bench.refOf("Swipe me")
    await done({ kind: "drag", startRef: ref, startX: 250, startY: 30, endRef: ref, endX: 50, endY: 30 })
    const seen = await evaluate("() => ({ ...document.querySelector('[data-by]').dataset })")
    assert.deepEqual(seen, { by: "-200", said: "touchstart,touchend" })
  } finally {
    assert.equal((await bench.call("POST", "/set/device", { clear: true })).status, 200)
  }
})

test("leaves nothing in the hand when a drag does not come to its end", async () => {
  await evaluate(`() => {
    const paper = document.getElementById("paper")
    // Answers no move any more once it is held, until the time is up.
    document.addEventListener("pointerup", () => (document.body.dataset.up = "yes"))
    document.addEventListener("pointermove", (event) => {
      if (event.buttons !== 1 || document.body.dataset.slow) return
      document.body.dataset.slow = "yes"
      const until = performance.now() + 1500
      while (performance.now() < until);
    })
  }`)
  const [alpha, gamma] = [await refOf("Alpha"), await refOf("Gamma")]
  const { body } = await act({ kind: "drag", startRef: alpha, endRef: gamma, timeoutMs: 1_000 })
  assert.equal(body.error.code, "timeout")
  await done({ kind: "hover", ref: await refOf("Delta") })
  assert.equal(await evaluate("() => document.body.dataset.up"), "yes")
  assert.equal(await order("list"), "Alpha,Beta,Gamma,Delta")
})

/** A map of four shapes, one of which covers the middle of another; the image has a frame and lies far below. */
const mapPage = `() => {
  document.body.innerHTML = "<p style='height: 3000px'></p>" +
    "<div style='overflow: auto; height: 300px'><img src='data:image/svg+xml,<svg xmlns=\\"http://www.w3.org/2000/svg\\"/>' usemap='#world' alt='The world' width='400' height='1200' style='border: 5px solid; padding: 10px'></div>" +
    "<map name='world'><area shape='rect' coords='0,0,100,100' href='#north' alt='North'>" +
    "<area shape='circle' coords='300,60,40' href='#east' title='East'>" +
    "<area shape='poly' coords='0,300,400,300,400,310,10,310,10,700,0,700' href='#coast' alt='Coast'>" +
    "<area shape='rect' coords='20,1100,120,1190' onclick='document.title = this.alt' alt='South'></map>" +
    "<map name='unused'><area shape='rect' coords='0,0,9,9' href='#unused' alt='Unused'></map>" +
    "<p style='height: 3000px'></p>"
}`

test("lists the parts of an image map, and clicks inside their shapes", async () => {
  await evaluate(mapPage)
  const lists = [await bench.call("GET", "/snapshot?interactive=true"), await bench.call("GET", "/snapshot")]
  for (const { body } of lists) {
    for (const name of ["North", "East", "Coast"])
      assert.match(body.snapshot, new RegExp(`- link "${name}" \\[ref=`), body.snapshot)
    assert.doesNotMatch(body.snapshot, /Unused/)
  }
  for (const name of ["North", "East", "Coast"]) {
    await done({ kind: "click", ref: await refOf(name) })
    assert.equal(await evaluate("() => location.hash"), `#${name.toLowerCase()}`)
  }
  await done({ kind: "click", ref: await refOf("South") })
  assert.equal(await evaluate("() => document.title"), "South")
  // A picture of a part is one of its box, and it is brought into view as others are.
  const { area } = (await bench.call("POST", "/screenshot", { ref: await refOf("East") })).body
  assert.deepEqual([area.width, area.height], [80, 80])
  await done({ kind: "scrollIntoView", ref: await refOf("Coast") })
  assert.equal(await evaluate("() => document.querySelector('div').scrollTop > 0"), true)
  await evaluate("() => { document.querySelector('div').style.height = 'auto' }")
  // The image itself is clicked through the parts that lie over it.
  await done({ kind: "click", ref: await refOf("The world"), x: 30, y: 30 })
  assert.equal(await evaluate("() => location.hash"), "#north")
})

test("clicks no part of an image map that something lies over", async () => {
  await evaluate(mapPage)
  const ref = await refOf("North")
  await evaluate(
    "() => { const veil = document.createElement('div'); veil.id = 'veil'; veil.style = 'position: fixed; inset: 0'; document.body.append(veil) }",
  )
  const covered = await act({ kind: "click", ref })
  assert.equal(covered.body.error.code, "covered")
  assert.match(covered.body.error.message, /<div id="veil">/)
})
