import assert from "node:assert/strict"
import { test } from "node:test"
import type { TurnObserver } from "../../agent/turn-input.ts"
import { LiveTexts, shownOf } from "./live.ts"

test("only whole words are shown, and nothing that is for us", () => {
  assert.equal(shownOf("the key is sk-ab"), "the key is")
  assert.equal(shownOf("the key is sk-abc "), "the key is sk-abc")
  assert.equal(shownOf("word"), "")
  assert.equal(shownOf("größ"), "größ")
  assert.equal(shownOf("look [[reply_to_current]] here\nMEDIA: /a/b.png\n"), "look  here")
})

test("a run is told while it writes: its steps one below the other, a new stream where something is taken back", () => {
  let streams = 0
  const live = new LiveTexts(() => `stream-${(streams += 1)}`)
  const changed: string[] = []
  const leave = live.onChange((runId) => changed.push(runId))
  const run = live.observe("run-1") as Required<TurnObserver>
  const delta = (text: string, kind: "text" | "thinking" = "text") => run.onDelta({ kind, text } as never)
  assert.deepEqual([live.of("run-1")?.text, live.of("run-2")], ["", undefined])
  delta("first wo")
  delta("never shown ", "thinking")
  assert.equal(live.of("run-1")?.text, "first")
  delta("rd ")
  assert.deepEqual([live.of("run-1")?.text, live.of("run-1")?.stream], ["first word", "stream-1"])
  run.onStep({ before: "first words." } as never)
  assert.deepEqual([live.of("run-1")?.text, live.of("run-1")?.stream], ["first words.", "stream-1"])
  delta("second ")
  assert.equal(live.of("run-1")?.text, "first words.\n\nsecond")
  run.onRestart()
  delta("again ")
  assert.deepEqual([live.of("run-1")?.text, live.of("run-1")?.stream], ["first words.\n\nagain", "stream-2"])
  assert.equal(changed.length, 5, "each delta of text, and each step")
  run.end()
  assert.equal(live.of("run-1"), undefined)
  assert.equal(changed.length, 6)
  leave()
  live.changed("run-1")
  assert.equal(changed.length, 6)
})
