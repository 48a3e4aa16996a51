// Whose words a job is made of reaches everything that it sends, and is kept with it.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { Migrator } from "kysely/migration"
import { testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { writeStep } from "./journal.ts"
import { migrations } from "./migrations/index.ts"
import { leastTrusted, markProvenance, provenanceOf } from "./provenance.ts"
import { openSqlite } from "./sqlite.ts"
import type { Store } from "./store.ts"

const row = { laneKey: "c", channel: "test", account: "a", chatId: "1", route: {}, kind: "text", payload: {} }
const add = (store: Store, jobId?: number) =>
  store.write(async (write) => write.addOutbox(jobId === undefined ? row : { ...row, jobId }))
const rows = (store: Store) =>
  store.handle
    .prepare("select origin, trusted from outbox order by id")
    .all()
    .map((each) => [each["origin"], each["trusted"]])

test("rows of the outbox are of the provenance that their job has when they are written", async (context) => {
  const store = await testStore(context)
  await store.write(async (write) => write.addJob({ runId: "r", kind: "turn", laneKey: "l", payload: {} }))
  await add(store)
  await add(store, 1)
  await store.write(async (write) => markProvenance(write, 1, { origin: "owner", trusted: true }))
  await writeStep(store, 1, { n: 0, kind: "prompt", data: {} })
  await add(store, 1)
  await writeStep(store, 1, { n: 1, kind: "tool-result", data: { foreign: true } })
  await add(store, 1)
  assert.deepEqual(rows(store), [
    [null, null],
    [null, null],
    ["owner", 1],
    ["owner", 0],
  ])
})

test("a row says whose words it holds when it says both who and whether they are trusted", () => {
  assert.deepEqual(provenanceOf({ origin: "owner", trusted: 1 }), { origin: "owner", trusted: true })
  assert.deepEqual(provenanceOf({ origin: "hook", trusted: 0 }), { origin: "hook", trusted: false })
  assert.equal(provenanceOf({ origin: null, trusted: 1 }), undefined)
  assert.equal(provenanceOf({ origin: "owner", trusted: null }), undefined)
})

test("of several the least trusted counts", () => {
  const owner = { origin: "owner", trusted: true }
  const system = { origin: "system", trusted: true }
  const approved = { origin: "approved-sender", trusted: true }
  const hook = { origin: "webhook", trusted: false }
  assert.equal(leastTrusted([]), undefined)
  assert.equal(leastTrusted([owner, hook, approved]), hook)
  assert.equal(leastTrusted([system, approved, owner]), approved)
  assert.equal(leastTrusted([owner, system]), owner)
})

test("a folder from before keeps the events of turns under way, and the groups that the bot was heard in", async (context) => {
  const folder = temporaryFolder()
  const handle = openSqlite(join(folder, "svc.db"))
  const { db } = handle
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateTo("0011-segments")
  assert.equal(error, undefined)
  const route = JSON.stringify({ channel: "chatapp", account: "default", chatId: "-5", chatKind: "supergroup" })
  handle.raw.exec(`
    insert into job (run_id, kind, lane_key, payload, state, created_at) values
      ('asked', 'turn', 'a', '{}', 'running', 1), ('answered', 'turn', 'b', '{}', 'running', 1),
      ('done', 'turn', 'c', '{}', 'done', 1);
    insert into step (job_id, n, kind, data, created_at) values (2, 1, 'assistant', '{}', 1);
    insert into event (session_key, text, origin, trusted, created_at, consumed_by) values
      ('a', '', 'webhook', 0, 1, 1), ('b', '', 'webhook', 0, 1, 2), ('c', '', 'webhook', 0, 1, 3);
    insert into session (key, agent_id, session_id, created_at, updated_at, last_route)
      values ('agent:main:chatapp:group:-5', 'main', 's', 1, 1, '${route}');`)
  await db.destroy()
  const store = await testStore(context, { folder })
  const events = store.handle.prepare("select consumed_by, held_by from event order by id").all()
  assert.deepEqual(
    events.map((event) => [event["consumed_by"], event["held_by"]]),
    [
      [null, 1],
      [2, null],
      [3, null],
    ],
  )
  const groups = store.handle.prepare("select chat_id, is_member from chat_membership").all()
  assert.deepEqual(
    groups.map((group) => [group["chat_id"], group["is_member"]]),
    [["-5", 1]],
  )
})
