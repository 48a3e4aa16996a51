// Controls that have no name, or whose handlers stand elsewhere: they have refs, and a hint at what they may be.
import assert from "node:assert/strict"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../../test/support/pages-server.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../../test/fixtures/pages") })
  bench = await startBrowserBench()
  await bench.call("POST", "/navigate", { url: `${pages.url}/unnamed.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const look = async (mode: "efficient" | "full") =>
  ((await bench.call("GET", `/snapshot?mode=${mode}`)).body.snapshot as string).split("\n")

async function click(line: RegExp, mode: "efficient" | "full" = "efficient"): Promise<void> {
  const lines = await look(mode)
  const ref = /\[ref=(\w+)\]/.exec(lines.find((each) => line.test(each)) ?? "")?.[1]
  assert.ok(ref, `no ref for ${line} in:\n${lines.join("\n")}`)
  const { status, body } = await bench.call("POST", "/act", { kind: "click", ref })
  assert.equal(status, 200, JSON.stringify(body))
}

test("hints at what a control without a name is: the words beside a field, what its makers call a picture", async () => {
  const lines = await look("efficient")
  for (const line of [
    /^- generic .*\[hint=".*nav-next"\]$/,
    /^- button .*\[hint="icon-trash"\]$/,
    /^- button .*\[hint="close"\]$/,
    /\[hint=".*star-filled.*"\]$/,
    /^- textbox .*\[hint="Street"\]$/,
    /^- textbox .*\[hint="Town"\]$/,
    /^- combobox .*\[hint="Toppings"\]$/,
    /^- checkbox .*\[hint="Keep me signed in"\]$/,
    /^- radio .*\[hint="Small letters"\]$/,
    /^- radio .*\[hint="huge"\]$/,
    // What stands beside it are the words of another control.
    /^- switch \[ref=\w+\]$/,
  ])
    assert.ok(
      lines.some((each) => line.test(each)),
      `${line} in:\n${lines.join("\n")}`,
    )
  assert.ok(!lines.some((each) => /1x2y3/.test(each)), "no parts that tools have made up")
})

test("gives fields and buttons a ref whatever role the page has put on them", async () => {
  for (const mode of ["efficient", "full"] as const) {
    const text = (await look(mode)).join("\n")
    assert.match(text, /- textbox "Foreign role" \[ref=\w+\]: 3/)
    assert.match(text, /- button "Not plain" \[ref=\w+\]/)
    assert.match(text, /- switch "Quiet" \[ref=\w+\] \[checked\]/)
  }
})

test("gives refs to the words and parts of a drawing that listens, and to what a framework handles at its root", async () => {
  await click(/"South"/)
  await click(/"North"/, "full")
  await click(/\[hint="circle black"\]$/)
  await click(/"Kept at the element"/)
  const { body } = await bench.call("POST", "/act", { kind: "evaluate", fn: "() => done.textContent" })
  assert.equal(body.result, "South;North;dot;South;react;")
  const text = (await look("efficient")).join("\n")
  assert.doesNotMatch(text, /"Only words"/)
  assert.match(text, /^- paragraph "Put cards here" \[ref=\w+\]$/m)
})

test("tells boxes and parts of drawings without words by their looks, half hours by their hour, and works them", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/looks.html` })
  // A look for listeners takes a few milliseconds of each snapshot.
  for (let looks = 0; looks < 5 && !(await look("efficient")).some((each) => /Marked/.test(each)); looks += 1);
  await click(/^- generic .*\[hint="polygon lime"\]$/)
  await click(/^- generic .*\[hint="rect black"\]$/)
  await click(/^- generic .*\[hint="ellipse blue"\]$/)
  await click(/"Main words"/)
  await click(/"Marked words"/)
  const lines = await look("efficient")
  for (const line of [/\[hint="swatch red"\]$/, /\[hint="swatch #1f5fae"\]$/, /\[hint="swatch"\]$/])
    assert.equal(lines.filter((each) => line.test(each)).length, 1, `${line} in:\n${lines.join("\n")}`)
  assert.deepEqual(
    lines.flatMap((each) => /\(of (\w+)\) \[hint="slot"\]/.exec(each)?.[1] ?? []),
    ["9am", "9am", "10am", "10am"],
  )
  await click(/\(of 10am\)/)
  const graph = /\[ref=(\w+)\] \[120x80\]/.exec((await look("full")).join("\n"))?.[1]
  await bench.call("POST", "/act", { kind: "hover", ref: graph, x: 60, y: 20 })
  const said = async () => (await bench.call("POST", "/act", { kind: "evaluate", fn: "() => done.textContent" })).body
  assert.equal((await said()).result, "polygon;rect;ellipse;main;mark;slot 2;over 60,20;")
  await bench.call("POST", "/act", { kind: "evaluate", fn: "() => { done.textContent = '' }" })
  const refOf = (line: RegExp) => /\[ref=(\w+)\]/.exec(lines.find((each) => line.test(each)) ?? "")?.[1]
  // What is put somewhere goes to the middle, not onto the words.
  await bench.call("POST", "/act", { kind: "drag", startRef: refOf(/"s"/), endRef: refOf(/"L"/) })
  await bench.call("POST", "/act", { kind: "select", ref: refOf(/^- combobox/), values: ["long"] })
  for (const slowly of [false, true]) {
    const typing = { kind: "type", ref: refOf(/"Terminal"/), text: "ls -l", slowly, submit: true }
    assert.equal((await bench.call("POST", "/act", typing)).status, 200)
  }
  assert.equal((await said()).result, "put 50,50;long;ran ls -l;ran ls -lls -l;")
  assert.ok(lines.some((each) => each.endsWith('[hint="post"]')))
  assert.ok(lines.some((each) => /^- menuitem "Export" \[ref=\w+\] \[haspopup\]$/.test(each)))
})

test("finds a box that only its cursor makes a control, wherever the page says so", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/controls.html?n=2` })
  const run = (code: string) => bench.call("POST", "/act", { kind: "evaluate", fn: `() => { ${code} }` })
  const isListed = async () =>
    /generic "Plain box"/.test((await bench.call("GET", "/snapshot?mode=efficient")).body.snapshot)
  await run('document.body.insertAdjacentHTML("beforeend", "<style></style><div id=box>Plain box</div>")')
  assert.equal(await isListed(), false)
  await run('box.style.cursor = "pointer"')
  assert.equal(await isListed(), true, "by its own style")
  await run('box.removeAttribute("style")')
  assert.equal(await isListed(), false)
  // A script that puts rules into a sheet changes nothing in the document.
  await run('document.styleSheets[0].insertRule("@media all { #box { cursor: pointer } }"); box.title = ""')
  assert.equal(await isListed(), true, "by a rule that came later")
})

test("asks of boxes without attributes only what is in them, and lists nothing that nobody sees", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/plain-boxes.html` })
  const { snapshot } = (await bench.call("GET", "/snapshot?interactive=true")).body
  const listed = snapshot.split("\n").map((line: string) => line.replace(/ \[.*$/, ""))
  assert.deepEqual(listed, ['- button "Shown"', '- button "More"', '- button "In a closed root"'])
})
