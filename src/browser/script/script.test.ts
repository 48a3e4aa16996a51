// Scripts through the control service, in a real browser.
import assert from "node:assert/strict"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { type BrowserBench, startBrowserBench } from "../../../test/support/browser-service.ts"
import { type PagesServer, startPagesServer } from "../../../test/support/pages-server.ts"
import { memorySites, toolContext } from "../../../test/support/tool-context.ts"

let bench: BrowserBench
let pages: PagesServer

before(async () => {
  pages = await startPagesServer({ folder: join(import.meta.dirname, "../../../test/fixtures/pages") })
  bench = await startBrowserBench({ navigation: { policy: "open", allow: ["127.0.0.1"], deny: [] } })
})

after(async () => {
  await bench.stop()
  await pages.stop()
})

const run = async (steps: unknown, more: object = {}) =>
  (await bench.call("POST", "/act", { kind: "run", steps, ...more })).body
const open = (page: string) => bench.call("POST", "/navigate", { url: `${pages.url}/${page}` })

test("works a shop by words alone, with a loop over a list, and answers with what has changed", async () => {
  pages.basket.length = 0
  await open("shop/")
  await bench.call("GET", "/snapshot?mode=efficient")
  const answer = await run(
    [
      { kind: "type", find: 'textbox "Note"', text: "Ring {{times}}" },
      {
        kind: "repeat",
        over: ["Green Tea", "Honey", "Sea Salt"],
        as: "product",
        steps: [
          { kind: "read", find: "paragraph EUR", in: "{{product}}", as: "price" },
          {
            kind: "if",
            when: { value: "price", below: 5 },
            steps: [{ kind: "click", find: "button", in: "{{product}}" }],
          },
          { kind: "collect", find: "paragraph EUR", in: "{{product}}", as: "prices" },
        ],
      },
      { kind: "wait", find: "Basket: 2 items" },
      { kind: "read", find: "status", as: "basket" },
      { kind: "read", find: "paragraph EUR", in: "sea", as: "part" },
    ],
    { values: { times: "twice" } },
  )
  assert.equal(answer.stopped, undefined, JSON.stringify(answer.stopped))
  assert.deepEqual(answer.values.prices, ["4.20 EUR", "5.50 EUR", "2.10 EUR"])
  assert.equal(answer.values.basket, "Basket: 2 items")
  assert.equal(answer.values.part, "2.10 EUR", "a part of the words tells where too")
  assert.deepEqual(pages.basket, [
    { product: "Green Tea", note: "Ring twice" },
    { product: "Sea Salt", note: "Ring twice" },
  ])
  assert.equal(answer.done, 1 + 3 * 2 + 2 + 3)
  assert.match(answer.snapshot, /^-.*textbox "Note"[^]*^\+.*Ring twice/m)
  assert.doesNotMatch(answer.snapshot, /Black Coffee/)
})

test("goes through pages until there is no further one, and finds what was drawn anew", async () => {
  await open("orders.html")
  const answer = await run(
    [
      {
        kind: "repeat",
        times: 10,
        steps: [
          { kind: "collect", find: "heading", as: "names", all: true },
          { kind: "if", when: { text: "Confirm" }, steps: [{ kind: "click", find: "button Confirm", nth: 0 }] },
          { kind: "if", when: { not: { find: "button Next" } }, steps: [{ kind: "set", as: "last", to: "yes" }] },
          {
            kind: "if",
            when: { find: "button Next" },
            steps: [{ kind: "click", find: "button Next" }],
          },
        ],
        until: { value: "last", is: "yes" },
      },
    ],
    { values: { last: "no" } },
  )
  assert.equal(answer.stopped, undefined, JSON.stringify(answer.stopped))
  const { body } = await bench.call("GET", "/snapshot")
  assert.match(body.snapshot, /confirmed Ann;confirmed Cid;confirmed Eve;/)
  assert.deepEqual(
    answer.values.names.filter((name: string) => name !== "Orders"),
    ["Ann", "Bob", "Cid", "Dee", "Eve"],
  )
})

test("says what is wrong with a script before anything is done", async () => {
  await open("orders.html")
  for (const [steps, words] of [
    [undefined, /steps: is missing/],
    [[], /steps: is empty/],
    [[{ kind: "dance" }], /step 1: kind 'dance' is not supported; these work: click, .*repeat/],
    [[{ kind: "run", steps: [] }], /step 1: kind 'run' is not supported/],
    [
      [
        { kind: "click", find: "button Next" },
        { kind: "type", find: "Note" },
      ],
      /step 2: type: text: is missing/,
    ],
    [[{ kind: "click" }], /step 1: click: needs a ref, or x and y/],
    [[{ kind: "read", find: "status" }], /step 1: read: as: is missing/],
    [[{ kind: "read", find: "status", as: "a", every: true }], /step 1: read: .*every/],
    [[{ kind: "type", find: "Note", text: "{{nobody}}" }], /\{\{nobody\}\}: no step sets it/],
    [[{ kind: "if", when: {}, steps: [] }], /step 1: a condition needs/],
    [[{ kind: "if", when: { below: 3 }, steps: [] }], /needs value/],
    [[{ kind: "repeat", steps: [{ kind: "press", key: "Tab" }] }], /needs times, over, while or until/],
    [[{ kind: "repeat", times: 2, steps: [{ kind: "press" }] }], /step 1\.1: press: key: is missing/],
    [[{ kind: "repeat", times: 1000, steps: [] }], /times: must be at most 100/],
    [Array.from({ length: 201 }, () => ({ kind: "press", key: "Tab" })), /at most 200 steps/],
  ] as const) {
    const { error } = await run(steps)
    assert.equal(error?.code, "bad-request", JSON.stringify(steps)?.slice(0, 80))
    assert.match(error.message, words)
  }
  const { body } = await bench.call("GET", "/snapshot")
  assert.match(body.snapshot, /status "Page".*: 1$/m)
})

test("reads scripts as models write them: as text, with words for refs, one step instead of a list", async () => {
  await open("orders.html")
  const ref = (await bench.refOf("Next")).replace(/^e?/, "[ref=e") + "]"
  const answer = await run(
    JSON.stringify([
      { kind: "click", ref },
      { kind: "wait", find: "heading Cid", timeoutMs: "3000" },
      '{"kind": "click", "ref": "button \\"Details\\"", "in": "Dee"}',
      {
        kind: "if",
        when: "Dee",
        ["then" as string]: { kind: "fill", fields: [{ ref: { find: "Note" }, value: "{{note}}" } as object] },
      },
    ]),
    { values: { note: "late" } },
  )
  assert.equal(answer.stopped, undefined, JSON.stringify(answer.stopped))
  const { body } = await bench.call("GET", "/snapshot?find=note")
  assert.match(body.snapshot, /late/)
})

test("stops where a step cannot be done, and says which, why, and what was done before", async () => {
  await open("orders.html")
  const stopOf = async (steps: unknown, more: object = {}) => (await run(steps, more)).stopped
  const missing = await run([
    { kind: "read", find: "status", as: "page" },
    { kind: "click", find: "button Confirm", in: "Zoe", timeoutMs: 500 },
    { kind: "click", find: "button Next" },
  ])
  assert.deepEqual(
    [missing.done, missing.values.page, missing.stopped.step, missing.stopped.code],
    [1, "1", "2", "not-found"],
  )
  assert.match(missing.stopped.message, /Nothing on the page fits button Confirm in "Zoe"/)
  const several = await stopOf([{ kind: "click", find: "button Confirm" }])
  assert.equal(several.code, "strict-mode")
  assert.match(several.hint, /in .*or nth/)
  const asked = await run([
    { kind: "click", find: "Clear all" },
    { kind: "click", find: "button Next" },
  ])
  assert.deepEqual([asked.stopped.step, asked.stopped.code], ["2", "dialog-open"])
  assert.equal(
    (
      await run([
        { kind: "dialog", accept: true },
        { kind: "wait", text: "cleared" },
      ])
    ).stopped,
    undefined,
  )
  assert.deepEqual(
    (
      await stopOf([
        { kind: "repeat", until: { text: "never there" }, times: 2, steps: [{ kind: "press", key: "Tab" }] },
      ])
    ).code,
    "turn-limit",
  )
  const own = await stopOf([
    {
      kind: "repeat",
      times: 3,
      steps: [{ kind: "if", when: { text: "Ann" }, steps: [{ kind: "stop", because: "seen" }] }],
    },
  ])
  assert.deepEqual([own.step, own.round, own.code, own.message], ["1.1.1", 1, "script-stopped", "seen"])
  const late = await stopOf([{ kind: "wait", text: "never there", timeoutMs: 60_000 }], { timeoutMs: 1_000 })
  assert.deepEqual([late.code, late.step], ["timeout", "1"])
  assert.match((await stopOf([{ kind: "click", ref: "e99999" }])).code, /ref-not-found|stale-ref/)
})

test("loops that do nothing end by a limit of their own", async () => {
  await open("orders.html")
  let steps: object[] = []
  for (let depth = 0; depth < 3; depth += 1) steps = [{ kind: "repeat", times: 100, steps }]
  const idle = await run(steps)
  assert.deepEqual([idle.done, idle.stopped.code], [0, "turn-limit"])
})

const words = (result: { content: { type: string }[]; note?: string }) =>
  result.content.map((part) => (part as unknown as { text: string }).text).join("\n")
const use = (steps: unknown[], more: Parameters<typeof toolContext>[0] = {}) => {
  const { tool } = bench.service
  return tool.run(tool.input.parse({ action: "act", request: { kind: "run", steps } }), toolContext(more))
}

test("does nothing for the agent that it could not do by single calls", async () => {
  await open("orders.html")
  const site = `127.0.0.1:${pages.port}`
  const typing = { kind: "type", find: "Note", text: "my address" }
  const elsewhere = await use([{ kind: "click", find: "button Next" }, typing], { tainted: true })
  assert.equal(elsewhere.isError, true)
  assert.match(elsewhere.note ?? "", /stopped at step 2: forbidden: .*single call/)
  assert.doesNotMatch(words(elsewhere), /my address/)
  const untainted = await use([typing])
  assert.match(untainted.note ?? "", /stopped at step 1: forbidden/, "a page decides where words lead")
  const named = await use([typing], { tainted: true, sites: memorySites([site]) })
  assert.equal(named.isError, undefined, named.note)
  const sites = memorySites()
  const opened = await use([{ kind: "navigate", url: `${pages.url}/orders.html` }, typing], { sites })
  assert.equal(opened.isError, undefined, opened.note)
  assert.ok(sites.has(site), "an address of the turn's own names its site")
  const carried = await use(
    [
      { kind: "read", find: "heading Ann", as: "name" },
      { kind: "navigate", url: "http://127.0.0.1:9/?{{name}}" },
    ],
    { sites: memorySites([site]) },
  )
  assert.match(carried.note ?? "", /stopped at step 2: forbidden/, "words of a page make no addresses")
  const code = await use([{ kind: "evaluate", fn: "() => 1", as: "one" }], { sites: memorySites([site]) })
  assert.match(code.note ?? "", /stopped at step 1: forbidden/)
  const asked: unknown[] = []
  const ruled = await use([{ kind: "click", find: "button Next" }], {
    async confirms(input) {
      asked.push(input)
      return { reason: "Your owner wants to be asked", summary: "", action: {}, byPolicy: true }
    },
  })
  assert.match(ruled.note ?? "", /stopped at step 1: forbidden/)
  assert.deepEqual((asked[0] as { request: { kind: string } }).request.kind, "click")
  const stranger = await use([{ kind: "click", find: "button Next", timeoutMs: 300 }], {
    trusted: false,
    tainted: true,
    origin: "webhook",
  })
  assert.match(stranger.note ?? "", /stopped at step 1: not-found/, "it has tabs of its own")
})

test("goes on in the tab that its own click has opened, by the same rules, and says so", async () => {
  const { body: tab } = await bench.call("POST", "/tabs/open", { url: `${pages.url}/orders.html` })
  const site = `127.0.0.1:${pages.port}`
  const other = `${pages.url.replace("127.0.0.1", "localhost")}/orders.html`
  const links = `() => { document.body.innerHTML =
    '<a target=_blank href=shop/>To the shop</a> <a target=_blank href=${other}>To others</a>' }`
  await run([{ kind: "evaluate", fn: links }])
  const steps = [
    { kind: "click", find: "link To the shop" },
    { kind: "follow" },
    { kind: "type", find: "Note", text: "over there" },
  ]
  const named = { tainted: true, sites: memorySites([site]) }
  for (const each of [
    () => run(steps, { keep: "to-the-shop" }),
    async () => JSON.parse(words(await use(steps, named)).split("\n")[0] ?? ""),
  ]) {
    await bench.call("POST", "/tabs/focus", { targetId: tab.targetId })
    const answer = await each()
    assert.equal(answer.stopped, undefined, JSON.stringify(answer.stopped))
    assert.deepEqual([answer.done, answer.url], [3, `${pages.url}/shop/`])
    assert.notEqual(answer.targetId, tab.targetId)
    assert.match(answer.notes[0], new RegExp(`went on in tab ${answer.targetId}, which tab ${tab.targetId} has opened`))
    const read = await run([{ kind: "read", find: "textbox Note", as: "note" }], { targetId: answer.targetId })
    assert.equal(read.values.note, "over there")
    await bench.call("POST", "/act", { kind: "close", targetId: answer.targetId })
  }
  await bench.call("POST", "/tabs/focus", { targetId: tab.targetId })
  const others = [
    { kind: "click", find: "link To others" },
    { kind: "follow" },
    { kind: "type", find: "Note", text: "x" },
  ]
  const led = await use(others, named)
  assert.match(led.note ?? "", /stopped at step 3: forbidden/, "the new tab is of a site that nobody has named")
  const stop = async (list: unknown[]) => (await run(list, { targetId: tab.targetId })).stopped
  const none = await stop([{ kind: "follow", timeoutMs: 200 }])
  assert.deepEqual([none.code, none.step], ["tab-not-found", "1"], "tabs from before the script are not followed")
  const both = [steps[0], { kind: "click", find: "link To others" }, { kind: "follow" }]
  assert.match((await stop(both)).message, /opened 2 new tabs: .*shop.*orders.html/)
  const wrong = await run([{ kind: "follow", find: "link To others" }])
  assert.match(wrong.error.message, /step 1: follow: .*find/)
})

const kept = async (name: string) => (await bench.call("GET", `/scripts/${name}`)).body
const again = async (script: string, more: object = {}) =>
  (await bench.call("POST", "/act", { kind: "run", script, ...more })).body

test("keeps a script that has worked, by words, and does it again on a page drawn anew", async () => {
  pages.basket.length = 0
  await open("shop/")
  const note = await bench.refOf("Note", "?mode=efficient")
  const honey = await bench.refOf("Add Honey to basket", "?mode=efficient")
  const made = await run(
    [
      { kind: "fill", fields: [{ ref: note, value: "{{words}}" }] },
      { kind: "click", ref: honey },
      { kind: "wait", text: "1 item" },
    ],
    { values: { words: "first" }, keep: "Order-Honey" },
  )
  assert.equal(made.kept, "order-honey", JSON.stringify(made))
  const shown = await kept("order-honey")
  assert.deepEqual(shown.steps.slice(0, 2), [
    { kind: "fill", fields: [{ find: 'textbox "Note"', value: "{{words}}" }] },
    { kind: "click", find: 'button "Add Honey to basket"' },
  ])
  assert.deepEqual([shown.inputs, shown.start, shown.runs], [["words"], `${pages.url}/shop/`, 0])
  await open("orders.html")
  assert.match((await again("order-honey")).error.message, /words/, "it must be given its values")
  pages.basket.length = 0
  const answer = await again("order-honey", { values: { words: "second" } })
  assert.equal(answer.stopped, undefined, JSON.stringify(answer.stopped))
  assert.deepEqual(pages.basket, [{ product: "Honey", note: "second" }])
  assert.equal((await kept("order-honey")).runs, 1)
})

test("stops a kept script where the page is not as it was, and never works on another site", async () => {
  await open("orders.html")
  await run([{ kind: "click", find: "button Confirm", in: "Ann" }], { keep: "confirm" })
  const script = join(bench.stateFolder, "browser", "scripts", "confirm.json")
  const written = JSON.parse(await readFile(script, "utf8"))
  const change = (more: object) => writeFile(script, JSON.stringify({ ...written, ...more }))
  await change({ steps: [{ kind: "click", find: "button Approve", timeoutMs: 300 }] })
  const drifted = await again("confirm")
  assert.deepEqual([drifted.stopped.step, drifted.stopped.code], ["1", "not-found"])
  assert.equal((await kept("confirm")).lastStop, "step 1: not-found")
  await change({ sites: ["shop.example"] })
  const elsewhere = await again("confirm")
  assert.deepEqual([elsewhere.stopped.code, elsewhere.stopped.step], ["script-stopped", "1"])
  await change({ steps: [] })
  assert.match((await again("confirm")).error.message, /cannot be read/)
  assert.equal((await bench.call("DELETE", "/scripts/confirm")).body.name, "confirm")
  assert.equal((await again("confirm")).error.code, "not-found")
  assert.equal((await again("../confirm")).error.code, "bad-request")
})

test("does not keep what should not be in a file, or cannot be found again", async () => {
  await open("orders.html")
  const notKept = async (steps: unknown) => (await run(steps, { keep: "no" })).notKept
  assert.match(await notKept([{ kind: "type", find: "Password", text: "hunter2" }]), /kept secret by name/)
  const ref = await bench.refOf("Next")
  const unused = { kind: "if", when: { text: "never there" }, steps: [{ kind: "click", ref }] }
  assert.match(await notKept([unused]), /by find/)
  assert.match(await notKept([{ kind: "stop", because: "no" }]), /did not come to its end/)
  assert.equal((await bench.call("GET", "/scripts/no")).status, 404)
})

test("lets only an owner's turn use kept scripts, and asks first where words of others were read", async () => {
  await open("orders.html")
  await run([{ kind: "type", find: "Note", text: "kept words" }], { keep: "note" })
  const { tool } = bench.service
  const input = tool.input.parse({ action: "act", request: { kind: "run", script: "note" } })
  const stranger = toolContext({ trusted: false, tainted: true, origin: "webhook" })
  await assert.rejects(async () => await tool.gate?.(input, stranger), { code: "forbidden" })
  const gated = await tool.gate?.(input, toolContext({ tainted: true }))
  assert.match(gated?.summary ?? "", /Run the kept script note on 127/)
  assert.match(JSON.stringify(gated?.action), /kept words/)
  assert.equal(await tool.gate?.(input, toolContext()), undefined)
  const ran = await tool.run(input, toolContext({ confirms: async () => undefined }))
  assert.equal(ran.isError, undefined, ran.note)
  const allowed = await tool.run(input, toolContext({ tainted: true, approved: true, confirms: async () => undefined }))
  assert.equal(allowed.isError, undefined, allowed.note)
})

test("keeps of a turn that has read words of others only what was done, and follows no page to other sites later", async () => {
  await open("orders.html")
  const { tool } = bench.service
  const sites = memorySites([`127.0.0.1:${pages.port}`])
  const steal = { kind: "evaluate", fn: `() => fetch("${pages.url}/shop/stolen")` }
  const dormant = [
    { kind: "click", find: "button Confirm", in: "Ann" },
    { kind: "if", when: { text: "on another day" }, steps: [steal] },
  ]
  const keeping = tool.input.parse({ action: "act", request: { kind: "run", steps: dormant, keep: "dormant" } })
  const told = await tool.run(keeping, toolContext({ tainted: true, sites }))
  assert.match(words(told), /step 2\.1 was never done/)
  assert.equal((await bench.call("GET", "/scripts/dormant")).status, 404)
  await tool.run(keeping, toolContext({ sites }))
  assert.equal((await kept("dormant")).name, "dormant", "an owner's own words may keep it")
  const follow = [
    { kind: "evaluate", fn: "() => localStorage.next ?? location.href", as: "next" },
    { kind: "navigate", url: "{{next}}" },
  ]
  assert.equal((await run(follow, { keep: "follow" })).kept, "follow")
  await run([{ kind: "evaluate", fn: `() => { localStorage.next = "http://localhost:${pages.port}/shop/?mine" }` }])
  const led = await again("follow")
  assert.deepEqual([led.stopped?.code, led.stopped?.step], ["script-stopped", "2"])
  assert.match(led.stopped.message, /localhost.*was not made/)
  await run([{ kind: "evaluate", fn: "() => localStorage.clear()" }])
})

test("a task of twenty steps in a shop costs at most half the tokens of single acts", async (t) => {
  const { tool } = bench.service
  const context = toolContext({ tainted: true, sites: memorySites([`127.0.0.1:${pages.port}`]) })
  const cost = async (requests: object[]) => {
    let characters = 0
    for (const request of requests) {
      const input = { action: "act", snapshot: "diff", request }
      const result = await tool.run(tool.input.parse(input), context)
      assert.equal(result.isError, undefined, result.note)
      characters += JSON.stringify(input).length + words(result).length
    }
    return characters / 4
  }
  const products = ["Green Tea", "Black Coffee", "Honey", "Rye Bread", "Sea Salt", "Olive Oil"]
  const prepare = async () => {
    pages.basket.length = 0
    await open("shop/")
    const { body } = await bench.call("GET", "/snapshot?mode=efficient")
    const refs = Object.entries(body.refs as Record<string, { name?: string }>)
    const ref = (name: string) => refs.find(([, each]) => each.name === name)?.[0]
    const clicks = products.map((name) => ({ kind: "click", ref: ref(`Add ${name} to basket`) }))
    const note = { kind: "type", ref: ref("Note"), text: "Ring twice" }
    return [note, ...clicks, ...clicks, ...clicks, { kind: "wait", text: "18 items" }]
  }
  const single = await cost(await prepare())
  assert.equal(pages.basket.length, 18)
  const script = await cost([{ kind: "run", steps: await prepare() }])
  assert.equal(pages.basket.length, 18)
  t.diagnostic(`${single} tokens by single acts, ${script} by one script`)
  assert.ok(script <= single / 2, `${script} against ${single}`)
})
