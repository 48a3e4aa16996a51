// A reply's thinking in front of its text: folded, as it is, and taken by the platform's parser however it is cut.
// And paragraphs as messages of their own, where `chunkMode` says so.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { configSchema, resolveChatappAccount } from "../../../config/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { parseAllowList } from "../../access.ts"
import type { AccountSettings } from "../settings.ts"
import { parsedByPlatform } from "./oracle.fixture.ts"
import type { TextPayload } from "./payload.ts"
import { planReply } from "./plan.ts"
import { createRenderer } from "./render.ts"

const route: Route = { channel: "chatapp", account: "default", chatId: "5", chatKind: "private" }

function payloads(
  reasoning: string,
  text: string,
  textChunkLimit = 4000,
  chunkMode: "length" | "newline" = "length",
): TextPayload[] {
  const config = configSchema.parse({ channels: { chatapp: { textChunkLimit, chunkMode } } })
  const account = resolveChatappAccount(config, "default")
  const settings = { ...account, allow: parseAllowList([], []) } as unknown as AccountSettings
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
