// A reply's thinking in front of its text: folded, as it is, and taken by the platform's parser however it is cut.
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

function payloads(reasoning: string, text: string, textChunkLimit = 4000): TextPayload[] {
  const config = configSchema.parse({ channels: { chatapp: { textChunkLimit } } })
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
