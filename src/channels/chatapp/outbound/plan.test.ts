// A reply's thinking in front of its text: folded, as it is, and taken by the platform's parser however it is cut.
// And paragraphs as messages of their own, where `chunkMode` says so.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { configSchema, resolveChatappAccount } from "../../../config/index.ts"
import type { Reply } from "../../../delivery/contract.ts"
import type { Route } from "../../../sessions/route.ts"
import { parseAllowList } from "../../access.ts"
import type { AccountSettings } from "../settings.ts"
import { parsedByPlatform } from "./oracle.fixture.ts"
import type { TextPayload } from "./payload.ts"
import { planEdit, planReply, planSticker } from "./plan.ts"
import { createRenderer } from "./render.ts"

const route: Route = { channel: "chatapp", account: "default", chatId: "5", chatKind: "private" }

const accountOf = (chatapp: object) => {
  const account = resolveChatappAccount(configSchema.parse({ channels: { chatapp } }), "default")
  return { ...account, allow: parseAllowList([], []) } as unknown as AccountSettings
}

describe("what a message of an answer refers to", () => {
  const render = createRenderer()
  const planned = (given: Partial<Reply>, chatapp: object = {}, to: Partial<Route> = {}) =>
    planReply(accountOf(chatapp), render, { ...route, ...to }, { text: "x", media: [], ...given }).map(
      ({ kind, payload }) => ({ kind, ...(payload as object) }) as { kind: string } & Partial<TextPayload>,
    )

  test("is its topic, the general one of a forum left out, which a private chat does not have", () => {
    const threads = (chatKind: Route["chatKind"], threadId: string) =>
      planned({}, {}, { chatKind, threadId })[0]?.threadId
    assert.deepEqual(
      [threads("private", "1"), threads("supergroup", "1"), threads("supergroup", "7")],
      ["1", undefined, "7"],
    )
  })

  test("is words of the message that it answers, as long as the platform takes them, where it refers to one", () => {
    const quote = "q".repeat(2_000)
    assert.equal(planned({ replyTo: "4", quote })[0]?.quote?.length, 1_024)
    assert.deepEqual(
      [
        planned({ quote }),
        planned({ replyTo: "4", quote }, { replyToMode: "off" }),
        planned({ replyTo: "4", quote, isReferred: true }),
      ].map(([row]) => [row?.quote, row?.replyTo]),
      Array(3).fill([undefined, undefined]),
    )
  })

  test("is the post that it comments on, whatever is said of replies, and never that post's words", () => {
    const comment = { chatKind: "supergroup", commentsOf: "9" } as const
    for (const replyToMode of ["off", "first", "all"])
      assert.equal(planned({}, { replyToMode }, comment)[0]?.replyTo, "9")
    const [first, second] = planned({ text: "one\n\ntwo", replyTo: "4", quote: "q" }, { chunkMode: "newline" }, comment)
    assert.deepEqual([first?.replyTo, first?.quote, second?.replyTo, second?.quote], ["4", "q", "9", undefined])
  })

  test("has its buttons below the last part of it, and makes no sound with any where none is wanted", () => {
    const buttons = [[{ text: "a", data: "a" }]]
    const parts = planned({ text: "one\n\ntwo", buttons, silent: true }, { chunkMode: "newline" })
    assert.deepEqual(
      parts.map((part) => [part.buttons, part.silent]),
      [
        [undefined, true],
        [buttons, true],
      ],
    )
    const media = ["a", "b"].map((name) => ({ path: `/${name}.png`, mediaType: "image/png" }))
    assert.deepEqual(planned({ text: "", media, buttons })[0]?.buttons, undefined, "an album takes none")
    assert.deepEqual(planned({ text: "", media: media.slice(1), buttons })[0]?.buttons, buttons)
  })

  test("of a sticker is what was named, whatever is said of replies", () => {
    const sticker = (given: { replyTo?: string; silent?: boolean }) =>
      planSticker(accountOf({ replyToMode: "off" }), { ...route, threadId: "7" }, { fileId: "abc", ...given }).payload
    assert.deepEqual(sticker({ replyTo: "4", silent: true }), {
      fileId: "abc",
      replyTo: "4",
      threadId: "7",
      silent: true,
    })
    assert.deepEqual(sticker({}), { fileId: "abc", threadId: "7" })
  })

  test("in an edit is all there is: a text that is too long for one message, or shows nothing, is none", () => {
    const edit = (text: string) => planEdit(accountOf({ textChunkLimit: 10 }), render, route, { messageId: "1", text })
    assert.equal((edit("x".repeat(4_096)).payload as unknown as TextPayload).text.length, 4_096)
    assert.throws(() => edit("x".repeat(4_097)), { code: "bad-request", message: "The text is too long" })
    assert.throws(() => edit(" \u200b"), { code: "bad-request", message: "The text is empty" })
  })
})

function payloads(
  reasoning: string,
  text: string,
  textChunkLimit = 4000,
  chunkMode: "length" | "newline" = "length",
): TextPayload[] {
  const settings = accountOf({ textChunkLimit, chunkMode })
  return planReply(settings, createRenderer(), route, { text, reasoning, media: [] }).map(
    (row) => row.payload as unknown as TextPayload,
  )
}

describe("thinking in front of an answer", () => {
  test("is folded away and shown to the letter", () => {
    const [payload, ...more] = payloads(" Is <b> *bold*?\n", "**Yes**")
    assert.deepEqual(more, [])
    assert.equal(payload?.text, "<blockquote expandable>🤔 Is &lt;b&gt; *bold*?</blockquote>\n\n<b>Yes</b>")
    assert.equal(payloads(" \n", "Yes")[0]?.text, "Yes")
  })

  test("is bounded, and every message it is cut into is taken by the platform's parser", () => {
    const thought = `${'Is it so, or <not> & "otherwise"? 😀\n'.repeat(400)}the end`
    const rows = payloads(thought, "Yes.", 500)
    assert.ok(rows.length > 3 && rows.length < 10)
    assert.ok(!rows.some(({ text }) => text.includes("the end")))
    assert.match(rows.at(-1)?.text ?? "", /…<\/blockquote>\n\nYes\.$/)
    for (const { text } of rows) parsedByPlatform(text)
  })
})

describe("chunkMode newline", () => {
  const texts = (text: string, limit?: number) => payloads("", text, limit, "newline").map(({ plain }) => plain)

  test("makes a message of every paragraph, however short", () => {
    assert.deepEqual(texts("one\n\ntwo\nstill two\n\n\n**three**"), ["one", "two\nstill two", "three"])
    assert.deepEqual(
      payloads("", "one\n\ntwo", 4000).map(({ plain }) => plain),
      ["one\n\ntwo"],
    )
  })

  test("cuts a paragraph by its length only after that", () => {
    assert.deepEqual(texts("a\n\nfour five six\n\nb", 10), ["a", "four five", "six", "b"])
  })

  test("keeps code and quotes whole, whose empty lines are their own", () => {
    assert.deepEqual(texts("look\n\n```js\na\n\nb\n```\n\n> c\n>\n> d\n\nend"), ["look", "a\n\nb", "c\n\nd", "end"])
  })

  test("folded thoughts are one message", () => {
    const rows = payloads("first\n\nsecond", "Yes", 4000, "newline")
    assert.deepEqual(
      rows.map(({ plain }) => plain),
      ["🤔 first\n\nsecond", "Yes"],
    )
  })
})
