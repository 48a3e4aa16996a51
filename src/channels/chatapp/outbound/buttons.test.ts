import assert from "node:assert/strict"
import { test } from "node:test"
import { testStore } from "../../../../test/support/store.ts"
import type { ReplyButton } from "../../../delivery/contract.ts"
import { inlineKeyboard, keepLongValues, readButtonValue } from "./buttons.ts"

const keyOf = (button: ReplyButton) => inlineKeyboard([[button]]).inline_keyboard.flat()[0]?.callback_data ?? ""

test("a row without buttons is left out, which the platform would refuse", () => {
  const yes = { text: "Yes", data: "yes" }
  assert.deepEqual(inlineKeyboard([[], [yes], []]).inline_keyboard, [[{ text: "Yes", callback_data: "yes" }]])
})

test("a value that several turns have made is that of the least trusted, whoever made it last", async (context) => {
  const store = await testStore(context)
  const choice: ReplyButton = { text: "x", data: "v".repeat(65) }
  const madeBy = async (origin: string, trusted: number) => {
    await keepLongValues(store, [[choice]], { job_id: null, origin, trusted })
    return readButtonValue(store, keyOf(choice))?.madeBy
  }
  assert.deepEqual(await madeBy("owner", 1), { origin: "owner", trusted: true })
  assert.deepEqual(await madeBy("webhook", 0), { origin: "webhook", trusted: false })
  assert.deepEqual(await madeBy("owner", 1), { origin: "webhook", trusted: false })
})

test("a value that we handle ourselves comes back as such, and nothing that others write can pass for one", async (context) => {
  const store = await testStore(context)
  const ours: ReplyButton = { text: "Send it again", data: "question-1", handler: "resend" }
  const own = keyOf(ours)
  const forged: ReplyButton[] = [
    { text: "x", data: "question-1" },
    { text: "x", data: own },
    { text: "x", data: "resend:question-1" },
  ]
  await keepLongValues(store, [[ours, ...forged]], { job_id: null, origin: null, trusted: null })
  assert.deepEqual(readButtonValue(store, own), { value: "question-1", runs: false, handler: "resend" })
  for (const button of forged) {
    const key = keyOf(button)
    assert.ok(key.length <= 64)
    assert.deepEqual(readButtonValue(store, key), { value: button.data, runs: false })
  }
  assert.equal(readButtonValue(store, "resend:nobody-made-this"), undefined)
})
