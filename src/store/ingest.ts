// The only door in: an accepted event is written together with everything it causes, in one transaction, and only
// then answered. A repeat of a delivery id changes nothing and gives back the first answer.
import type { SQLInputValue } from "node:sqlite"
import type { Json } from "../kernel/index.ts"
import type { SqliteHandle } from "./sqlite.ts"

/**
 * Who waits for a job: a person, the sender of a webhook, or nobody (what the gateway does by itself at times). Each class
 * has places of its own, and inside a lane what a person waits for goes before what machines have sent.
 */
export const workClasses = { people: 0, hooks: 1, timers: 2 } as const
export type WorkClass = keyof typeof workClasses

export interface NewJob {
  runId: string
  /** Which handler runs it. */
  kind: string
  laneKey: string
  payload: Json
  /** Default: `people`. */
  class?: WorkClass
  /** Not before this time (milliseconds since the epoch). */
  runAt?: number
  /** Runs even while as many jobs run as may: for what must be heard then, and takes no time. */
  urgent?: boolean
  /** Left out when an unstarted job of the same kind already waits in the lane. */
  coalesce?: boolean
  /**
   * Waits `holdMs` for more jobs with the same key, and with each of them anew, but never longer than `maxHoldMs` after
   * it came. Whoever runs the first of them takes in the others with `takeJoined`.
   */
  join?: { key: string; holdMs: number; maxHoldMs: number }
  /** The message that it came from; see `jobOfMessage`. */
  ref?: string
  /** Whose message it is, in a form of the caller's; `waitingOfSender` finds it by that. */
  sender?: string
}

export interface NewEvent {
  sessionKey: string
  text: string
  origin: string
  trusted: boolean
  /** The text in pieces, where it is known whose words each of them is. Nothing here reads them. */
  segments?: Json
  /** A heartbeat that shows it may be given the session's history, though others wrote it. */
  shareHistory?: boolean
}

export interface NewOutbox {
  /** Order is kept among rows of one lane. */
  laneKey: string
  channel: string
  account: string
  chatId: string
  /** The whole route, as it was fixed when the message arrived. */
  route: Json
  /** What the channel's sender does with it: `text`, `photo`, ... */
  kind: string
  payload: Json
  jobId?: number
  runAt?: number
  /** It asks whether the deliveries with the same `doubt` have arrived. */
  doubt?: string
}

export interface IngestEntry {
  source: string
  account: string
  /** Unique for (source, account): the sender's own id of the delivery. */
  deliveryId: string
  payload: Json
  /** What the sender is answered. */
  answer?: Json
  jobs?: NewJob[]
  events?: NewEvent[]
  outbox?: NewOutbox[]
  /** Rows of the feature's own tables, written only when the entry is new. Must be statements that cannot conflict. */
  rows?: { sql: string; values: SQLInputValue[] }[]
}

export type IngestResult = { kind: "accepted" } | { kind: "duplicate"; answer: Json | null }

const sqlInbox = `insert into inbox (source, account, delivery_id, received_at, payload, answer)
  values (?, ?, ?, ?, ?, ?) on conflict do nothing`
const sqlAnswer = "select answer from inbox where source = ? and account = ? and delivery_id = ?"
const openJob = "select 1 from job where lane_key = ? and state in ('ready', 'running')"
const sqlJob = `insert into job
  (run_id, inbox_id, kind, lane_key, payload, run_at, delay_ms, hold_until, created_at, join_key, urgent, ref, class, sender, head)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, not exists (${openJob}))`
// What a person waits for stands before machine work that has not begun.
const sqlJobOfPeople = sqlJob.replace(openJob, `${openJob} and (state = 'running' or class = 0)`)
const sqlYieldHead = "update job set head = 0 where lane_key = ? and head = 1 and state = 'ready' and class > 0"
const sqlHold = `update job set run_at = min(?1, coalesce(hold_until, ?1)), delay_ms = ?2
  where join_key = ?3 and state = 'ready' and attempts = 0`
// The open states are named as the partial index names them: without that SQLite reads the whole table.
const sqlWaiting = `select 1 from job where lane_key = ? and state in ('ready', 'running')
  and kind = ? and state = 'ready' and attempts = 0`
const sqlEvent = `insert into event (session_key, text, origin, trusted, created_at, segments, share_history)
  values (?, ?, ?, ?, ?, ?, ?)`
const openRow = "select 1 from outbox where lane_key = ?1 and state in ('new', 'sending')"
const sqlOutbox = `insert into outbox
  (lane_key, job_id, channel, account, chat_id, route, kind, payload, run_at, delay_ms, doubt, created_at, head, origin, trusted)
  values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, not exists (${openRow}),
    (select origin from job where id = ?2), (select trusted from job where id = ?2))`

/** Must run inside a transaction. Plain prepared statements: this is the path that every event takes. */
export function ingestEntry(handle: SqliteHandle, entry: IngestEntry, now: number): IngestResult {
  const { source, account, deliveryId } = entry
  const answer = entry.answer === undefined ? null : JSON.stringify(entry.answer)
  const inserted = run(handle, sqlInbox, source, account, deliveryId, now, JSON.stringify(entry.payload), answer)
  if (inserted.changes === 0) {
    const first = handle.prepare(sqlAnswer).get(source, account, deliveryId) as { answer: string | null } | undefined
    return { kind: "duplicate", answer: first?.answer ? (JSON.parse(first.answer) as Json) : null }
  }
  const inboxId = Number(inserted.lastInsertRowid)
  for (const job of entry.jobs ?? []) insertJob(handle, job, now, inboxId)
  for (const event of entry.events ?? []) insertEvent(handle, event, now)
  for (const row of entry.outbox ?? []) insertOutbox(handle, row, now)
  for (const row of entry.rows ?? []) run(handle, row.sql, ...row.values)
  return { kind: "accepted" }
}

export function insertJob(handle: SqliteHandle, job: NewJob, now: number, inboxId: number | null = null): boolean {
  if (job.coalesce && handle.prepare(sqlWaiting).get(job.laneKey, job.kind)) return false
  const payload = JSON.stringify(job.payload)
  const { join } = job
  if (join) run(handle, sqlHold, now + join.holdMs, join.holdMs, join.key)
  const runAt = join ? now + join.holdMs : (job.runAt ?? 0)
  const delayMs = join?.holdMs ?? null
  const holdUntil = join ? now + join.maxHoldMs : null
  const { runId, kind, laneKey } = job
  const urgent = job.urgent ? 1 : 0
  const key = join?.key ?? null
  const ref = job.ref ?? null
  const workClass = workClasses[job.class ?? "people"]
  if (workClass === workClasses.people) run(handle, sqlYieldHead, laneKey)
  const insert = workClass === workClasses.people ? sqlJobOfPeople : sqlJob
  run(
    handle,
    insert,
    runId,
    inboxId,
    kind,
    laneKey,
    payload,
    runAt,
    delayMs,
    holdUntil,
    now,
    key,
    urgent,
    ref,
    workClass,
    job.sender ?? null,
    laneKey,
  )
  return true
}

export function insertEvent(handle: SqliteHandle, event: NewEvent, now: number): void {
  const segments = event.segments === undefined ? null : JSON.stringify(event.segments)
  const { sessionKey, text, origin, trusted, shareHistory } = event
  run(handle, sqlEvent, sessionKey, text, origin, trusted ? 1 : 0, now, segments, shareHistory ? 1 : 0)
}

/** The id of the new row. */
export function insertOutbox(handle: SqliteHandle, row: NewOutbox, now: number): number {
  const { laneKey, channel, account, chatId } = row
  const route = JSON.stringify(row.route)
  const payload = JSON.stringify(row.payload)
  const runAt = row.runAt ?? 0
  const inserted = run(
    handle,
    sqlOutbox,
    laneKey,
    row.jobId ?? null,
    channel,
    account,
    chatId,
    route,
    row.kind,
    payload,
    runAt,
    row.runAt === undefined ? null : Math.max(0, row.runAt - now),
    row.doubt ?? null,
    now,
  )
  return Number(inserted.lastInsertRowid)
}

function run(handle: SqliteHandle, sql: string, ...parameters: SQLInputValue[]) {
  return handle.prepare(sql).run(...parameters)
}
