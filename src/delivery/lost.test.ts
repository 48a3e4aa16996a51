import assert from "node:assert/strict"
import { type TestContext, describe, test } from "node:test"
import type { Route } from "../sessions/route.ts"
import type { SendOutcome } from "./contract.ts"
import { isSettled, outboxRow, recordingSender, routeTo, startOutbox, textOf } from "./delivery.fixture.ts"
import { tellLost } from "./lost.ts"

const topic = routeTo("-100", { chatKind: "supergroup", threadId: "7" })

/** A chat that takes nothing, and an owner in chat 1. */
async function begin(context: TestContext, ownersChat: () => Route | undefined = () => routeTo("1")) {
  const refuse = (row: { chat_id: string; payload: string }): SendOutcome =>
    row.chat_id === "1" || row.payload.includes("arrives")
      ? { kind: "sent" }
      : { kind: "rejected", error: "400 Bad Request: TOPIC_CLOSED" }
  const sender = { ...recordingSender(refuse), wordsOf: textOf }
  const senders = () => new Map([[sender.channel, sender]])
  const lost = { senders, ownersChat, hide: (text: string) => text.replaceAll("s3cret", "***") }
  const outbox = await startOutbox(context, { sender, tellLost: (...gone) => tellLost(lost, ...gone) })
  const answer = (texts: string[], route: Route = topic, state = "done") =>
    outbox.store.write(async (write) => {
      write.addJob({ runId: "r", kind: "turn", laneKey: "agent:home:test:group:-100:topic:7", payload: {} })
      write.prepare("update job set state = ?, head = 0").run(state)
      for (const text of texts) write.addOutbox({ ...outboxRow(text, route), jobId: 1 })
    })
  return { outbox, answer, sender }
}

describe("an answer that a group does not take", () => {
  test("is told an owner of its agent once, with all of its words that are lost", async (context) => {
    const asked: string[] = []
    const { outbox, answer, sender } = await begin(context, (...[agentId]: string[]) => {
      asked.push(agentId ?? "")
      return routeTo("1")
    })
    await answer(["this arrives", "the code is\ns3cret", "and more"])
    await outbox.until((rows) => rows.length >= 5 && isSettled(rows))
    // Paragraphs are rows of their own here.
    assert.deepEqual(sender.calls.slice(3), [
      "1: An answer of mine could not be sent to test chat `-100`, topic 7: 400 Bad Request: TOPIC_CLOSED",
      "1: > the code is\n> ***\n> and more",
    ])
    assert.deepEqual(new Set(asked), new Set(["home"]))
  })

  test("is not told of in place of the person of a private chat, while its turn goes on, or where no owner is", async (context) => {
    for (const [route, state, ownersChat] of [
      [routeTo("2"), "done", undefined],
      [topic, "running", undefined],
      [topic, "done", () => undefined],
    ] as const) {
      const { outbox, answer } = await begin(context, ownersChat)
      await answer(["lost"], route, state)
      await outbox.until(isSettled)
      assert.deepEqual(outbox.states(), ["lost dead"])
    }
  })
})
