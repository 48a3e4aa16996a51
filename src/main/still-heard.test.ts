import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog, testStore } from "../../test/support/store.ts"
import { turnJob } from "../agent/index.ts"
import type { TurnInput } from "../agent/turn-input.ts"
import type { Channel } from "../channels/contract.ts"
import { recordingSender, routeTo } from "../delivery/delivery.fixture.ts"
import type { OutboxRow } from "../store/index.ts"
import { markShutOut } from "../channels/index.ts"
import { onlyToHeard } from "./still-heard.ts"

test("what waits to be sent to somebody who is shut out is not sent, and all else is", async (context) => {
  const store = await testStore(context)
  const route = routeTo("5")
  const asker = { id: "5", origin: "approved-sender" as const, isAuthorised: true }
  const input: TurnInput = {
    agentId: "main",
    sessionKey: "agent:main:main",
    purpose: "chat",
    origin: "approved-sender",
    trusted: true,
    text: "hi",
    route,
    askedBy: asker,
  }
  const { askedBy: _nobody, ...unasked } = input
  await store.write(async (write) => {
    write.addJob(turnJob("asked", input))
    write.addJob(turnJob("unasked", unasked))
  })
  const idOf = (run: string) => Number(store.handle.prepare("select id from job where run_id = ?").get(run)?.["id"])
  let isHeard = true
  const channel = { isStillHeard: () => isHeard } as unknown as Channel
  const sender = recordingSender()
  const wary = onlyToHeard({ store, channels: () => new Map([["test", channel]]), log: silentLog }, sender)
  const send = (text: string, job: number | null, createdAt = 0) =>
    wary.send(
      {
        id: 1,
        job_id: job,
        channel: "test",
        account: "default",
        chat_id: "5",
        created_at: createdAt,
        route: JSON.stringify(route),
        payload: JSON.stringify({ text }),
      } as OutboxRow,
      AbortSignal.timeout(5_000),
      () => undefined,
    )
  assert.equal((await send("while let in", idOf("asked"))).kind, "sent")
  isHeard = false
  assert.equal((await send("after that", idOf("asked"))).kind, "dropped")
  assert.equal((await send("a notice", null)).kind, "sent")
  assert.equal((await send("of nobody", idOf("unasked"))).kind, "sent")
  await store.write(async (write) => markShutOut(write, { channel: "test", account: "default", senderId: "5" }))
  assert.equal((await send("queued before", null)).kind, "dropped")
  assert.equal((await send("begun before", idOf("unasked"), store.clock.now() + 1)).kind, "dropped")
  assert.equal((await send("sent all the same", null, store.clock.now() + 1)).kind, "sent")
  isHeard = true
  assert.equal((await send("let in again", null)).kind, "sent")
  assert.deepEqual(sender.calls, [
    "5: while let in",
    "5: a notice",
    "5: of nobody",
    "5: sent all the same",
    "5: let in again",
  ])
})
