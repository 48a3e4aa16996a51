// What single steps of scripts do with values, conditions and loops: nearly all of it without a look at the page.
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
  await open("orders.html")
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const run = async (steps: unknown, more: object = {}) =>
  (await bench.call("POST", "/act", { kind: "run", steps, ...more })).body
const open = (page: string) => bench.call("POST", "/navigate", { url: `${pages.url}/${page}` })

/** Which of the conditions hold. */
async function holding(conditions: readonly unknown[], values: object = {}): Promise<boolean[]> {
  const steps = conditions.map((when, at) => ({
    kind: "if",
    when,
    steps: [{ kind: "set", as: "held", to: `${at}`, add: true }],
  }))
  const answer = await run(steps, { values: { ...values, held: [] } })
  assert.equal(answer.stopped, undefined, JSON.stringify(answer))
  return conditions.map((_when, at) => answer.values.held.includes(`${at}`))
}

test("takes amounts for numbers as people write them", async () => {
  const amounts: [unknown, number][] = [
    ["1.299,00 EUR", 1299],
    ["$1,299.00", 1299],
    ["1,299", 1299],
    ["0,299", 0.299],
    ["-0.125", -0.125],
    ["4.20 EUR", 4.2],
    ["1 299", 1299],
    ["1\u00a0299,5", 1299.5],
    ["1'299.50", 1299.5],
    ["12.345.678", 12_345_678],
    ["from 12,5, or so", 12.5],
    ["-3", -3],
    [12, 12],
    [["a", "b", "c"], 3],
  ]
  const values = Object.fromEntries(amounts.map(([written], at) => [`v${at}`, written]))
  const held = await holding(
    amounts.map(([, is], at) => ({ value: `v${at}`, is })),
    values,
  )
  assert.deepEqual(
    amounts.filter((_amount, at) => !held[at]),
    [],
  )
})

test("compares values", async () => {
  const values = { five: "5", words: " Green Tea ", list: ["Ann", "Bob"] }
  const conditions: [object, boolean][] = [
    [{ value: "five", below: 5 }, false],
    [{ value: "five", below: 5.1 }, true],
    [{ value: "five", above: 5 }, false],
    [{ value: "five", above: "4.9" }, true],
    [{ value: "five", above: 4, below: 6 }, true],
    [{ value: "five", above: 4, below: 5 }, false],
    [{ value: "five", is: "5.0" }, false],
    [{ value: "words", is: "green tea" }, true],
    [{ value: "words", is: "green" }, false],
    [{ value: "words", has: " TEA " }, true],
    [{ value: "words", has: "coffee" }, false],
    [{ value: "list", has: "bob" }, true],
    [{ value: "list", is: 2 }, true],
    [{ value: "list", is: 3 }, false],
    [{ not: { value: "five", is: "5" } }, false],
    [
      {
        any: [
          { value: "five", is: "6" },
          { value: "words", has: "tea" },
        ],
      },
      true,
    ],
    [
      {
        any: [
          { value: "five", is: "6" },
          { value: "words", has: "coffee" },
        ],
      },
      false,
    ],
  ]
  assert.deepEqual(
    await holding(
      conditions.map(([when]) => when),
      values,
    ),
    conditions.map(([, holds]) => holds),
  )
  const { stopped } = await run([{ kind: "if", when: { value: "words", below: 3 }, steps: [] }], { values })
  assert.deepEqual([stopped.step, stopped.code], ["1", "bad-request"])
  assert.match(stopped.message, /below: .*Green Tea.* or 3 is no number/)
})

test("looks at the page for conditions: what is there, what can be used, and where it is", async () => {
  await open("orders.html")
  const conditions: [unknown, boolean][] = [
    ["Ann", true],
    ["Zoe", false],
    ['{"text": "Ann"}', true],
    [{ find: "button Next" }, true],
    [{ find: "button Previous" }, false],
    [{ find: "button Confirm", in: "Bob" }, true],
    [{ find: "button Confirm", in: "Cid" }, false],
    [{ url: `${pages.url}/orders.html` }, true],
    [{ url: "*/orders.html" }, true],
    [{ url: "*/shop/" }, false],
    [{ url: "*/{{page}}.html", text: "Ann" }, true],
    [{ url: "*/{{page}}.html", text: "Zoe" }, false],
  ]
  assert.deepEqual(
    await holding(
      conditions.map(([when]) => when),
      { page: "orders" },
    ),
    conditions.map(([, holds]) => holds),
  )
})

test("fills values into texts, whole ones as they are, and leaves code and names alone", async () => {
  const answer = await run(
    [
      { kind: "set", as: "whole", to: "{{list}}" },
      { kind: "set", as: "digits", to: " {{n}} " },
      { kind: "set", as: "text", to: "{{n}} of {{one}}: {{one.name}}, {{list}}" },
      { kind: "set", as: "inside", to: { a: ["{{n}}"], fn: "{{n}}", secret: "{{n}}" } },
      { kind: "set", as: "first", to: "a" },
      { kind: "set", as: "first", to: "b", add: true },
      { kind: "set", as: "more", to: "{{n}}", add: true },
      { kind: "set", as: "long", to: "{{long}}" },
      { kind: "read", find: "status Page", as: "first" },
      { kind: "collect", find: "status Page", as: "first" },
      { kind: "collect", find: "button Details", as: "details", all: true },
    ],
    { values: { n: 5, one: { name: "Ann" }, list: ["x", "y"], long: "x".repeat(5_000) } },
  )
  assert.equal(answer.stopped, undefined, JSON.stringify(answer.stopped))
  const { whole, digits, text, inside, first, more, long, details } = answer.values
  assert.deepEqual([whole, digits], [["x", "y"], "5"])
  assert.equal(text, '5 of {"name":"Ann"}: Ann, ["x","y"]')
  assert.deepEqual(inside, { a: ["5"], fn: "{{n}}", secret: "{{n}}" })
  assert.deepEqual([first, more], [["1", "1"], ["5"]])
  assert.equal(long.length, 4_000)
  assert.deepEqual(details, ["Details", "Details"])
  assert.equal(answer.done, 11)
  for (const [path, values] of [
    ["one.age", { one: { name: "Ann" } }],
    ["one.name", { one: "Ann" }],
  ] as const) {
    const { stopped } = await run([{ kind: "set", as: "x", to: `{{${path}}}` }], { values })
    assert.deepEqual([stopped.code, stopped.message], ["bad-request", `There is no value {{${path}}} yet`])
    assert.match(stopped.hint, /step with as/)
  }
})

test("gathers only so much, and keeps what it had", async () => {
  const full = { kind: "set", as: "more", to: ["{{long}}"], add: true }
  const values = { long: "x".repeat(3_900), more: [] }
  const answer = await run(
    Array.from({ length: 6 }, () => full),
    { values },
  )
  assert.deepEqual([answer.stopped.step, answer.stopped.code], ["5", "payload-too-large"])
  assert.match(answer.stopped.message, /more than 20000 characters/)
  assert.match(answer.stopped.hint, /Read less/)
  assert.deepEqual([answer.done, answer.values.more.length], [4, 4])
  const fresh = await run(
    [{ kind: "set", as: "other", to: ["{{long}}", "{{long}}", "{{long}}", "{{long}}", "{{long}}"] }],
    {
      values,
    },
  )
  assert.deepEqual([fresh.stopped.code, Object.keys(fresh.values)], ["payload-too-large", ["long", "more"]])
  const list = (length: number) => Array.from({ length }, () => 1)
  for (const [given, words] of [
    [{ a: list(501) }, /a list of more than 500/],
    [Object.fromEntries(list(101).map((_one, at) => [`v${at}`, at])), /more than 100 values/],
  ] as const) {
    const { error } = await run([{ kind: "press", key: "Tab" }], { values: given })
    assert.equal(error.code, "payload-too-large")
    assert.match(error.message, words)
  }
  const most = { a: list(500), ...Object.fromEntries(list(99).map((_one, at) => [`v${at}`, at])) }
  assert.equal((await run([{ kind: "set", as: "a", to: "{{v98}}" }], { values: most })).values.a, "98")
})

test("goes round as often as it is told to, and says where it stopped", async () => {
  const count = { kind: "set", as: "seen", to: "{{at}}", add: true }
  const seen = async (loop: object, values: object = {}) => {
    const answer = await run([{ kind: "repeat", as: "at", steps: [count], ...loop }], {
      values: { seen: [], ...values },
    })
    return answer.stopped?.code ?? answer.error?.code ?? answer.values.seen
  }
  assert.deepEqual(await seen({ times: 3 }), ["1", "2", "3"])
  assert.deepEqual(await seen({ over: ["a", "b", "c"], times: 2 }), ["a", "b"])
  assert.deepEqual(await seen({ over: "{{names}}" }, { names: ["a"] }), ["a"])
  assert.deepEqual(await seen({ over: [] }), [])
  assert.equal(await seen({ over: "{{names}}" }, { names: "a" }), "bad-request")
  assert.deepEqual(await seen({ until: { value: "seen", is: 2 } }), ["1", "2"])
  assert.deepEqual(await seen({ while: { value: "seen", is: 0 } }), ["1"])
  assert.deepEqual(await seen({ while: { value: "seen", is: 9 } }), [])
  // Over with the last round that it may have, and not over.
  assert.deepEqual(await seen({ while: { not: { value: "seen", is: 2 } }, times: 2 }), ["1", "2"])
  assert.equal(await seen({ while: { not: { value: "seen", is: 3 } }, times: 2 }), "turn-limit")
  assert.equal(await seen({ until: { value: "seen", is: 3 }, times: 2 }), "turn-limit")
  assert.deepEqual(await seen({ over: ["a"], until: { value: "seen", is: 3 } }), ["a"])
  const inner = { kind: "repeat", times: 3, steps: [{ kind: "set", as: "x", to: "" }] }
  const stop = { kind: "if", when: { value: "at", is: 2 }, steps: [{ kind: "stop" }] }
  const { stopped } = await run([{ kind: "repeat", times: 5, as: "at", steps: [inner, stop] }, { kind: "stop" }])
  assert.deepEqual(
    [stopped.step, stopped.round, stopped.kind, stopped.message],
    ["1.2.1", 2, "stop", "the script says so"],
  )
  const { stopped: behind } = await run([inner, { kind: "stop", because: "now {{x}}" }], { values: { x: "" } })
  assert.deepEqual([behind.step, behind.round, behind.message], ["2", undefined, "now "])
  const many = {
    kind: "repeat",
    times: 100,
    steps: Array.from({ length: 6 }, () => ({ kind: "set", as: "x", to: "" })),
  }
  const limited = await run([many])
  assert.deepEqual([limited.done, limited.stopped.code], [500, "turn-limit"])
  assert.match(limited.stopped.message, /at most 500 steps/)
})

test("says what is wrong with a step, and how steps are written", async () => {
  const set = { kind: "set", as: "x", to: 1 }
  const nested = (depth: number): object =>
    depth === 0 ? set : { kind: "repeat", times: 1, steps: [nested(depth - 1)] }
  for (const [steps, words] of [
    [[nested(4)], /step 1\.1\.1\.1: steps: are nested deeper than 4/],
    [[{ ...set, to: "x".repeat(60_000) }], /longer than 60000 characters/],
    [["press Tab"], /step 1: must be an object with a kind/],
    ["press Tab", /steps: must be a list of steps/],
    [[{ kind: "repeat", over: ["a"], steps: [set] }], /over needs as/],
    [[{ kind: "repeat", over: { a: 1 }, as: "a", steps: [set] }], /over must be a list/],
    [[{ kind: "repeat", times: 1, as: "1", steps: [set] }], /as: must be a name/],
    [[{ kind: "if", when: "Ann", steps: 5 }], /steps: must be a list of steps/],
    [[{ kind: "if", when: 5, steps: [] }], /a condition must be an object/],
    [[{ kind: "if", when: { find: "x", colour: "red" }, steps: [] }], /colour/],
    [[{ kind: "click", find: "button Next", as: "x" }], /as: only read, collect, set and evaluate/],
    [[{ kind: "read", as: "x" }], /needs find/],
    [[{ kind: "fill", fields: [] }], /fields: must name at least one field/],
    [[{ kind: "drag", startRef: { finds: "a" }, endRef: "b" }], /finds/],
    [[{ kind: "close" }], /'close' is not supported; these work: (?!.*\bclose\b)/],
    [[{}], /kind is missing/],
  ] as const) {
    const { error } = await run(steps)
    assert.equal(error?.code, "bad-request", JSON.stringify(steps)?.slice(0, 80))
    assert.match(error.message, words)
    assert.match(error.hint, /steps: a list of acts/)
  }
  assert.equal((await run([nested(3)])).done, 1, "what is in loops is counted, and no loop")
  const both = await run([set], { script: "kept" })
  assert.equal(both.error.message, "steps and script exclude each other")
})

test("stops where the page leaves, and tells of that", async () => {
  const { body: tab } = await bench.call("POST", "/tabs/open", { url: `${pages.url}/orders.html` })
  const nth = await run([{ kind: "click", find: "button Details", nth: 2, timeoutMs: 500 }])
  assert.match(nth.stopped.message, /Only 2 on the page fit button Details \(nth 2\)/)
  assert.match(nth.stopped.hint, /Take a snapshot/)
  const late = await run([{ kind: "wait", timeMs: 5_000 }], { timeoutMs: 1_000 })
  assert.match(late.stopped.message, /1000 ms are over/)
  assert.match(late.stopped.hint, /timeoutMs, 300000 at most/)
  const kept = await run([{ kind: "press", key: "Tab" }], { snapshot: "efficient", keep: "tab" })
  assert.match(kept.snapshot, /button "Details"/)
  assert.doesNotMatch(kept.snapshot, /^[+-] ?-/m)
  const open = `() => { const own = window.open("/orders.html"); document.body.innerHTML = "<p>opened" }`
  await bench.call("POST", "/act", { kind: "evaluate", fn: open })
  const { tabs } = (await bench.call("GET", "/tabs")).body
  const { targetId } = tabs.at(-1)
  assert.notEqual(targetId, tab.targetId)
  const button = `() => { document.body.innerHTML = '<button onclick="window.close()">Done</button>' }`
  await bench.call("POST", "/act", { kind: "evaluate", fn: button, targetId })
  const closed = await run(
    [
      { kind: "click", find: "button Done" },
      { kind: "press", key: "Tab" },
    ],
    { targetId },
  )
  assert.deepEqual([closed.stopped.step, closed.stopped.code], ["1", "tab-not-found"])
  assert.deepEqual([closed.ok, closed.targetId, closed.snapshot], [true, targetId, "(the tab is closed)"])
  const { body: blank } = await bench.call("POST", "/tabs/open", { url: "about:blank" })
  const nowhere = await run([{ kind: "press", key: "Tab" }], { targetId: blank.targetId, keep: "blank" })
  assert.match(nowhere.notKept, /begins on no page/)
  assert.match((await run([{ kind: "press", key: "Tab" }], { keep: "No name!" })).error.message, /no name for a script/)
})
