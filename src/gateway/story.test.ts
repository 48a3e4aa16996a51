// What belongs to a run, put together from the tables that know it; and the rows of the outbox beside it.
import assert from "node:assert/strict"
import { test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import type { Store } from "../store/index.ts"
import { deliveriesByIds, deliveriesOfJob, dismissDelivery } from "./delivery-rows.ts"
import { readPicture } from "./runs.ts"
import { readStory } from "./story.ts"

async function fill(store: Store) {
  await store.write(async ({ addJob, prepare }) => {
    const again = { again: { runId: "run-1", step: 3 } }
    for (const runId of ["run-1", "run-2", "other"])
      addJob({ runId, kind: "turn", laneKey: "lane", payload: { text: "x", ...(runId === "run-2" ? again : {}) } })
    prepare("update job set created_at = 1000000, finished_at = 1100000, inbox_id = id").run()
    prepare("update job set taken_by = 1 where run_id = 'other'").run()
    const inbox = prepare("insert into inbox values (?, ?, ?, ?, ?, ?, ?)")
    inbox.run(1, "hook", "default", "d-1", 999_000, '{"rule":"listed-id"}', null)
    inbox.run(2, "chatapp", "work", "d-2", 999_000, '{"rule":5}', null)
    inbox.run(9, "gateway", "run-again", "run-1:1", 1, "{}", '{"runId":"run-2"}')
    inbox.run(10, "gateway", "run-again", "run-10:1", 1, "{}", '{"runId":"none"}')
    const usage = prepare(
      `insert into usage (created_at, session_key, run_id, agent_id, purpose, model, ms, cost_nano_dollars)
       values (?, 'lane', ?, 'main', 'turn', 'm', 5, ?)`,
    )
    usage.run(1_050_000, "run-1", 2_500_000_000)
    usage.run(1_160_000, "run-1", null)
    usage.run(1_160_001, "run-1", null)
    usage.run(1_050_000, "run-2", 1)
    prepare(
      `insert into event (session_key, text, origin, trusted, created_at, consumed_by)
       values ('lane', ?, 'webhook', 0, 7, 1), ('lane', 'later', 'webhook', 0, 8, 2)`,
    ).run("e".repeat(1_001))
    prepare(
      `insert into approval (id, run_id, session_key, agent_id, origin, tool, action, digest, text, resume, asked_at, expires_at)
       values ('a', 'run-1', 'lane', 'main', 'owner', 't', 'x', 'd', 'May I?', '{}', 5, 6)`,
    ).run()
    const hook = prepare(
      `insert into hook_delivery (received_at, mapping, path, method, headers, query, body, verdict, status, runs, took_us)
       values (?, 'm', '/', 'POST', '{}', '', x'', 'accepted', 202, ?, 1)`,
    )
    hook.run(930_000, '["run-1"]')
    hook.run(999_000, '["run-1"]')
    hook.run(999_500, '["run-9"]')
  })
}

test("a run is told with how it came in, what it was shown, took, asked and sent, and what repeats it", async (context) => {
  const store = await testStore(context)
  await fill(store)
  const story = readStory(store, "run-1")
  const arrival = {
    source: "hook",
    account: "default",
    deliveryId: "d-1",
    receivedAt: 999_000,
    rule: "listed-id",
    hook: 2,
  }
  assert.deepEqual(story.arrival, arrival)
  assert.deepEqual(
    story.events.map(({ text, createdAt }) => [text.length, createdAt]),
    [[1_000, 7]],
  )
  assert.deepEqual(
    story.calls.map(({ at, cost }) => [at, cost]),
    [
      [1_050_000, 2.5],
      [1_160_000, null],
    ],
  )
  assert.deepEqual(
    story.approvals.map((each) => ({ ...each })),
    [{ id: "a", state: "asked", text: "May I?", askedAt: 5 }],
  )
  assert.deepEqual([story.again, story.repeats, story.takenIn], [null, ["run-2"], ["other"]])
  const second = readStory(store, "run-2")
  assert.deepEqual([second.again, second.repeats, second.takenIn], [{ runId: "run-1", step: 3 }, [], []])
  assert.deepEqual([second.arrival?.rule, second.arrival?.hook, second.calls.length], [null, null, 1])
  assert.equal(readStory(store, "other").arrival, null)
  assert.throws(() => readStory(store, "nothing"), { code: "turn-not-found" })
})

test("messages of a run are told oldest first, and only what has failed can be set aside", async (context) => {
  const store = await testStore(context)
  await fill(store)
  const route = { channel: "chatapp", account: "default", chatId: "1", chatKind: "private" as const }
  await store.write(async ({ addOutbox, prepare }) => {
    for (const text of ["first", "second", "third"])
      addOutbox({
        laneKey: "l",
        channel: "chatapp",
        account: "default",
        chatId: "1",
        route,
        kind: "text",
        payload: { text },
        jobId: 1,
      })
    prepare("update outbox set state = 'dead' where id = 1").run()
    prepare("update outbox set state = 'uncertain' where id = 2").run()
  })
  const states = () => deliveriesOfJob(store, 1).map(({ id, state }) => `${id} ${state}`)
  assert.deepEqual(states(), ["1 dead", "2 uncertain", "3 new"])
  assert.deepEqual(
    deliveriesByIds(store, [3, 1, 99]).map(({ id, runId }) => [id, runId]),
    [
      [1, "run-1"],
      [3, "run-1"],
    ],
  )
  await dismissDelivery(store, 1)
  await dismissDelivery(store, 2)
  await assert.rejects(dismissDelivery(store, 1), { code: "conflict", message: /Delivery 1 is dropped/ })
  await assert.rejects(dismissDelivery(store, 3), { code: "conflict", message: /Delivery 3 is new/ })
  await assert.rejects(dismissDelivery(store, 99), { status: 404 })
  assert.deepEqual(states(), ["1 dropped", "2 dropped", "3 new"])
})

test("the first picture of a step is shown, where it is one that can hold no script", async (context) => {
  const store = await testStore(context)
  await fill(store)
  const picture = (mediaType: string, data: string) => ({
    type: "image",
    mediaType,
    data: Buffer.from(data).toString("base64"),
  })
  await store.write(async ({ prepare }) => {
    const insert = prepare("insert into step (job_id, n, kind, data, created_at) values (1, ?, 'result', ?, 1)")
    const text = { type: "text", text: "x" }
    insert.run(1, JSON.stringify({ content: [text, picture("image/png", "one"), picture("image/png", "two")] }))
    insert.run(2, JSON.stringify({ content: [picture("image/svg+xml", "script")] }))
    insert.run(3, JSON.stringify({ content: "no list" }))
  })
  const shown = readPicture(store, "run-1", 1)
  assert.deepEqual([shown.headers.get("content-type"), await shown.text()], ["image/png", "one"])
  for (const [runId, n] of [
    ["run-1", 2],
    ["run-1", 3],
    ["run-1", 4],
    ["run-2", 1],
  ] as const)
    assert.throws(() => readPicture(store, runId, n), { code: "not-found" }, `${runId} ${n}`)
})
