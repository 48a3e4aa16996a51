import assert from "node:assert/strict"
import { test } from "node:test"
import { assertGrowsInLine } from "../../test/support/growth.ts"
import { parseReply } from "./reply.ts"

const parse = (text: string, allowed: string[] = []) =>
  parseReply({ text, allowedMedia: new Set(allowed), currentMessageId: "7" })

test("sends a file that the turn has made and takes its line out of the text", () => {
  const { reply, refused } = parse("Here it is:\nMEDIA:/state/media/a.png\nDone.", ["/state/media/a.png"])
  assert.deepEqual(reply, {
    text: "Here it is:\nDone.",
    media: [{ path: "/state/media/a.png", mediaType: "image/png" }],
  })
  assert.deepEqual(refused, [])
})

test("refuses a file that the turn has not made", () => {
  const { reply, refused } = parse("MEDIA:/etc/passwd\nMEDIA:/state/media/older.png", [])
  assert.deepEqual(reply.media, [])
  assert.deepEqual(refused, ["/etc/passwd", "/state/media/older.png"])
})

test("leaves the address of a file on the web as a link", () => {
  const { reply, refused } = parse("Look:\n MEDIA: https://example.org/a.png\nfine")
  assert.deepEqual([reply, refused], [{ text: "Look:\nhttps://example.org/a.png\nfine", media: [] }, []])
})

test("leaves MEDIA lines inside code fences and all indentation alone", () => {
  const text = "```\nMEDIA:/a.png\n    indented\n```"
  assert.equal(parse(text, ["/a.png"]).reply.text, text)
})

test("takes MEDIA lines behind a code fence that has been closed, by as many marks of the same kind or more", () => {
  for (const [opening, inside, closing] of [
    ["```ts", "x", "```"],
    ["```", "~~~", "`````"],
    ["~~~~", "~~~", "~~~~"],
  ]) {
    const code = [opening, inside, "MEDIA:/a.png", closing].join("\n")
    const { media, text } = parse(`${code}\nMEDIA:/a.png\nDone.`, ["/a.png"]).reply
    assert.deepEqual([media.map(({ path }) => path), text], [["/a.png"], `${code}\nDone.`])
  }
})

test("reads the tag for the current message", () => {
  assert.deepEqual(parse("[[ reply_to_current ]] Hello").reply, { text: "Hello", media: [], replyTo: "7" })
})

test("leaves tags inside code alone, fenced or between backticks, and reads those around it", () => {
  const fenced = "```\n[[reply_to_current]]\n```"
  for (const text of [
    fenced,
    `~~~\n[[audio_as_voice]]\n~~~\nend`,
    "Write `[[reply_to:5]]` or ``a ` [[audio_as_voice]]``.",
  ]) {
    assert.deepEqual(parse(text).reply, { text, media: [] }, text)
  }
  assert.deepEqual(parse(`[[reply_to:9]]\n${fenced}\nx [[audio_as_voice]] \`y\``).reply, {
    text: `${fenced}\nx \`y\``,
    media: [],
    replyTo: "9",
    asVoice: true,
  })
  assert.equal(parse("a ` b [[reply_to:4]]\n\n` c").reply.replyTo, "4", "an unfinished one is no code")
  assert.equal(parse("a \\` b [[reply_to:4]] ` c").reply.replyTo, "4", "nor does one begin with an escaped mark")
  assert.equal(parse("```\n[[reply_to_cur").reply.text, "```\n[[reply_to_cur", "cut in the middle of code")
})

test("keeps the indentation of the first line", () => {
  assert.equal(parse("\n \n    code\n      more\n\n").reply.text, "    code\n      more")
  assert.equal(parse("[[reply_to_current]]\n    code").reply.text, "    code")
  assert.equal(parse(" \n\t").reply.text, "")
})

test("takes time in line with the length, however many backticks there are", async () => {
  for (const unit of ["` ``", "`a", "```\n", "[[reply_to:", "\n\n`", "[[ "])
    await assertGrowsInLine((size) => parse(unit.repeat(size)), { size: 4_000, what: unit })
})

test("lets an explicit id win, and ignores one that is no message id", () => {
  assert.equal(parse("[[reply_to:42]][[reply_to_current]] x").reply.replyTo, "42")
  assert.equal(parse("[[reply_to:../9]] x").reply.replyTo, undefined)
})

test("reads the voice tag each time", () => {
  for (let round = 0; round < 3; round += 1) assert.equal(parse("[[audio_as_voice]] hi").reply.asVoice, true)
  assert.equal(parse("hi").reply.asVoice, undefined)
})
