import assert from "node:assert/strict"
import { test } from "node:test"
import { testStore } from "../../../test/support/store.ts"
import type { TurnInput } from "../../agent/turn-input.ts"
import { systemIds } from "../../kernel/index.ts"
import { openJobs } from "../../store/index.ts"
import { WebIntake } from "./intake.ts"
import { routeOf } from "./place.ts"
import { reactRow } from "./sender.ts"

test("the first message begins a turn at once, the next waits by the session's rule for a pause", async (context) => {
  const store = await testStore(context)
  const intake = new WebIntake({
    store,
    ids: systemIds,
    files: { find: () => assert.fail("no file was sent") } as never,
    defaultAgentId: () => "main",
    isAgent: () => true,
    isModel: () => false,
    resetWords: () => [],
    queueOf: () => ({ mode: "followup", debounceMs: 700, cap: 3, drop: "old" }),
    lastRoute: () => null,
    rememberRoute: () => undefined,
    now: () => ({ ms: 1_000, text: "noon" }),
  })
  for (const id of ["one", "two", "two"]) await intake.say({ id, chat: "notes", text: `${id}.`, files: [] })
  const jobs = openJobs(store, "agent:main:web:notes").map(({ join_key: key, delay_ms: holdMs, payload }) => {
    const { text, queue, route } = JSON.parse(payload) as TurnInput
    return { key, holdMs, text, queue, route }
  })
  const answerOf = (messageId: string) => ({
    channel: "web",
    account: "default",
    chatId: "agent:main:web:notes",
    chatKind: "private",
    messageId,
  })
  const rule = { mode: "followup", cap: 3, drop: "old" }
  assert.deepEqual(jobs, [
    { key: null, holdMs: null, text: "one.", queue: undefined, route: answerOf("one") },
    { key: "queue:web:agent:main:web:notes", holdMs: 700, text: "two.", queue: rule, route: answerOf("two") },
  ])
})

test("a reaction is one emoji, or takes back the one that is there", () => {
  const payloadOf = (emoji: string) => reactRow(routeOf("agent:main:main"), "5", emoji).payload
  for (const emoji of ["👍", "1️⃣"]) assert.deepEqual(payloadOf(emoji), { messageId: "5", emoji })
  assert.deepEqual(payloadOf(" "), { messageId: "5", emoji: null })
  for (const words of ["no", "👍 👍", "<b>", "👍".repeat(17)])
    assert.throws(() => payloadOf(words), { code: "bad-request" })
})
