import assert from "node:assert/strict"
import { test } from "node:test"
import type { ModelMessage } from "../contract.ts"
import { createSum } from "./sum.ts"

const user = (text: string): ModelMessage => ({ role: "user", content: [{ type: "text", text }] })
const reply = (text: string): ModelMessage => ({ role: "assistant", text, toolCalls: [] })
const result = (text: string) => ({
  callId: "a",
  toolName: "t",
  content: [{ type: "text" as const, text }],
  isError: false,
})

test("sums up each conversation, and what is in front of its last reply once", () => {
  const measured: ModelMessage[] = []
  const sum = createSum((message) => {
    measured.push(message)
    return JSON.stringify(message).length
  })
  const results = { role: "tool" as const, results: [result("one")] }
  const conversation = [user("a"), reply("bb"), user("ccc"), reply(""), results, reply("dddd"), user("e")]
  const length = (messages: ModelMessage[]) => messages.reduce((total, each) => total + JSON.stringify(each).length, 0)
  assert.equal(sum([]), 0)
  for (let end = 1; end <= conversation.length; end += 1) {
    const messages = conversation.slice(0, end)
    assert.equal(sum(messages), length(messages))
    if (messages.at(-1) === results) {
      results.results.push(result("more"))
      assert.equal(sum(messages), length(messages))
    }
  }
  measured.length = 0
  const next = [...conversation, reply("f"), user("g")]
  assert.equal(sum(next), length(next))
  assert.deepEqual(measured, next.slice(5))
  const other = [...conversation.slice(0, 2), user("other")]
  assert.equal(sum(other), length(other))
})

test("keeps nothing of pictures", () => {
  let measured = 0
  const sum = createSum(() => (measured += 1))
  const picture: ModelMessage = { role: "user", content: [{ type: "image", mediaType: "image/png", data: "aGk=" }] }
  const conversation = [user("a"), reply("b"), picture, reply("c"), user("d")]
  sum(conversation)
  measured = 0
  sum(conversation)
  assert.equal(measured, 4)
})
