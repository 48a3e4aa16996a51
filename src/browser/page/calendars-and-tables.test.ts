// Calendars, boards, tables and charts that scripts draw: what is worked there by refs, each class in its smallest form.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"

let bench: BrowserBench
let shown = ""
const server = createServer((_request, response) => {
  response.setHeader("content-type", "text/html; charset=utf-8")
  response.end(`<!doctype html><html lang=en><title>board</title>${shown}`)
})

before(async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  bench = await startBrowserBench()
})

after(async () => {
  await bench.stop()
  server.closeAllConnections()
  server.close()
})

const show = async (html: string) => {
  shown = html
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const reply = await bench.call("POST", "/navigate", { url })
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
}
const done = async (body: object) => {
  const reply = await bench.call("POST", "/act", body)
  assert.equal(reply.status, 200, JSON.stringify(reply.body))
  return reply.body
}
const evaluate = async (fn: string) => (await done({ kind: "evaluate", fn })).result as unknown
const look = async (query = "?mode=efficient") => (await bench.call("GET", `/snapshot${query}`)).body.snapshot as string
/** The ref of the first line that fits. */
const refOf = async (line: RegExp, query?: string) => {
  const text = await look(query)
  const ref = /\[ref=(\w+)\]/.exec(text.split("\n").find((each) => line.test(each)) ?? "")?.[1]
  assert.ok(ref, `no ref for ${line} in:\n${text}`)
  return ref
}

test("takes a picture of the view without the page having another size meanwhile", async () => {
  await show(`<p style="height:3000px">Long</p><script>
    window.sizes = []
    addEventListener("resize", () => sizes.push(innerWidth))
  </script>`)
  assert.equal((await bench.call("POST", "/screenshot", {})).status, 200)
  // A page hears of another size with the next frame.
  await evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
  assert.deepEqual(await evaluate("() => window.sizes"), [])
})

test("begins a drag within what is taken, also where the page lets it begin some pixels later", async () => {
  const day = (number: number) => `<td style="width:100px;height:60px;text-align:right"><button>${number}</button></td>`
  await show(`<table><tr>${[11, 12, 13, 14].map(day).join("")}</tr></table><script>
    let down, first
    const at = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY).closest("td")?.textContent
    addEventListener("mousedown", (event) => (down = event))
    addEventListener("mousemove", (event) => { if (down && Math.abs(event.clientX - down.clientX) > 5) first ??= at(event) })
    addEventListener("mouseup", (event) => { window.chosen = first + " to " + at(event) })
  </script>`)
  await done({ kind: "drag", startRef: await refOf(/"11"/), endRef: await refOf(/"14"/) })
  assert.equal(await evaluate("() => window.chosen"), "11 to 14")
})

test("finds with the first snapshot also what listens far behind the beginning of a page", async () => {
  // The page's own clock: each time that it is asked a millisecond has gone, which is after every 16th element.
  const boxes = Array.from({ length: 80 }, (_, at) => `<div><b>${at}</b></div>`).join("")
  await show(`<script>let ms = 0; performance.now = () => (ms += 1)</script>${boxes}<div id=last>Freeze panes</div>
    <script>document.getElementById("last").addEventListener("click", () => {})</script>`)
  assert.match(await look(), /"Freeze panes" \[ref=/)
})

test("tells pictures without names by what they show under the mouse, and cells by the mark in them", async () => {
  const icon = '<div class="icon icon-img" style="width:20px;height:20px"></div>'
  const cell = (mark: string) =>
    `<td role=gridcell><div class=box><span class="frame ${mark}" style="display:block;width:18px;height:18px"></span></div></td>`
  await show(`<div class="tool-button" data-tooltip="Font bold (Ctrl+B)" tabindex=0 style="width:24px">${icon}</div>
    <div data-tooltip="Text colour" style="width:30px"><div class=drop><div class="drop-head" tabindex=0>${icon}</div></div></div>
    <div title="All of the tools"><div class="drop-foot" tabindex=0 style="width:24px">${icon}</div></div>
    <button title="Zoom in">+</button><button title="Next">Next</button>
    <table role=grid><tr role=row><td role=gridcell>Ann</td>${cell("is-on")}</tr><tr role=row><td role=gridcell>Bob</td>${cell("is-off")}</tr></table>`)
  const text = await look()
  for (const line of [
    /^- generic \[ref=\w+\] \[hint="Font bold \(Ctrl\+B\)"\]$/m,
    /^- generic \[ref=\w+\] (\[nth=\d\] )?\[hint="Text colour"\]$/m,
    /^- generic \[ref=\w+\] (\[nth=\d\] )?\[hint=".*drop-foot.*"\]$/m,
    /^- button "\+" \[ref=\w+\] \[hint="Zoom in"\]$/m,
    /^- button "Next" \[ref=\w+\]$/m,
    /^- gridcell \[ref=\w+\] .*\[hint=".*is-on.*"\]$/m,
    /^- gridcell \[ref=\w+\] .*\[hint=".*is-off.*"\]$/m,
  ])
    assert.match(text, line)
})

test("lists once a button and the box around it that shows the same words under the mouse", async () => {
  await show(`<div id=add title="Add"><button>Add</button></div><div id=both title="Open"><button>More</button></div>
    <script>for (const id of ["add", "both"]) document.getElementById(id).addEventListener("click", () => {})</script>`)
  const text = await look()
  assert.equal(text.match(/Add/g)?.length, 1, text)
  assert.match(text, /- generic "Open" \[ref=/)
  assert.match(text, /- button "More" \[ref=/)
})

test("lists a picture that is made of boxes without words once, and clicks one of them", async () => {
  const line = (place: string) =>
    `<div class=line style="position:absolute;${place};width:60px;height:10px;cursor:pointer"></div>`
  await show(`<div role=img aria-label="Link from Design to Build">${line("left:100px;top:40px")}${line("left:150px;top:80px")}${line("left:200px;top:120px")}</div>
    <div role=img aria-label="Floor">${line("left:100px;top:240px")}<button style="margin-top:300px">Desk</button></div>
    <script>document.body.addEventListener("click", ({ target }) => (window.hit = target.parentElement.ariaLabel))</script>`)
  const text = await look()
  assert.match(text, /^- img "Link from Design to Build" \[ref=\w+\]$/m)
  assert.match(text, /^- button "Desk" \[ref=/m)
  assert.equal(text.match(/^- generic /gm)?.length, 1, text)
  await done({ kind: "click", ref: await refOf(/Link from/) })
  assert.equal(await evaluate("() => window.hit"), "Link from Design to Build")
})

test("shows the words between two groups of buttons, where a month or a page is told", async () => {
  await show(`<div><span><button>Back</button><button>Next</button></span><span>March 2026</span>
    <span><button>Month</button><button>Week</button></span></div>
    <div><div><b role=button tabindex=0>9:00 Call</b></div><div><b role=button tabindex=0>10:00 Talk</b></div><div><b role=button tabindex=0>11:00 Walk</b></div></div>
    <div><p><button>Save</button></p><p>Some words of the page</p><div><button>Close</button></div></div>`)
  const names = (await look()).split("\n").map((line) => line.replace(/ \[ref=\w+\]/, ""))
  assert.deepEqual(names, [
    '- button "Back"',
    '- button "Next"',
    "- text: March 2026",
    '- button "Month"',
    '- button "Week"',
    '- button "9:00 Call"',
    '- button "10:00 Talk"',
    '- button "11:00 Walk"',
    '- button "Save"',
    '- button "Close"',
  ])
})

test("lists the signs in the headers and rows of a table that listens as a whole", async () => {
  const sign = (of: string) =>
    `<i class="icon ${of}" aria-hidden=true style="display:inline-block;width:14px;height:14px"></i>`
  const row = (name: string, open: string) =>
    `<tr role=row ${open}><td role=gridcell>${sign("tree-open")}${name}</td><td role=gridcell>${sign("tree-line")}4 days</td></tr>`
  await show(`<table role=treegrid><tr role=row><th role=columnheader tabindex=-1 style="cursor:pointer">Task${sign("sort-none")}${sign("filter-menu")}</th><th role=columnheader>Length</th></tr>
    ${row("Design", "aria-expanded=true")}${row("Launch", "")}</table>
    <script>document.querySelector("table").addEventListener("click", ({ target }) => (window.hit = target.className))</script>`)
  const text = await look()
  assert.match(text, /^- columnheader "Task" .*\n- generic \[ref=\w+\] .*filter-menu.*\n- columnheader "Length"/m)
  assert.match(text, /^- gridcell "Design" .*\n- generic \[ref=\w+\] .*\[expanded\] .*\n- gridcell "4 days"/m)
  assert.match(text, /^- gridcell "Launch" .*\n- gridcell "4 days"/m)
  await done({ kind: "click", ref: await refOf(/filter-menu/) })
  assert.equal(await evaluate("() => window.hit"), "icon filter-menu")
})

test("finds what listens behind a closed palette of many parts, and these next", async () => {
  const parts = Array.from({ length: 250 }, (_, at) => `<b class=part>${at + 1}</b>`).join("")
  await show(`<script>performance.now = () => 0</script><div id=palette hidden>${parts}</div><div class=part>Merge cells</div>
    <script>for (const part of document.querySelectorAll(".part")) part.addEventListener("click", () => {})</script>`)
  assert.match(await look(), /"Merge cells" \[ref=/)
  await look("?interactive=true")
  await look("?interactive=true")
  await evaluate("() => { document.getElementById('palette').hidden = false }")
  assert.match(await look("?interactive=true"), /"250" \[ref=/)
})

test("lists once a cell that shows nothing but one control in its middle", async () => {
  await show(`<style>td { padding: 4px } b { display: block; width: 20px; height: 20px; cursor: pointer }</style>
    <table role=grid><tr role=row><td role=gridcell tabindex=-1><input type=checkbox aria-label="Choose Ann"></td><td role=gridcell>Ann</td>
    <td role=gridcell tabindex=-1 style="width:200px"><b style="background:#f00"></b></td></tr></table>
    <table><tr><td tabindex=0 aria-label=""><b style="background:#00f"></b></td></tr></table>
    <script>for (const cell of document.querySelectorAll("td")) cell.addEventListener("click", () => {})</script>`)
  const lines = (await look()).split("\n").map((line) => line.replace(/ \[ref=\w+\]/, ""))
  assert.deepEqual(lines, [
    '- checkbox "Choose Ann"',
    '- gridcell "Ann"',
    // A handle in a corner is not all of the cell.
    '- gridcell [hint="red"]',
    '- generic [hint="red"]',
    '- generic [nth=1] [hint="blue"]',
  ])
})

test("tells columns that are one cell each by their headers", async () => {
  const day =
    '<td role=gridcell tabindex=0 style="width:100px;height:960px"><div class="lines" style="height:940px"></div></td>'
  await show(`<table role=grid><tr role=row><th></th><th role=columnheader aria-label="9 March">Mon</th><th role=columnheader aria-label="10 March">Tue</th></tr>
    <tr role=row><th>Hours</th>${day}${day}</tr><tr role=row><th>Notes</th><td role=gridcell tabindex=0></td><td></td></tr></table>`)
  const text = await look()
  assert.match(
    text,
    /^- gridcell \[ref=\w+\] .*\[hint="9 March"\]\n- gridcell \[ref=\w+\] .*\[hint="10 March"\]\n- gridcell \[ref=\w+\]( \(of \w+\))?( \[nth=\d\])?$/m,
  )
})

test("lists once a box and the field in it that both call themselves the list to choose from", async () => {
  await show(`<span id=box role=combobox tabindex=0 aria-label="Country" aria-expanded=false><input role=combobox tabindex=-1 readonly aria-label="Country" value="Brazil"><i>▾</i></span>
    <script>const box = document.getElementById("box")
    box.addEventListener("mousedown", () => box.setAttribute("aria-expanded", "true"))</script>`)
  assert.match(await look(), /^- combobox "Country" \[ref=\w+\] \[collapsed\]: Brazil$/)
  await done({ kind: "click", ref: await refOf(/Country/) })
  assert.match(await look(), /^- combobox "Country" \[ref=\w+\] \[expanded\]: Brazil$/)
})
