// What is old goes, what is not stays, and the event loop is never held up by it: work is counted for each stretch
// between two turns of the loop, cascades included.
import assert from "node:assert/strict"
import { setImmediate as turn } from "node:timers/promises"
import { statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { systemClock } from "../kernel/index.ts"
import { stretchRows } from "./prune.ts"
import type { Store } from "./store.ts"
import { defaultKeepTimes, removeDeletedConversations, sweeps } from "./sweeps.ts"

const day = 24 * 60 * 60 * 1000
const long = process.env["SVC_LONG_TESTS"] !== undefined
const oldRows = long ? 1_000_000 : 10_000

/** Counts the turns of the event loop until it is stopped. */
function countTurns() {
  const turns = { count: 0, stop: () => void (counting = false) }
  let counting = true
  const next = () => {
    turns.count += 1
    if (counting) setImmediate(next)
  }
  setImmediate(next)
  return turns
}

/** How often each value stands in a list, the most of them. */
function mostOfOne(values: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return Math.max(...counts.values())
}

/** Rows of every kind, as old as they may be, and one job with very many steps. */
function fillWithOld(store: Store, rows: number): void {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})`
  store.handle.raw.exec(`
    pragma synchronous = off;
    begin;
    insert into inbox (source, account, delivery_id, received_at, payload)
      ${numbers} select 'hook', '', 'd' || i, 1, '{}' from n;
    insert into job (run_id, kind, lane_key, payload, created_at, finished_at, state)
      ${numbers} select 'r' || i, 'turn', 's' || i, '{}', 1, 1, 'done' from n where i <= ${rows} / 10;
    insert into step (job_id, n, kind, data, created_at)
      ${numbers} select i / 100 + 1, i, 'prompt', '{}', 1 from n;
    insert into step (job_id, n, kind, data, created_at) ${numbers} select 7, -i, 'prompt', '{}', 1 from n where i < 5000;
    insert into outbox (lane_key, channel, account, chat_id, route, kind, payload, state, created_at)
      ${numbers} select 'l', 'c', '', '1', '{}', 'text', '{}', 'sent', 1 from n;
    insert into event (session_key, text, origin, trusted, created_at, consumed_by)
      ${numbers} select 's', 'x', 'system', 1, 1, case i % 2 when 0 then 1 end from n;
    commit;
    pragma synchronous = full;
  `)
}

test("no stretch between two turns of the event loop removes more than its share, cascades counted", async (context) => {
  const store = await testStore(context, { clock: { ...systemClock, sleep: () => turn() } })
  fillWithOld(store, oldRows)
  const changes = () => Number(store.handle.raw.prepare("select total_changes() as n").get()?.["n"])
  let before = changes()
  let most = 0
  let turns = 0
  let pruned = false
  const done = store.prune().then(() => (pruned = true))
  while (!pruned) {
    await turn()
    turns += 1
    most = Math.max(most, changes() - before)
    before = changes()
  }
  await done
  assert.ok(most > 0 && most <= stretchRows, `${most} rows in one stretch`)
  assert.ok(turns > oldRows / stretchRows)
  for (const table of ["inbox", "job", "step", "outbox", "event"]) {
    assert.equal(store.handle.raw.prepare(`select count(*) as n from ${table}`).get()?.["n"], 0, table)
  }
})

test("a stretch also ends by the clock, for rows that take long, which go one at a time", async (context) => {
  let now = 0
  // Every look at the clock finds three milliseconds gone: two statements fit into a stretch.
  const clock = { ...systemClock, monotonic: () => (now += 3), sleep: async () => undefined }
  const store = await testStore(context, { clock })
  store.handle.raw.exec(
    `insert into usage (created_at, agent_id, purpose, model)
       with recursive n(i) as (select 1 union all select i + 1 from n where i < 80) select 1, 'a', 'chat', 'm' from n`,
  )
  const { prepare } = store.handle
  const turns = countTurns()
  const deletions: number[] = []
  store.handle.prepare = (sql) => {
    if (sql.startsWith("delete from usage")) deletions.push(turns.count)
    return prepare(sql)
  }
  await store.prune()
  turns.stop()
  assert.equal(deletions.length, 81, "a statement for each row, and one that finds none")
  assert.equal(mostOfOne(deletions), 2)
  assert.equal(prepare("select count(*) as n from usage").get()?.["n"], 0)
})

test("finding what is old reads no whole table, for none of the sweeps", async (context) => {
  const store = await testStore(context)
  const texts = new Set<string>()
  const { prepare } = store.handle
  store.handle.raw.exec(
    "insert into job (run_id, kind, lane_key, payload, created_at, finished_at) values ('r', 'turn', 's', '{}', 1, 1)",
  )
  store.handle.raw.exec("insert into ended_session values ('gone', 1, 1), ('over', 0, 1)")
  const handle = { ...store.handle, prepare: (sql: string) => (texts.add(sql), prepare(sql)) }
  for (const sweep of sweeps) sweep.remove(handle, Date.now(), 5)
  assert.ok(texts.size >= sweeps.length)
  for (const sql of texts) {
    const plan = store.handle.raw
      .prepare(`explain query plan ${sql}`)
      .all()
      .map((row) => String(row["detail"]))
    // The oldest by id are read off the table's own end, as far as the limit says.
    const scans = plan.filter(
      (detail) => /^SCAN (?!\(|CONSTANT ROW)/.test(detail) && !sql.includes("order by id limit ?2"),
    )
    assert.deepEqual(scans, [], sql)
  }
})

test("a chain of writes gives I/O its turn after each of them, and a flood is cut by the clock", async (context) => {
  const store = await testStore(context)
  const turns = countTurns()
  for (let n = 0; n < 50; n += 1) await store.write(async ({ prepare }) => prepare("select 1").get())
  assert.ok(turns.count >= 50, `${turns.count} turns of the loop`)

  let now = 0
  const slow = await testStore(context, { clock: { ...systemClock, monotonic: () => (now += 3) } })
  const units: number[] = []
  await Promise.all(Array.from({ length: 30 }, () => slow.write(async () => void units.push(turns.count))))
  turns.stop()
  assert.ok(mostOfOne(units) <= 3, "three milliseconds a unit: three at most in one transaction")
})

test("sessions of hooks go with their messages, conversations of people only when that is asked for", async (context) => {
  const folder = temporaryFolder()
  const now = Date.now()
  const store = await testStore(context, { folder })
  const session = (key: string, id: string, updatedAt: number) =>
    store.handle.raw
      .prepare("insert into session (key, agent_id, session_id, created_at, updated_at) values (?, 'a', ?, 1, ?)")
      .run(key, id, updatedAt)
  session("agent:main:hook:old", "hook-old", 1)
  session("agent:main:hook:busy", "hook-busy", 1)
  session("agent:main:hook:young", "hook-young", now)
  session("agent:hook:main", "a person's, with an agent of that name", 1)
  session("agent:main:dm:hook:x", "a person's", 1)
  session("agent:main:main", "ended", 1)
  store.handle.raw.exec(`
    insert into job (run_id, kind, lane_key, payload, created_at) values ('r', 'turn', 'agent:main:hook:busy', '{}', 1);
    insert into message (session_id, message, tokens, created_at)
      select session_id, '{}', 1, 1 from session, (select 1 union all select 2);
    update session set session_id = 'goes on', updated_at = 5 where key = 'agent:main:main';
    insert into message (session_id, message, tokens, created_at) values ('goes on', '{}', 1, 1);
  `)
  const left = (which: Store) =>
    which.handle.raw
      .prepare("select distinct session_id as id from message order by id")
      .all()
      .map((row) => row["id"])
  const kept = ["a person's", "a person's, with an agent of that name", "ended", "goes on", "hook-busy", "hook-young"]
  await store.prune()
  assert.deepEqual(left(store), kept)
  await store.close()
  const strict = await testStore(context, { folder, keep: () => ({ endedSessionsMs: 30 * day }) })
  await strict.prune()
  assert.deepEqual(
    left(strict),
    kept.filter((id) => id !== "ended"),
  )
})

test("a conversation that a person deleted goes a few messages at a time, and what is known of it with the last", async (context) => {
  const { handle } = await testStore(context)
  handle.raw.exec(`
    insert into conversation (session_id, key, agent_id, created_at, deleted_at)
      values ('gone', 'agent:main:dm:1', 'main', 1, 1), ('kept', 'agent:main:dm:2', 'main', 1, null);
    insert into ended_session (session_id, machine, ended_at) values ('gone', 0, 1);
    insert into session_site (session_id, site, created_at) values ('gone', 'https://a.example', 1), ('kept', 'https://a.example', 1);
    insert into message (session_id, message, tokens, created_at)
      select column1, '{}', 1, 1 from (values ('gone'), ('gone'), ('gone'), ('gone'), ('gone'), ('kept'));
  `)
  const ids = (table: string) =>
    handle.raw
      .prepare(`select session_id as id from ${table}`)
      .all()
      .map(({ id }) => id)
  assert.equal(removeDeletedConversations(handle, 2), 2)
  assert.equal(removeDeletedConversations(handle, 2), 2)
  assert.deepEqual(ids("message"), ["gone", "kept"])
  assert.deepEqual([ids("conversation").length, ids("ended_session"), ids("session_site").length], [2, ["gone"], 2])
  assert.equal(removeDeletedConversations(handle, 2), 2)
  assert.deepEqual([ids("message"), ids("conversation"), ids("ended_session")], [["kept"], ["kept"], []])
  assert.deepEqual(ids("session_site"), ["kept"])
  assert.equal(removeDeletedConversations(handle, 2), 0)
})

test("what is removed is only marked in the indexes of words; the pruner writes them anew, a few pages at a time", async (context) => {
  const store = await testStore(context)
  const { raw } = store.handle
  raw.exec(`
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)
    insert into message (session_id, job_id, message, tokens, created_at)
      select 'gone', null, json_object('role', 'user', 'content', json_array(json_object('type', 'text', 'text',
        hex(randomblob(200))))), 1, 1 from n;
    insert into conversation (session_id, key, agent_id, created_at, deleted_at) values ('gone', 'k', 'main', 1, 2);
  `)
  const pages = () =>
    ["message_words_data", "message_parts_data"].map((table) =>
      Number(raw.prepare(`select count(*) as count from ${table}`).get()?.["count"]),
    )
  const before = pages()
  while ((await store.write(async () => removeDeletedConversations(store.handle, 50))) > 0);
  const marked = pages()
  assert.ok(
    marked.every((count, index) => count >= (before[index] ?? 0)),
    `${before.join(", ")} -> ${marked.join(", ")}`,
  )
  await store.prune()
  const left = pages()
  assert.ok(
    left.every((count) => count <= 3),
    `${marked.join(", ")} -> ${left.join(", ")}`,
  )
})

test("values of buttons and what tools have sent go a few at a time like the rest, each after its own time", async (context) => {
  const store = await testStore(context)
  const now = Date.now()
  store.handle.raw.exec(`
    insert into chat_button (key, value, created_at) values ('old', 'v', ${now - 91 * day}), ('young', 'v', ${now - 89 * day});
    insert into tool_send (run_id, digest, deliveries, created_at)
      values ('old', 'd', '[]', ${now - 8 * day}), ('young', 'd', '[]', ${now - 6 * day});
  `)
  await store.prune()
  for (const sql of ["select key as name from chat_button", "select run_id as name from tool_send"]) {
    assert.deepEqual(
      store.handle.raw
        .prepare(sql)
        .all()
        .map((row) => row["name"]),
      ["young"],
    )
  }
})

test("events that no turn has shown go after their own time only", async (context) => {
  const store = await testStore(context)
  const add = store.handle.raw.prepare(
    "insert into event (session_key, text, origin, trusted, created_at, consumed_by) values ('s', ?, 'x', 1, ?, ?)",
  )
  const now = Date.now()
  const { finishedMs, waitingEventsMs } = defaultKeepTimes
  add.run("shown, old", now - finishedMs - day, 1)
  add.run("shown, young", now - finishedMs + day, 1)
  add.run("waits", now - finishedMs - day, null)
  add.run("waits for ever", now - waitingEventsMs - day, null)
  await store.prune()
  const texts = store.handle.raw.prepare("select text from event order by id").all()
  assert.deepEqual(
    texts.map((row) => row["text"]),
    ["shown, young", "waits"],
  )
})

test("the file becomes shorter when rows go, also one that an older program made", async (context) => {
  const folder = temporaryFolder()
  const path = join(folder, "svc.db")
  const first = await testStore(context, { folder })
  first.handle.raw.exec("pragma auto_vacuum = none; vacuum")
  await first.close()
  const store = await testStore(context, { folder })
  store.handle.raw.exec(`
    insert into event (session_key, text, origin, trusted, created_at, consumed_by)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < 6000)
      select 's', hex(randomblob(1500)), 'x', 1, 1, 1 from n;
    pragma wal_checkpoint(truncate)`)
  const full = statSync(path).size
  await store.prune()
  assert.ok(statSync(path).size < full / 3, `${full} -> ${statSync(path).size}`)
})
