import assert from "node:assert/strict"
import { test } from "node:test"
import { siteOf } from "../../kernel/index.ts"
import type { Caller } from "../core.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import { isBare, kindOfAddress } from "./gate.ts"

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
