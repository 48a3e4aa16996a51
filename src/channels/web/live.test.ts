import assert from "node:assert/strict"
import { test } from "node:test"
import type { TurnInput, TurnObserver, TurnView } from "../../agent/turn-input.ts"
import type { WebDraft } from "./contract.ts"
import { WebLive } from "./live.ts"

test("pages are told what has come since, of each run its own, and when it is over", async (context) => {
  let streams = 0
  const told: WebDraft[] = []
  let next = Promise.withResolvers<void>()
  const live = new WebLive({
    newStream: () => `s${(streams += 1)}`,
    publish(draft) {
      told.push(draft())
      next.resolve()
    },
  })
  context.after(() => live.stop())
  const news = async () => {
    await next.promise
    next = Promise.withResolvers()
    return told.splice(0)
  }
  const begin = (chat: string, runId: string, reasoning: string) =>
    live.observe({ sessionKey: chat } as TurnInput, runId, { reasoning } as TurnView) as Required<TurnObserver>
  const shown = begin("a", "run-1", "stream")
  const quiet = begin("b", "run-2", "off")
  shown.onDelta({ kind: "text", text: "one tw" } as never)
  quiet.onDelta({ kind: "thinking", text: "secret thoughts " } as never)
  const first = await news()
  assert.deepEqual(first, [
    { chat: "a", runId: "run-1", stream: "s1", at: 0, text: "one" },
    { chat: "b", runId: "run-2", stream: "s2", at: 0, text: "" },
  ])
  shown.onDelta({ kind: "text", text: "o three " } as never)
  shown.onDelta({ kind: "thinking", text: "hm, whole wor" } as never)
  const grown = { chat: "a", runId: "run-1", stream: "s1" }
  assert.deepEqual(await news(), [{ ...grown, at: 3, text: " two three", thinking: "🤔 hm, whole" }])
  assert.deepEqual(live.of("a"), [{ ...grown, at: 0, text: "one two three", thinking: "🤔 hm, whole" }])
  shown.onStep({} as never)
  assert.deepEqual(live.of("a"), [{ ...grown, at: 0, text: "one two three" }], "its thinking is over")
  shown.end()
  assert.deepEqual(told.splice(0).at(-1), { ...grown, at: 0, text: "", isOver: true })
  assert.deepEqual([live.of("a"), live.of("b").length], [[], 1])
})
