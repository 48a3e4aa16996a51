// What a node lets its gateway do: which profiles there are for it, wherever they are named, and as whom a call is made.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { BrowserCore, Caller } from "../core.ts"
import { type OfferedBrowser, offerOf, performForGateway } from "./perform.ts"

interface Node {
  names?: string[]
  defaultName?: string
  enabled?: boolean
  allowProfiles?: string[]
  apart?: string
}

/** A node whose browsers answer everything, and remember as whom and what they were asked. */
function nodeOf({ names = ["managed", "work", "relay"], defaultName = "work", enabled = true, ...more }: Node = {}) {
  const asked: { what: string; caller: Caller; request: unknown }[] = []
  const reply = { ok: true, profiles: names.map((name) => ({ name })), path: "/state/media/browser/a.pdf" }
  const core = new Proxy({} as BrowserCore, {
    get: (_target, what: string) =>
      what === "placeApart"
        ? () => more.apart
        : async (caller: Caller, request: unknown) => {
            asked.push({ what, caller, request })
            return structuredClone(reply)
          },
  })
  const browser: OfferedBrowser = {
    core,
    profiles: () => ({ names, defaultName }),
    settings: () => ({ enabled, allowProfiles: more.allowProfiles }),
  }
  const call = async (params: object) => {
    const answer = await performForGateway(browser, params, [], new AbortController().signal)
    return { ...answer, code: (answer.body as { error?: { code: string } }).error?.code }
  }
  return { browser, asked, call }
}

const tabs = { method: "GET", path: "/tabs" }

test("a node offers what its owner lets it, with the usual profile first where that is among it", () => {
  const offer = (node: Node) => offerOf(nodeOf(node).browser)
  assert.deepEqual(offer({}), { profiles: ["managed", "work", "relay"], defaultProfile: "work" })
  assert.deepEqual(offer({ allowProfiles: ["relay", "managed", "unknown"] }), {
    profiles: ["managed", "relay"],
    defaultProfile: "managed",
  })
  assert.equal(offer({ enabled: false }), undefined)
  assert.equal(offer({ allowProfiles: ["unknown"] }), undefined)
})

test("a node that offers nothing does nothing", async () => {
  for (const node of [{ enabled: false }, { allowProfiles: [] }]) {
    const { call, asked } = nodeOf(node)
    assert.deepEqual([(await call(tabs)).code, asked.length], ["node-refused", 0])
  }
})

test("a profile that is not offered is refused wherever it is named, and two names are none", async () => {
  const { call, asked } = nodeOf({ allowProfiles: ["managed", "work"] })
  for (const params of [
    { ...tabs, profile: "relay" },
    { ...tabs, query: { profile: "relay" } },
    { method: "POST", path: "/start", body: { profile: " relay " } },
    { method: "GET", path: "/extension" },
    { method: "POST", path: "/profiles/create", body: { name: "new", color: "#0066CC" } },
    { method: "DELETE", path: "/profiles/work" },
  ])
    assert.equal((await call(params)).code, "node-refused", JSON.stringify(params))
  for (const params of [
    { ...tabs, profile: "work", query: { profile: "managed" } },
    { method: "GET", path: "tabs" },
    { method: 7, path: "/tabs" },
    { ...tabs, profile: 7 },
    { ...tabs, query: "all" },
  ])
    assert.equal((await call(params)).code, "bad-request", JSON.stringify(params))
  assert.deepEqual(asked, [])
  const { body } = await call({ method: "GET", path: "/profiles" })
  assert.deepEqual((body as { profiles: object[] }).profiles, [{ name: "managed" }, { name: "work" }])
  const open = nodeOf()
  assert.equal((await open.call({ method: "GET", path: "/extension" })).status, 200)
  assert.equal(((await open.call({ method: "GET", path: "/profiles" })).body as { profiles: [] }).profiles.length, 3)
})

test("a call is made in the profile that it names, else in the usual one, and for others in a place apart", async () => {
  const profileOf = async (node: Node, params: object) => {
    const { call, asked } = nodeOf(node)
    assert.equal((await call({ method: "get", path: "/tabs", ...params })).status, 200)
    return [asked[0]?.caller.profile, asked[0]?.caller.guest]
  }
  assert.deepEqual(await profileOf({}, {}), ["work", undefined])
  assert.deepEqual(await profileOf({}, { profile: "managed" }), ["managed", undefined])
  assert.deepEqual(await profileOf({}, { query: { profile: "managed" } }), ["managed", undefined])
  const apart = { apart: "managed" }
  assert.deepEqual(await profileOf(apart, {}), ["work", undefined])
  assert.deepEqual(await profileOf(apart, { guest: "hook:one" }), ["managed", "hook:one"])
  for (const blank of [{ profile: " " }, { query: { profile: "" } }, { body: { profile: " " } }])
    assert.deepEqual(await profileOf(apart, { guest: "hook:one", ...blank }), ["managed", "hook:one"])
  assert.deepEqual(await profileOf(apart, { guest: "hook:one", profile: "work" }), ["work", "hook:one"])
  const limited = { ...apart, allowProfiles: ["work"] }
  assert.deepEqual(await profileOf(limited, { guest: "hook:one" }), ["work", "hook:one"])
})

test("an address that is held to sites is held to those, and to no site only where that is said", async () => {
  const held = async (staysOn: object) => {
    const { call, asked } = nodeOf()
    await call({ ...tabs, staysOn })
    const urls = ["https://named.example/x", "https://other.example/", "about:blank"]
    return urls.map((url) => asked[0]?.caller.staysOn?.may(url))
  }
  assert.deepEqual(await held({ sites: ["named.example"], orNone: true }), [true, false, true])
  assert.deepEqual(await held({ sites: ["named.example"] }), [true, false, false])
  assert.deepEqual(await held({ sites: "named.example", orNone: "yes" }), [false, false, false])
})

test("a file goes along with its answer, which does not tell where it lies", async () => {
  const { call } = nodeOf()
  const { body, files } = await call({ method: "POST", path: "/pdf" })
  assert.equal((body as { path: string }).path, "a.pdf")
  assert.deepEqual(files, [{ field: "path", path: "/state/media/browser/a.pdf", name: "a.pdf" }])
})
