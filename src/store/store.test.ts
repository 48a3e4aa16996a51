import assert from "node:assert/strict"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import { plain, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import type { IngestEntry } from "./ingest.ts"
import {
  countEvents,
  freeStrayEvents,
  freshEvents,
  hasEvents,
  holdEvents,
  leaveOutEvents,
  refusedEvent,
  settleEvents,
} from "./events.ts"
import {
  cancelWaiting,
  claimJobs,
  countJobs,
  endJob,
  isOpen,
  isRunning,
  nextDue,
  nextUrgentDue,
  recoverJobs,
  releaseJob,
} from "./jobs.ts"
import { countOutbox, countUncertain, leftSending } from "./outbox.ts"
import { acquireStateLock } from "./lock.ts"
import type { JobRow } from "./schema.ts"
import { AppError } from "../kernel/index.ts"

const entry = (deliveryId: string, more: Partial<IngestEntry> = {}): IngestEntry => ({
  source: "hook",
  account: "",
  deliveryId,
  payload: { text: deliveryId },
  answer: { ok: true, id: deliveryId },
  ...more,
})
const job = (runId: string, laneKey = "lane") => ({ runId, kind: "turn", laneKey, payload: {} })

test("one that is closed accepts nothing, and says why", async (context) => {
  const store = await testStore(context)
  await store.close()
  assert.equal(store.accepting(), false)
  const refused = { code: "not-ready", message: "The gateway has stopped" }
  await assert.rejects(store.ingest(entry("late")), refused)
  await assert.rejects(
    store.write(async () => undefined),
    refused,
  )
})

test("accepts a delivery once and gives a repeat the first answer, also after a restart", async (context) => {
  const folder = temporaryFolder()
  const first = await testStore(context, { folder })
  assert.deepEqual(await first.ingest(entry("a", { jobs: [job("r1")] })), { kind: "accepted" })
  await first.close()
  const second = await testStore(context, { folder })
  const repeat = await second.ingest(entry("a", { jobs: [job("r2")], answer: { ok: true, id: "other" } }))
  assert.deepEqual(repeat, { kind: "duplicate", answer: { ok: true, id: "a" } })
  const runs = await second.db.selectFrom("job").select("run_id").execute()
  assert.deepEqual(plain(runs), [{ run_id: "r1" }])
})

test("tells deliveries of different senders and accounts apart", async (context) => {
  const store = await testStore(context)
  const results = await store.ingestBatch([
    entry("a"),
    entry("a", { account: "other" }),
    entry("a", { source: "chatapp" }),
    entry("a"),
  ])
  assert.deepEqual(
    results.map((result) => result.kind),
    ["accepted", "accepted", "accepted", "duplicate"],
  )
})

test("shares one transaction among the writers of one turn of the event loop", async (context) => {
  const store = await testStore(context)
  const changes = () => store.handle.raw.prepare("pragma data_version").get()
  const watcher = new DatabaseSync(join(store.handle.raw.location() ?? ""))
  context.after(() => watcher.close())
  const version = () => (watcher.prepare("pragma data_version").get() as { data_version: number }).data_version
  const before = version()
  await Promise.all(Array.from({ length: 100 }, (_, index) => store.ingest(entry(`d${index}`))))
  assert.equal(version() - before, 1)
  assert.ok(changes())
})

test("lets one writer fail without its neighbours in the same transaction", async (context) => {
  const store = await testStore(context)
  const outcomes = await Promise.allSettled([
    store.write(async ({ addEvent }) => addEvent({ sessionKey: "s", text: "one", origin: "system", trusted: true })),
    store.write(async ({ addEvent }) => {
      addEvent({ sessionKey: "s", text: "never", origin: "system", trusted: true })
      throw new Error("no")
    }),
    store.write(async ({ addEvent }) => addEvent({ sessionKey: "s", text: "two", origin: "system", trusted: true })),
  ])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status),
    ["fulfilled", "rejected", "fulfilled"],
  )
  const texts = await store.db.selectFrom("event").select("text").orderBy("id").execute()
  assert.deepEqual(plain(texts), [{ text: "one" }, { text: "two" }])
})

test("keeps the database and its folder for its owner alone", async (context) => {
  const folder = temporaryFolder()
  const store = await testStore(context, { folder })
  await store.ingest(entry("a"))
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, "svc.db")).mode & 0o777, 0o600)
})

test("refuses a second owner of the state folder and names the first", async () => {
  const folder = temporaryFolder()
  const owner = { pid: 4711, bootId: "one", startedAt: "2026-01-01T00:00:00.000Z" }
  const lock = await acquireStateLock(folder, owner)
  for (const name of readdirSync(folder).filter((each) => each.startsWith("gateway."))) {
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
  }
  await assert.rejects(
    acquireStateLock(folder, { ...owner, pid: 1, bootId: "two" }),
    (error) => error instanceof AppError && error.code === "already-running" && error.message.includes("4711"),
  )
  await lock.release()
  await (await acquireStateLock(folder, { ...owner, bootId: "three" })).release()
})

test("takes over what another boot was running, and gives up what the process died of", async (context) => {
  const folder = temporaryFolder()
  const first = await testStore(context, { folder, bootId: "one" })
  const runs = ["once", "hung", "hung-twice", "killed", "ended"]
  await first.ingest(entry("a", { jobs: [...runs.map((run) => job(run, run)), job("next", "hung")] }))
  const left = (run: string, attempts: number) =>
    first.handle.raw.exec(
      `update job set state = 'running', owner = 'one', attempts = ${attempts}, started_at = 1 where run_id = '${run}'`,
    )
  left("once", 1)
  left("hung", 3)
  left("hung-twice", 2)
  // Somebody who kills the process again and again proves nothing against it, however long ago the first time was.
  left("killed", 19)
  left("ended", 20)
  await first.close()
  const second = await testStore(context, { folder, bootId: "two" })
  const told: string[] = []
  const { resumed, dead } = await recoverJobs(second, {
    onDead: async (row, error) => void told.push(`${row.run_id}: ${error}`),
    hungRuns: () => new Set(["hung", "hung-twice", "of-long-ago"]),
  })
  assert.equal(resumed, 3)
  assert.deepEqual(told, [
    "hung: the gateway hung and ended 3 times while running it",
    "ended: the gateway died 20 times while running it",
  ])
  assert.deepEqual(
    dead.map((row) => row.run_id),
    ["hung", "ended"],
  )
  const rows = await second.db.selectFrom("job").select(["run_id", "state", "head"]).orderBy("id").execute()
  assert.deepEqual(plain(rows), [
    { run_id: "once", state: "ready", head: 1 },
    { run_id: "hung", state: "dead", head: 0 },
    { run_id: "hung-twice", state: "ready", head: 1 },
    { run_id: "killed", state: "ready", head: 1 },
    { run_id: "ended", state: "dead", head: 0 },
    { run_id: "next", state: "ready", head: 1 },
  ])
  // It waits a little before it is tried again.
  const [suspect] = await second.db.selectFrom("job").select("run_at").where("run_id", "=", "killed").execute()
  assert.ok((suspect?.run_at ?? 0) > Date.now())
})

test("reads no whole table on the way of an event, however many finished rows there are", async (context) => {
  const store = await testStore(context)
  const texts = new Set<string>()
  const { prepare } = store.handle
  store.handle.prepare = (sql) => {
    texts.add(sql)
    return prepare(sql)
  }
  const wake = { ...job("r1", "lane"), coalesce: true }
  await store.ingest(entry("a", { jobs: [wake, job("r2", "lane")], events: [] }))
  await store.write(async (write) => cancelWaiting(store, write, "lane"))
  isRunning(store, "lane", "turn")
  await claimJobs(store, 4)
  await store.write(async (write) => {
    freshEvents(store, "s")
    refusedEvent(store, "s")
    freeStrayEvents(write, "s")
    holdEvents(write, 1, [{ id: 1, to: null }])
    leaveOutEvents(write, 1)
    settleEvents(write, 1, { blame: true })
    settleEvents(write, 1, { isAnswered: true })
  })
  countEvents(store)
  await claimJobs(store, 4, "urgent")
  nextDue(store)
  nextUrgentDue(store)
  await recoverJobs(store)
  leftSending(store)
  countUncertain(store)
  countJobs(store)
  countOutbox(store)
  hasEvents(store, "s")
  assert.ok(texts.size > 10)
  for (const sql of texts) {
    const plan = store.handle.raw.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
    // A partial index holds only open rows: scanning one is as much work as there is work.
    const scans = plan.filter(({ detail }) => /^SCAN (job|outbox|event|inbox)(?! USING)/.test(detail))
    assert.deepEqual(scans, [], sql)
  }
})

test("reads no whole lane to add, end and look for jobs, however many wait in it", async (context) => {
  const store = await testStore(context)
  await store.write(async (write) => write.addJob(job("first", "lane")))
  const [running] = await claimJobs(store, 1)
  const texts = new Set<string>()
  const { prepare } = store.handle
  store.handle.prepare = (sql) => {
    texts.add(sql)
    return prepare(sql)
  }
  await store.write(async (write) => {
    write.addJob({ ...job("second", "lane"), class: "hooks" })
    write.addJob(job("third", "lane"))
    endJob(store, write, running as JobRow, { state: "done" })
  })
  assert.deepEqual([isRunning(store, "lane", "turn"), isOpen(store, "lane", "compact")], [false, false])
  const ends = store.handle
    .prepare("select run_id from job where head = 1")
    .all()
    .map((row) => row["run_id"])
  assert.deepEqual(ends, ["third"], "what a person waits for goes first")
  const plans = [...texts]
    .filter((sql) => sql.includes("lane_key = "))
    .flatMap((sql) => store.handle.raw.prepare(`explain query plan ${sql}`).all() as { detail: string }[])
    .flatMap(({ detail }) => /INDEX (\w+) \(lane_key=\?\)/.exec(detail)?.[1] ?? [])
  // `job_lane` is asked only whether there is any; the first row of it says so.
  assert.deepEqual([...new Set(plans)].toSorted(), ["job_head", "job_lane", "job_order", "job_runs"])
})

test("gives a session back what a cancelled job had taken and no model has seen", async (context) => {
  const store = await testStore(context)
  const event = (text: string) => ({ sessionKey: "s", text, origin: "system", trusted: true })
  await store.ingest(entry("a", { jobs: [job("begun"), job("fresh")], events: [event("one")] }))
  const [begun] = await claimJobs(store, 1)
  await store.write(async (write) => {
    holdEvents(
      write,
      begun?.id ?? 0,
      freshEvents(store, "s").map(({ id }) => ({ id, to: null })),
    )
    // As a gateway does that is stopped: it does not count as an attempt.
    releaseJob(store, { id: begun?.id ?? 0 }, { delayMs: 0, countAttempt: false })
  })
  assert.equal(hasEvents(store, "s"), false)
  const cancelled = await store.write(async (write) => cancelWaiting(store, write, "lane"))
  assert.deepEqual(
    cancelled.map((each) => each.run_id),
    ["begun", "fresh"],
  )
  assert.equal(hasEvents(store, "s"), true)
  assert.equal(countJobs(store).ready, 0)
})
