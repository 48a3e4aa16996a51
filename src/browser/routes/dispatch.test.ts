// From a method and a path to the route, and from the parts of a request to its fields.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { BrowserCore } from "../core.ts"
import { dispatch, fieldsOf, findRoute } from "./dispatch.ts"

test("finds a route by its path, with what stands in the places of names", () => {
  assert.equal(findRoute("GET", "/tabs").route.path, "/tabs")
  const { route, named } = findRoute("DELETE", "/tabs/a%2Fb%20c")
  assert.deepEqual([route.path, named], ["/tabs/:targetId", { targetId: "a/b c" }])
  for (const path of ["/nowhere", "/tabs/", "/tabs/a/b", "tabs", "", "/TABS"])
    assert.throws(() => findRoute("GET", path), { code: "not-found", message: "There is no such route" }, path)
  assert.throws(() => findRoute("DELETE", "/tabs/%ZZ"), { code: "bad-request", message: /malformed %/ })
  assert.throws(() => findRoute("PUT", "/start"), {
    code: "method-not-allowed",
    message: "This route answers to POST",
  })
})

test("takes fields from the path, then from the body or the query, and no blank ones of a query", () => {
  const fields = (method: string, path: string, query: Record<string, string>, body = {}) =>
    fieldsOf(findRoute(method, path), { method, path, query, body })
  assert.deepEqual(fields("GET", "/snapshot", { mode: "full", find: " ", ref: "" }, { mode: "x" }), { mode: "full" })
  assert.deepEqual(fields("POST", "/act", { kind: "press" }, { kind: "click", ref: "" }), { kind: "click", ref: "" })
  assert.deepEqual(fields("DELETE", "/tabs/one", { targetId: "two", more: "1" }, { body: 1 }), {
    targetId: "one",
    more: "1",
  })
})

test("answers what a gateway asks of its node, by POST alone", async () => {
  const asked: unknown[] = []
  const core = {
    showsLink: async (_: unknown, ...rest: unknown[]) => asked.push(rest) > 0,
    shownAt: async (_: unknown, ...rest: unknown[]) => ({ page: rest }),
    sitesOf: async (_: unknown, given: unknown) => [given],
  } as unknown as BrowserCore
  const ask = (path: string, body: object, method = "POST") =>
    dispatch(core, { method, path, query: {}, body: body as never }, { profile: undefined })
  assert.deepEqual(await ask("/look/link", { address: "https://a.example/", targetId: "T" }), { shows: true })
  assert.deepEqual(asked, [["https://a.example/", "T"]])
  assert.deepEqual(await ask("/look/elements", { targetId: "T", refs: ["1"] }), { page: ["T", ["1"]] })
  assert.deepEqual(await ask("/look/sites", { refs: ["1"] }), { sites: [{ refs: ["1"], anywhere: false }] })
  assert.deepEqual(await ask("/look/sites", { refs: [], anywhere: true }), { sites: [{ refs: [], anywhere: true }] })
  for (const [path, body] of [
    ["/look/link", {}],
    ["/look/elements", { refs: "1" }],
    ["/look/sites", { refs: Array(101).fill("1") }],
  ] as const)
    await assert.rejects(ask(path, body), { code: "bad-request" }, path)
  await assert.rejects(ask("/look/link", { address: "x" }, "GET"), { code: "not-found" })
})
