import assert from "node:assert/strict"
import { test } from "node:test"
import { assertGrowsInLine } from "../../test/support/growth.ts"
import { addressesIn, plainAddress, siteOf, sitesIn } from "./sites.ts"

for (const [address, site] of [
  ["https://example.org/shop?a=1#b", "example.org"],
  ["http://www.example.org", "example.org"],
  ["https://WWW.Example.ORG./", "example.org"],
  ["https://user:pass@example.org:8443/", "example.org:8443"],
  ["https://shop.example.org/", "shop.example.org"],
  ["http://[::1]:3000/", "[::1]:3000"],
  ["https://bücher.example/", "xn--bcher-kva.example"],
  ["ftp://example.org/", undefined],
  ["javascript:alert(1)", undefined],
  ["about:blank", undefined],
  ["example.org", undefined],
] as const) {
  test(`the site of ${address} is ${site}`, () => assert.equal(siteOf(address), site))
}

for (const [words, sites] of [
  ["open example.org and tell me the price.", ["example.org"]],
  ["Open https://www.example.org/shop?x=1, then (http://other.example:8080/a)!", ["example.org", "other.example:8080"]],
  ["is 127.0.0.1:4000 up? and localhost:3000? and localhost", ["127.0.0.1:4000", "localhost:3000", "localhost"]],
  ["[the shop](https://shop.example/a)", ["shop.example"]],
  ["„bücher.example“", ["xn--bcher-kva.example"]],
  ["write to me@evil.example, please", []],
  ["https://me@evil.example/", ["evil.example"]],
  ["see notes.md, run.sh and e.g. report.pdf; it costs 3.50 or 1.2.3.4.5", ["report.pdf"]],
  ["ftp://evil.example javascript:evil.example()", []],
  ["nothing...at..all .org . :", []],
] as const) {
  test(`${JSON.stringify(words)} names ${sites.join(", ") || "no site"}`, () => assert.deepEqual(sitesIn(words), sites))
}

test("complete addresses are found as a browser has them, and no others", () => {
  const found = addressesIn("see https://Example.org/a?b=c#d, http://x.example. and example.net")
  assert.deepEqual([...found], ["https://example.org/a?b=c#d", "https://example.org/a?b=c", "http://x.example/"])
  assert.equal(plainAddress("https://EXAMPLE.org/a#b"), "https://example.org/a#b")
})

test("a text of any shape costs no more than its length, and names no more than a person does", async () => {
  for (const piece of ["a.bb ", "a.", "https://", "1.1.1.1 ", "x.yy/", "@.", "\u2026."]) {
    await assertGrowsInLine((size) => sitesIn(piece.repeat(size)), { size: 200, what: piece })
  }
  const many = Array.from({ length: 1_000 }, (_, index) => `s${index}.example`).join(" ")
  assert.equal(sitesIn(many).length, 50)
})
