import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { cutBytes, decodeEntities, htmlToText, mailText } from "./mail-text.ts"

const data = (text: string | Buffer) => ({ data: Buffer.from(text).toString("base64url") })

test("takes the text of HTML, without what nobody reads", () => {
  const html =
    "<!doctype html><head><title>T</title></head><style>p{}</style><p>Hello&nbsp;<b>Ada</b></p>" +
    "<script>alert('<p>no</p>')</script><!-- no --><div>1 &lt; 2 &amp; 3</div>tail"
  assert.equal(
    htmlToText(html)
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .join("|"),
    "Hello Ada|1 < 2 & 3|tail",
  )
})

test("costs no more than the length of a hostile mail", () => {
  const started = performance.now()
  for (const piece of ["<", "<!--", "<script>", "<a", "</p", "&#", "<p>"]) htmlToText(piece.repeat(200_000))
  assert.ok(performance.now() - started < 5_000)
})

test("prefers the plain part, looks into nested parts and never at attachments", () => {
  const attachment = { mimeType: "text/plain", filename: "notes.txt", body: data("attached") }
  const html = { mimeType: "text/html", filename: "", body: data("<p>rich</p>") }
  const plain = { mimeType: "text/plain", filename: "", body: data("plain\n\n\n\nend  \n") }
  const nested = {
    mimeType: "multipart/mixed",
    parts: [attachment, { mimeType: "multipart/alternative", parts: [html, plain] }],
  }
  assert.equal(mailText(nested, 1_000), "plain\n\nend")
  assert.equal(mailText({ mimeType: "multipart/mixed", parts: [attachment, html] }, 1_000), "rich")
  assert.equal(mailText({ mimeType: "multipart/mixed", parts: [attachment] }, 1_000), "")
})

test("reads the character set that a part names, and knows none by a wrong name", () => {
  const part = (charset: string, bytes: Buffer) => ({
    mimeType: "text/plain",
    headers: [{ name: "Content-Type", value: `text/plain; charset="${charset}"` }],
    body: data(bytes),
  })
  assert.equal(mailText(part("iso-8859-1", Buffer.from([0x67, 0xfc, 0x6e])), 100), "gün")
  assert.equal(mailText(part("x-nobody-knows", Buffer.from("für")), 100), "für")
})

test("cuts at a whole character, never above the limit", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 50 }), fc.integer({ min: 3, max: 100 }), (text, maxBytes) => {
      const cut = cutBytes(text, maxBytes)
      assert.ok(Buffer.byteLength(cut) <= maxBytes)
      assert.ok(!cut.includes("\ufffd") || text.includes("\ufffd"))
      assert.ok(cut === text || (cut.endsWith("…") && text.startsWith(cut.slice(0, -1))))
    }),
  )
})

test("decodes entities once", () => {
  assert.equal(
    decodeEntities("&amp;lt; &#39; &#x1F600; &unknown; &#0; &#9999999;"),
    "&lt; ' 😀 &unknown; &#0; &#9999999;",
  )
})
