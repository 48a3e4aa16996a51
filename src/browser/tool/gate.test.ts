import assert from "node:assert/strict"
import { test } from "node:test"
import { toolContext } from "../../../test/support/tool-context.ts"
import { siteOf } from "../../kernel/index.ts"
import type { BrowserCore, Caller } from "../core.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import { createBrowserTool } from "../tool.ts"
import { gateOf, isBare, kindOfAddress } from "./gate.ts"
import { type BrowserToolInput, input } from "./input.ts"

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
