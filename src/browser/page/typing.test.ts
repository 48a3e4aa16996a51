// What `type` promises: the field holds the text, in its own form, or the caller is told what it holds.
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
  await bench.call("POST", "/navigate", { url: `${pages.url}/fields.html` })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const type = async (name: string, text: string, more: object = {}) =>
  (await bench.call("POST", "/act", { kind: "type", ref: await bench.refOf(name), text, ...more })).body
const line = async (name: string) =>
  ((await bench.call("GET", "/snapshot")).body.snapshot as string)
    .split("\n")
    .find((each) => each.includes(`"${name}"`))

test("takes the form that a field gives to the text", async () => {
  for (const [name, text, held] of [
    ["Plain", "Grüße 🦊", "Grüße 🦊"],
    ["Capitals", "vie-18", "VIE-18"],
    ["Phone", "6641234567", "(664) 123-4567"],
    ["Digits only", "42", "42"],
    ["Abroad", "123456", "+7 (123) 456"],
    ["Abroad", "98", "+7 (98_) ___"],
  ] as const) {
    assert.equal((await type(name, text)).ok, true, name)
    assert.ok((await line(name))?.endsWith(`: ${held}`), await line(name))
  }
})

test("types key by key where only keys are taken, and into the field that comes in place of one", async () => {
  assert.equal((await type("Keys only", "new")).ok, true)
  assert.match((await line("Keys only")) ?? "", /: new$/)
  assert.equal((await type("Amount", "75")).ok, true)
  assert.match((await line("Amount")) ?? "", /: 75$/)
})

test("replaces what an editor draws beside the field in which it catches keys, by that field and by its text", async () => {
  const drawn = async () => /code.*: (.+)$/m.exec((await bench.call("GET", "/snapshot")).body.snapshot)
  assert.equal((await type("Code", "code one")).ok, true)
  assert.equal((await drawn())?.[1], "code one")
  const text: string = (await bench.call("GET", "/snapshot")).body.snapshot
  const ref = /\[ref=(\d+)\]: code one$/m.exec(text)?.[1]
  const { body } = await bench.call("POST", "/act", { kind: "type", ref, text: "code two" })
  assert.equal(body.ok, true, JSON.stringify(body))
  assert.equal((await drawn())?.[1], "code two")
})

test("says what the field holds when it does not hold the text", async () => {
  for (const [name, text, held] of [
    ["Short", "abcdef", "abc"],
    ["Digits only", "seven", ""],
    ["Back again", "other", "kept"],
  ] as const) {
    const { error } = await type(name, text)
    assert.equal(error?.code, "text-refused", name)
    assert.ok(error.message.includes(`holds ${JSON.stringify(held)}`), error.message)
  }
})

test("is content with text that the page has put elsewhere", async () => {
  assert.equal((await type("Tags", "red,")).ok, true)
  assert.match((await bench.call("GET", "/snapshot")).body.snapshot, /red,/)
})

test("is content with keys that a terminal has taken, whatever its field keeps of them", async () => {
  await bench.call("POST", "/act", {
    kind: "evaluate",
    fn: `() => {
      document.body.insertAdjacentHTML("beforeend", '<div><textarea aria-label="Console" style="opacity: 0"></textarea><p id="painted"></p></div>')
      const field = document.querySelector("[aria-label=Console]")
      field.addEventListener("keydown", (event) => {
        if (event.key.length > 1) return
        painted.textContent += event.key
        event.stopPropagation()
        if (event.key !== " ") event.preventDefault()
      })
    }`,
  })
  assert.deepEqual((await type("Console", "count files")).error, undefined)
  assert.match((await bench.call("GET", "/snapshot")).body.snapshot, /: count files$/m)
})

test("brings a slider that is made of plain boxes to a number, by keys, and says where it stands instead", async () => {
  for (const [name, text] of [
    ["Volume", "75"],
    ["Volume", "100"],
    ["Volume", "0"],
    ["Year", "2026"],
  ] as const) {
    const body = await type(name, text)
    assert.equal(body.ok, true, JSON.stringify(body))
    assert.ok((await line(name))?.endsWith(`: ${text}`), await line(name))
  }
  const refused = async (name: string, text: string) => {
    const { error } = await type(name, text)
    return `${error?.code}: ${error?.message}`
  }
  assert.match(await refused("Volume", "12"), /^text-refused: The slider of ref \d+ stands at 10, not at 12$/)
  assert.match(await refused("Volume", "13"), /^text-refused: The slider of ref \d+ stands at 15, not at 13$/)
  assert.match(await refused("Stuck", "5"), /^text-refused: The slider of ref \d+ stands at 3, not at 5$/)
  assert.match(await refused("Volume", "loud"), /^bad-request: .* takes a number from 0 to 100, not "loud"$/)
  assert.match(await refused("Volume", "101"), /^bad-request: /)
  assert.equal((await type("Volume", "5", { mode: "append" })).error?.code, "bad-request")
})

test("is content with a code that a row of fields has spread over itself, and not with a part of it", async () => {
  const body = await type("Digit 1", "4711")
  assert.equal(body.ok, true, JSON.stringify(body))
  for (const [at, digit] of [..."4711"].entries())
    assert.ok((await line(`Digit ${at + 1}`))?.endsWith(`: ${digit}`), await line(`Digit ${at + 1}`))
  assert.equal((await type("Digit 3", "9876")).error?.code, "text-refused")
})

test("replaces, puts behind, and puts where the text cursor is", async () => {
  for (const [name, old] of [
    ["Notes", "first line"],
    ["Rich", "first words"],
  ] as const) {
    assert.equal((await type(name, " and more", { mode: "append" })).ok, true)
    assert.ok((await line(name))?.endsWith(`: ${old} and more`), await line(name))
    await bench.call("POST", "/act", { kind: "press", key: "Home" })
    assert.equal((await type(name, "At last: ", { mode: "caret" })).ok, true)
    assert.ok((await line(name))?.endsWith(`: At last: ${old} and more`), await line(name))
    assert.equal((await type(name, "gone")).ok, true)
    assert.ok((await line(name))?.endsWith(": gone"), await line(name))
  }
})

test("an answer that the page asks for a task after the Enter is there when the typing is told as done", async () => {
  const fn = `() => {
    document.body.insertAdjacentHTML("afterbegin", '<input id="ask" aria-label="Ask"><output id="told"></output>')
    const later = new MessageChannel()
    later.port1.onmessage = async ({ data }) => {
      const answers = Array.from({ length: 6 }, () => fetch(location.href).then((answer) => answer.text()))
      await Promise.all(answers)
      told.textContent = data
    }
    ask.onkeydown = ({ key }) => key === "Enter" && later.port2.postMessage("told " + ask.value)
  }`
  assert.equal((await bench.call("POST", "/act", { kind: "evaluate", fn })).body.ok, true)
  for (const word of ["one", "two"]) {
    assert.equal((await type("Ask", word, { submit: true })).ok, true)
    assert.ok((await bench.call("GET", "/snapshot")).body.snapshot.includes(`told ${word}`), word)
  }
})

test("a key is for what the click before it gives the focus to with the next frame", async () => {
  const fn = `() => {
    document.body.insertAdjacentHTML("afterbegin", '<button id="next">Go on</button><input id="late" aria-label="Late">')
    next.onclick = () => { document.activeElement?.blur(); requestAnimationFrame(() => late.focus()) }
  }`
  assert.equal((await bench.call("POST", "/act", { kind: "evaluate", fn })).body.ok, true)
  const ref = await bench.refOf("Go on")
  for (let count = 0; count < 15; count += 1) {
    await bench.call("POST", "/act", { kind: "click", ref })
    await bench.call("POST", "/act", { kind: "press", key: "a" })
  }
  assert.equal(
    (await bench.call("POST", "/act", { kind: "evaluate", fn: "() => late.value" })).body.result,
    "a".repeat(15),
  )
})

const act = (body: object) => bench.call("POST", "/act", body)

test("tells what a field holds that has not taken all of the text, unless nobody is to see it", async () => {
  await bench.call("POST", "/navigate", { url: `${pages.url}/sent.html` })
  const fields = "<input aria-label=Short maxlength=3><input aria-label=Word type=password maxlength=3>"
  await act({ kind: "evaluate", fn: `() => void (document.body.innerHTML = "${fields}")` })
  for (const [name, held] of [
    ["Short", '"abc"'],
    ["Word", "something else"],
  ] as const) {
    const { error } = await type(name, "abcdef")
    assert.equal(error.code, "text-refused")
    assert.match(error.message, new RegExp(`holds ${held} instead of what was typed$`))
    assert.match(error.hint, /a limit or a form of its own/)
  }
})

test("holds a key for as long as it is asked to, and says what is no key", async () => {
  const fn = `() => {
    globalThis.told = []
    for (const type of ["keydown", "keyup"]) addEventListener(type, ({ key, timeStamp }) => told.push([type, key, timeStamp]))
  }`
  await act({ kind: "evaluate", fn })
  await act({ kind: "press", key: "ArrowLeft", delayMs: 150 })
  const [down, up] = (await act({ kind: "evaluate", fn: "told" })).body.result
  assert.deepEqual([down[0], down[1], up[0], up[1]], ["keydown", "ArrowLeft", "keyup", "ArrowLeft"])
  assert.ok(up[2] - down[2] >= 100, `${up[2] - down[2]} ms`)
  const { code, message, hint } = (await act({ kind: "press", key: "Hyper+a" })).body.error
  assert.deepEqual([code, message], ["bad-request", "'Hyper+a' is not a key"])
  assert.match(hint, /Enter, Tab, Escape, ArrowDown/)
})
