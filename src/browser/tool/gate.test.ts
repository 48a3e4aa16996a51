import assert from "node:assert/strict"
import { test } from "node:test"
import { memorySites, toolContext } from "../../../test/support/tool-context.ts"
import type { ToolContext } from "../../agent/tool.ts"
import { type AppError, siteOf } from "../../kernel/index.ts"
import type { BrowserCore, Caller } from "../core.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import { createBrowserTool } from "../tool.ts"
import { describeCall } from "./describe.ts"
import { gateOf, gateSecret, heldToSites, isBare, kindOfAddress } from "./gate.ts"
import { type BrowserToolInput, input } from "./input.ts"
import type { ScriptShelf } from "../script/perform.ts"
import { callerOf, gateCall, refuseUntrusted } from "./rules.ts"

test("a front page is a site's address with nothing else in it", () => {
  for (const address of ["https://shop.example", "https://shop.example/", "http://shop.example:8080/"])
    assert.equal(isBare(address), true, address)
  const more = ["/a", "/?q=1", "/#part", "/%20"].map((rest) => `https://shop.example${rest}`)
  for (const address of [...more, "https://name@shop.example/", "https://:word@shop.example/"])
    assert.equal(isBare(address), false, address)
})

test("an address is told by who has named it: the owner, the page that is open, or the agent itself", async () => {
  const named = "https://named.example"
  const quotes = (address: string) => address.endsWith("/q")
  const only = { quotes, has: (place: string) => place === siteOf(named) }
  const deep = { quotes, has: (place: string) => place === `${named}/deep` }
  const core = { showsLink: (_: Caller, address: string) => Promise.resolve(address.endsWith("/link")) }
  const kind = (url: unknown, known = only) =>
    kindOfAddress(core as unknown as ToolCore, { url, targetId: undefined }, {} as Caller, { sites: known } as never)
  assert.equal(await kind(`${named}/`), "named")
  assert.equal(await kind(` ${named}/?stolen=words`), "composed")
  assert.equal(await kind(`${named}/deep`, deep), "named")
  assert.equal(await kind(`${named}/`, deep), "unknown")
  assert.equal(await kind("https://other.example/link"), "followed")
  assert.equal(await kind("https://other.example/q"), "followed")
  assert.equal(await kind("https://other.example/"), "unknown")
  assert.equal(await kind(undefined), "none")
})

const far = "https://far.example"
const onFarPage = [
  [{ kind: "click", ref: "1" }, undefined],
  [
    { kind: "click", ref: "1", button: "middle" },
    { refs: [], anywhere: true },
  ],
  [
    { kind: "type", ref: "1", text: "words", slowly: true },
    { refs: ["1"], anywhere: true },
  ],
  [{ kind: "press", key: "Enter" }, undefined],
  [{ kind: "press", key: "Shift+Tab", ref: "1" }, undefined],
  [
    { kind: "press", key: "x" },
    { refs: [], anywhere: true },
  ],
  [
    { kind: "press", key: "Control+V", ref: "1" },
    { refs: ["1"], anywhere: true },
  ],
  [
    { kind: "press", key: "Enter", delayMs: 4_217 },
    { refs: [], anywhere: true },
  ],
  [
    { kind: "resize", width: 4_217, height: 913 },
    { refs: [], anywhere: true },
  ],
  [
    { kind: "type", ref: "1", text: "words" },
    { refs: ["1"], anywhere: false },
  ],
  [
    {
      kind: "fill",
      fields: [
        { ref: "1", value: "a" },
        { ref: "2", secret: "s" },
      ],
    },
    { refs: ["1"], anywhere: false },
  ],
  [{ kind: "fill", fields: [{ ref: "2", secret: "s" }] }, undefined],
  [
    { kind: "evaluate", fn: "() => 1" },
    { refs: [], anywhere: false },
  ],
  [{ kind: "wait", text: "done" }, undefined],
  [
    { kind: "wait", fn: "() => true" },
    { refs: [], anywhere: false },
  ],
] as const
for (const [request, asked] of onFarPage) {
  test(`${JSON.stringify(request)} on a site nobody has named ${asked ? "is asked about, whole" : "is done"}`, async () => {
    const looks: unknown[] = []
    const core = {
      sitesOf(_: Caller, { refs, anywhere }: { refs: readonly string[]; anywhere: boolean }) {
        looks.push({ refs: [...refs], anywhere })
        return Promise.resolve([far])
      },
    }
    const value = { action: "act", request } as unknown as BrowserToolInput
    const gate = (named: boolean) =>
      gateOf(core as unknown as ToolCore, value, {} as Caller, { sites: { has: () => named } } as never)
    const gated = await gate(false)
    assert.deepEqual(looks, asked ? [asked] : [])
    assert.equal(gated !== undefined, asked !== undefined)
    if (asked) assert.partialDeepStrictEqual(gated?.action, { ...request, site: [far] })
    const isCode = request.kind === "evaluate" || request.kind === "wait"
    assert.equal((await gate(true)) !== undefined, asked !== undefined && isCode)
  })
}

test("what is asked about says in which browser it is done: it is not allowed in another", async () => {
  const core = { sitesOf: () => Promise.resolve([far]), showsLink: () => Promise.resolve(false) } as unknown as ToolCore
  const sites = { has: () => false, quotes: () => false }
  const where = { target: "node", node: "laptop", profile: "work" }
  const request = { kind: "type", ref: "1", text: "words" }
  for (const call of [
    { action: "act", request },
    { action: "open", url: `${far}/x` },
    { action: "upload", paths: ["a"] },
  ]) {
    const asked = async (value: object) =>
      (await gateOf(core, value as BrowserToolInput, {} as Caller, { sites } as never))?.action
    assert.partialDeepStrictEqual(await asked({ ...call, ...where }), where)
    assert.notDeepEqual(await asked({ ...call, ...where }), await asked(call))
  }
})

test("a tab or an element that is named by a number is looked at like any other", async () => {
  const looks: object[] = []
  const core = {
    sitesOf(_: Caller, asked: object) {
      looks.push(asked)
      return Promise.resolve([far])
    },
  } as unknown as ToolCore
  const value = input.parse({ action: "upload", paths: ["a"], inputRef: 12, targetId: 4 })
  await gateOf(core, value, {} as Caller, { sites: { has: () => false } } as never)
  assert.deepEqual(looks, [{ targetId: "4", refs: ["12"] }])
})

test("closes the tab that is named by a number, and no other", async () => {
  const closed: unknown[] = []
  const core = { close: (_: Caller, targetId: unknown) => Promise.resolve(void closed.push(targetId)) }
  const tool = createBrowserTool({ core: () => core as unknown as BrowserCore })
  await tool.run(tool.input.parse({ action: "close", targetId: 4 }), toolContext())
  assert.deepEqual(closed, ["4"])
})

const pages = (sites: readonly string[], links: readonly string[] = []) => {
  const looks: object[] = []
  const core = {
    sitesOf: async (_: Caller, asked: object) => (looks.push(asked), sites),
    showsLink: async (_: Caller, address: string) => links.includes(address),
  } as unknown as ToolCore
  const gate = (value: object, named: readonly string[] = []) =>
    gateOf(
      core,
      value as BrowserToolInput,
      {} as Caller,
      {
        sites: { has: (site: string) => named.includes(site), quotes: () => false },
      } as never,
    )
  return { core, gate, looks }
}

test("asks about what carries words away, in words that an owner understands, and about nothing else", async () => {
  const { gate, looks } = pages(["far.example", "far.example", ""], ["https://far.example/link"])
  const where = "far.example, a page without a site"
  const reason = `${where}: this turn has read words of others and may not do this by itself on a site that the owner has not named (by writing its address)`
  const site = ["far.example", "a page without a site"]
  const act = (request: object) => ({ action: "act", request })
  for (const [value, summary, action] of [
    [
      { action: "upload", paths: ["a"], inputRef: "1", more: 1 },
      `Give files to a page of ${where}`,
      { action: "upload", paths: ["a"], inputRef: "1", site },
    ],
    [
      { action: "dialog", accept: true, promptText: "Ada", profile: "work" },
      `Answer a question of a page of ${where}`,
      { action: "dialog", accept: true, promptText: "Ada", profile: "work", site },
    ],
    [
      act({ kind: "type", ref: "1", text: "a", snapshot: "diff", timeoutMs: 900, targetId: "T" }),
      `Type into a page of ${where}`,
      { kind: "type", ref: "1", text: "a", submit: false, slowly: false, mode: "replace", site },
    ],
    [
      act({ kind: "resize", width: 5, height: 6 }),
      `Choose the size of a page of ${where}`,
      { kind: "resize", width: 5, height: 6, site },
    ],
    [
      act({ kind: "drag", startRef: "1", endRef: "2" }),
      `Drag something into a page of ${where}`,
      { kind: "drag", startRef: "1", endRef: "2", place: "on", site },
    ],
    [act({ kind: "evaluate", fn: "1" }), `Run code in a page of ${where}`, { kind: "evaluate", fn: "1", site }],
  ] as const)
    assert.deepEqual(await gate(value), { reason, summary, action })
  const opened = await gate({ action: "navigate", url: " https://far.example/x ", node: "laptop" })
  assert.match(opened?.reason ?? "", /has not named .*no link of the page/)
  assert.deepEqual(
    [opened?.summary, opened?.action],
    ["Open an address of far.example", { action: "open", url: "https://far.example/x", node: "laptop" }],
  )
  looks.length = 0
  for (const value of [
    { action: "dialog", accept: true },
    { action: "open", targetUrl: "https://far.example/link" },
    { action: "snapshot" },
    { action: "tabs" },
    act({ kind: "hover", ref: "1" }),
    act({ kind: "scroll" }),
    act({ kind: "select", ref: "1", values: ["a"] }),
  ])
    assert.equal(await gate(value), undefined, JSON.stringify(value))
  assert.deepEqual(looks, [])
  await gate(act({ kind: "drag", startX: 1, startY: 1, endRef: "2" }))
  assert.deepEqual(looks.pop(), { targetId: undefined, refs: ["2"], anywhere: true })
  await gate(act({ kind: "drag", startRef: "1", endRef: "2", endX: 1, endY: 1 }))
  assert.deepEqual(looks.pop(), { targetId: undefined, refs: ["1", "2"], anywhere: true })
  // Within one page nothing leaves it, whether or not it was named.
  assert.equal(await pages(["far.example"]).gate(act({ kind: "drag", startRef: "1", endRef: "2" })), undefined)
})

test("one place that nobody has named is enough to be asked, whatever else is on the page", async () => {
  const { gate, looks } = pages(["named.example", "far.example"])
  const site = ["named.example", "far.example"]
  for (const value of [
    { action: "act", request: { kind: "type", ref: "1", text: "a" } },
    { action: "act", request: { kind: "drag", startRef: "1", endRef: "2" } },
    { action: "upload", paths: ["a"] },
    { action: "dialog", accept: true, promptText: "Ada" },
  ]) {
    const asked = await gate(value, ["named.example"])
    assert.partialDeepStrictEqual(asked?.action, { site }, JSON.stringify(value))
    assert.equal(await gate(value, site), undefined)
  }
  looks.length = 0
  await gate({ action: "act", request: { kind: "evaluate", fn: "(element) => element", ref: "1" } })
  await gate({ action: "dialog", accept: true, promptText: "Ada", ref: "1", targetId: "T" })
  assert.deepEqual(looks, [
    { targetId: undefined, refs: ["1"], anywhere: false },
    { targetId: "T", refs: [] },
  ])
})

test("a link is looked for in the tab that the call names", async () => {
  const tabs: unknown[] = []
  const core = {
    showsLink: async (_: Caller, _address: string, tab: unknown) => tabs.push(tab) > 1,
  } as unknown as ToolCore
  const gate = (more: object) =>
    gateOf(
      core,
      { action: "navigate", url: "https://far.example/x", ...more } as BrowserToolInput,
      {} as Caller,
      {
        sites: { has: () => false, quotes: () => false },
      } as never,
    )
  assert.notEqual(await gate({}), undefined)
  assert.equal(await gate({ targetId: "T" }), undefined)
  assert.deepEqual(tabs, [undefined, "T"])
})

test("a turn that acts for others runs no code, sends and keeps no files, and stops no browser but its own", () => {
  const refusal = (value: object, more: { trusted?: boolean; kind?: string } = {}) => {
    const { trusted = false, kind = "host" } = more
    try {
      refuseUntrusted(value as BrowserToolInput, toolContext({ trusted }), { kind } as never)
      return undefined
    } catch (error) {
      return (error as AppError).code
    }
  }
  const act = (request: object) => ({ action: "act", request })
  for (const value of [
    { action: "upload", paths: ["a"] },
    { action: "download" },
    act({ kind: "evaluate", fn: "1" }),
    act({ kind: "wait", fn: "() => true" }),
    { action: "stop" },
  ]) {
    assert.equal(refusal(value), "forbidden", JSON.stringify(value))
    assert.equal(refusal(value, { trusted: true }), undefined)
  }
  assert.equal(refusal({ action: "upload", paths: ["a"] }, { kind: "sandbox" }), "forbidden")
  assert.equal(refusal({ action: "stop" }, { kind: "sandbox" }), undefined, "in a sandbox the browser is its own")
  for (const value of [act({ kind: "wait", text: "done" }), act({ kind: "click", ref: "1" }), { action: "close" }])
    assert.equal(refusal(value), undefined, JSON.stringify(value))
})

test("whoever acts for others comes to a place apart, and to no secrets unless an owner has said so", () => {
  const core = { placeApart: () => "managed" } as unknown as ToolCore
  const caller = (value: object, more: Partial<ToolContext> = {}, kind = "host") => {
    const { profile, guest, withoutSecrets } = callerOf(
      { action: "tabs", ...value } as BrowserToolInput,
      toolContext({ sessionKey: "hook:one", ...more }),
      { kind, core } as never,
    )
    return [profile, guest, withoutSecrets]
  }
  assert.deepEqual(caller({}), [undefined, undefined, false])
  assert.deepEqual(caller({ profile: "relay" }), ["relay", undefined, false])
  assert.deepEqual(caller({}, { trusted: false }), ["managed", "hook:one", true])
  assert.deepEqual(caller({ profile: "work" }, { trusted: false }), ["work", "hook:one", true])
  assert.deepEqual(caller({}, { trusted: false, approved: true }), ["managed", "hook:one", false])
  // In a sandbox the whole browser is the session's own, whatever a call names.
  assert.deepEqual(caller({ profile: "work" }, { trusted: false }, "sandbox"), [undefined, undefined, true])
  assert.deepEqual(caller({}, {}, "sandbox"), [undefined, undefined, false])
})

test("a kept script is the owner's, and brings its sites along only where nobody else may have asked for it", async () => {
  const kept = { name: "buy", start: "", sites: ["shop.example", "pay.example"], named: [], steps: [{ kind: "press" }] }
  const shelf = { readScript: async () => kept } as unknown as ScriptShelf
  const gate = (request: object, more: Partial<ToolContext>, scripts: ScriptShelf | undefined = shelf) =>
    gateCall(
      { kind: "host", core: {} as ToolCore },
      { action: "act", request: { kind: "run", ...request } } as unknown as BrowserToolInput,
      toolContext(more),
      scripts,
    )
  const script = { script: "buy", values: { who: "Ada" } }
  const steps = { steps: [{ kind: "press", key: "Enter" }] }
  assert.equal(await gate(script, {}), undefined)
  for (const request of [script, { ...steps, keep: "buy" }]) {
    await assert.rejects(gate(request, { trusted: false, tainted: true }), {
      code: "forbidden",
      hint: /steps themselves/,
    })
  }
  const tainted = { tainted: true, sites: memorySites(["shop.example"]) }
  assert.equal(await gate(steps, tainted), undefined)
  assert.equal(await gate({ ...steps, keep: "buy" }, tainted), undefined)
  const asked = await gate(script, tainted)
  assert.match(asked?.reason ?? "", /^pay\.example: this turn has read words of others/)
  assert.deepEqual(asked?.action, {
    action: "run",
    script: "buy",
    start: "",
    steps: kept.steps,
    values: { who: "Ada" },
    sites: kept.sites,
  })
  assert.equal(await gate(script, { tainted: true, sites: memorySites(kept.sites) }), undefined)
})

test("kept secrets stay on this machine, and are never filled in by themselves for others", async () => {
  const { core } = pages(["shop.example"])
  const value = { action: "act", request: { kind: "fill", fields: [{ ref: "1", secret: "shop" }] } } as never
  const gate = (kind: string, more: Partial<ToolContext> = {}) =>
    gateCall({ kind, core: { ...core, placeApart: () => undefined } } as never, value, toolContext(more))
  await assert.rejects(gate("node"), { code: "forbidden", message: /not sent to the browsers of other machines/ })
  assert.equal(await gate("host"), undefined)
  assert.match((await gate("host", { trusted: false, tainted: true }))?.reason ?? "", /does not fill in secrets/)
})

test("a fault of the input is told with the action that it was found in", async () => {
  const gate = (value: object) =>
    gateCall({ kind: "host", core: {} } as never, value as BrowserToolInput, toolContext({ tainted: true }))
  await assert.rejects(gate({ action: "act", request: { kind: "type", ref: "1" } }), { message: /^act type: .*text/ })
  await assert.rejects(gate({ action: "act", request: { kind: "dance" } }), { message: /^act: / })
})

test("holds files and answers that wait for a page to ask to the sites that they were meant for", async () => {
  const { core } = pages(["asked.example", ""])
  const caller = { profile: undefined } as Caller
  const sites = { has: (site: string) => site === "named.example", list: () => ["named.example"] }
  const hold = (action: string, more: object = {}) =>
    heldToSites(core, { action } as BrowserToolInput, caller, {
      tainted: true,
      approved: false,
      sites,
      ...more,
    } as never)
  assert.equal(await hold("upload", { tainted: false }), caller)
  assert.equal(await hold("act"), caller)
  for (const action of ["upload", "dialog"]) {
    const { staysOn } = await hold(action)
    const may = ["https://named.example/x", "https://asked.example/", "about:blank"].map((url) => staysOn?.may(url))
    assert.deepEqual(may, [true, false, false], action)
    assert.deepEqual(staysOn?.list(), { sites: ["named.example"], orNone: false })
    const approved = (await hold(action, { approved: true })).staysOn
    const mayNow = ["https://named.example/x", "https://asked.example/", "about:blank", "https://other.example/"]
    assert.deepEqual(
      mayNow.map((url) => approved?.may(url)),
      [true, true, true, false],
    )
    assert.deepEqual(approved?.list(), { sites: ["named.example", "asked.example", ""], orNone: true })
  }
})

test("asks for a secret of a turn that acts for others, and for nothing that takes none", async () => {
  const { core } = pages(["shop.example"])
  const ask = (request: object) => gateSecret(core, { action: "act", request } as never, {} as Caller)
  const fields = [{ ref: "1", secret: "shop" }]
  const asked = await ask({ kind: "fill", fields, snapshot: "diff" })
  assert.match(asked.reason, /does not fill in secrets by itself/)
  assert.equal(asked.summary, "Fill a kept secret into a page of shop.example")
  assert.partialDeepStrictEqual(asked.action, { kind: "fill", submit: false, site: ["shop.example"] })
  await assert.rejects(ask({ kind: "wait", text: '"secret":' }), { code: "bad-request" })
})

test("describes a call by what is done to which elements on which sites, and never by numbers that pass", async () => {
  const looks: unknown[] = []
  let isGone = false
  const core = {
    sitesOf: async (_: Caller, { anywhere }: { anywhere?: boolean }) =>
      anywhere ? ["a.example", "frame.example"] : ["a.example"],
    async shownAt(_: Caller, tab: unknown, refs: string[]) {
      looks.push([tab, [...refs]])
      const elements = refs.map((ref) => ({ role: isGone ? "gone" : "button", name: `B${ref}` }))
      return { page: "https://a.example/", elements }
    },
  } as unknown as ToolCore
  const describe = (value: object) => describeCall(core, value as BrowserToolInput, {} as Caller)
  const sites = ["a.example", "frame.example"]
  const page = "https://a.example/"
  const act = (request: object) => ({ action: "act", request })
  for (const [value, deed] of [
    [
      { action: "open", url: " https://a.example/x ", profile: "work", more: 1 },
      {
        actions: ["open"],
        sites: ["a.example"],
        summary: "Open an address of a.example",
        action: { action: "open", url: "https://a.example/x", profile: "work" },
      },
    ],
    [
      { action: "navigate", targetUrl: "no address" },
      {
        actions: ["navigate"],
        sites: [],
        summary: "Open an address of no site",
        action: { action: "open", url: "no address" },
      },
    ],
    [{ action: "tabs" }, { actions: ["tabs"], sites: [], summary: "Browser: tabs", action: { action: "tabs" } }],
    [
      { action: "pdf", targetId: "T", timeoutMs: 900 },
      { actions: ["pdf"], sites, summary: "Browser: pdf on a page of a.example", action: { action: "pdf" } },
    ],
    [
      { ...act({ kind: "press", key: "x" }), node: "laptop", target: "node" },
      {
        actions: ["act", "press"],
        sites,
        summary: "Browser: press on a page of a.example",
        action: { kind: "press", key: "x", delayMs: 0, page, target: "node", node: "laptop" },
      },
    ],
    [
      act({
        kind: "fill",
        fields: [
          { ref: "1", value: "a" },
          { ref: "2", secret: "s" },
        ],
        snapshot: "diff",
      }),
      {
        actions: ["act", "fill"],
        sites,
        summary: 'Browser: fill the button "B1" on a page of a.example',
        action: {
          kind: "fill",
          fields: [{ value: "a" }, { value: "", secret: "s" }],
          submit: false,
          page,
          elements: ["B1", "B2"].map((name) => ({ role: "button", name })),
        },
      },
    ],
    [
      act({
        kind: "run",
        values: { who: "Ada" },
        steps: [
          { kind: "click", ref: "e5" },
          { kind: "drag", startRef: "e5", endRef: "7" },
          { kind: "if", when: { find: "x" }, steps: [{ kind: "navigate", url: "https://b.example/{{who}}" }] },
        ],
      }),
      {
        actions: ["act", "run", "click", "drag", "if", "navigate"],
        sites: [...sites, "b.example"],
        summary: "Browser: a script of 3 steps on a page of a.example, frame.example, b.example",
        action: {
          kind: "run",
          values: { who: "Ada" },
          steps: [
            { kind: "click", ref: "element 1" },
            { kind: "drag", startRef: "element 1", endRef: "element 2" },
            { kind: "if", when: { find: "x" }, steps: [{ kind: "navigate", url: "https://b.example/{{who}}" }] },
          ],
          page,
          elements: ["Be5", "B7"].map((name) => ({ role: "button", name })),
        },
      },
    ],
  ] as const)
    assert.deepEqual(await describe(value), deed)
  looks.length = 0
  await describe({ action: "act", targetId: "T", request: { kind: "drag", startRef: "1", endRef: "2" } })
  assert.deepEqual(looks, [["T", ["1", "2"]]])
  isGone = true
  await assert.rejects(describe(act({ kind: "click", ref: "1" })), { code: "stale-ref", hint: /new snapshot/ })
})
