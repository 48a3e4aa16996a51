// A thousand chats at once: nobody is forgotten, nobody is heard twice, and each is heard in order.
import assert from "node:assert/strict"
import { test } from "node:test"
import { startBench } from "../test-bench/bench.ts"

const chats = 1_000

test("a thousand chats that write at once are each heard once and in order", async (context) => {
  const bench = await startBench({ chatapp: { dmPolicy: "open", allowFrom: ["*"] } })
  context.after(() => bench.end())
  const { control } = bench.emulator
  const people = Array.from({ length: chats }, () => control.addUser())
  for (const turn of [1, 2]) for (const { id } of people) control.sendText({ userId: id, text: `${id} says ${turn}` })
  const count = () => bench.store.handle.prepare("select count(*) as n from job").get()?.["n"]
  await bench.until(() => count() === 2 * chats, "a job for each message")
  const heard = Map.groupBy(
    bench.jobs().map(({ input }) => ({ chat: input.route?.chatId, text: input.text })),
    ({ chat }) => chat,
  )
  assert.equal(heard.size, chats)
  for (const [chat, said] of heard) {
    assert.deepEqual(
      said.map(({ text }) => text),
      [`${chat} says 1`, `${chat} says 2`],
    )
  }
})
