// Jobs: claimed in lane order, finished in the transaction of their own results, released when a process stops.
import type { Json } from "../kernel/index.ts"
import { settleEvents } from "./events.ts"
import { type WorkClass, workClasses } from "./ingest.ts"
import type { JobRow, JobState } from "./schema.ts"
import type { FailureWindow } from "./outbox.ts"
import type { Store, Write } from "./store.ts"

/** A job that failed this often is given up; so is one that made the process hang, and die of it, this often. */
export const maxAttempts = 3
/**
 * Somebody who ends the process again and again proves nothing against what it was doing: a job that was running then
 * is tried with pauses, which from its third death on grow to ten seconds. So many deaths take more than a minute of
 * pauses that were really waited, and only then is the job held to be their cause. No clock is asked: it may be set.
 */
const maxDeaths = 20
const maxPauseMs = 10_000
/** After a start: what was to be joined to a waiting job has most likely come while nobody listened. */
const rejoinMs = 3_000
const rejoinYoungMs = 60_000

/** Which jobs are meant: those of a class, or those that take no place. */
export type JobChoice = WorkClass | "urgent"

const choices: Record<JobChoice | "all", string> = {
  urgent: "and urgent = 1",
  people: `and class = ${workClasses.people} and urgent = 0`,
  hooks: `and class = ${workClasses.hooks} and urgent = 0`,
  timers: `and class = ${workClasses.timers} and urgent = 0`,
  all: "",
}

/** Heads of lanes that may run now, marked as ours. What waits of other classes is not looked at. */
export async function claimJobs(store: Store, limit: number, only?: JobChoice): Promise<JobRow[]> {
  return await claimPlaces(store, [[only ?? "all", limit]])
}

/** The same for several classes in one transaction. */
export async function claimPlaces(
  store: Store,
  places: readonly (readonly [choice: JobChoice | "all", limit: number])[],
): Promise<JobRow[]> {
  // A claim that a loss of power takes back was of no boot any more.
  const claim = async ({ now }: Write) =>
    places.flatMap(([choice, limit]) => {
      const rows = store.handle
        .prepare(
          `update job set state = 'running', owner = ?, attempts = attempts + 1, started_at = coalesce(started_at, ?)
           where id in (
             select id from job where state = 'ready' and head = 1 ${choices[choice]} and run_at <= ?
             order by run_at, id limit ?)
           returning *`,
        )
        .all(store.bootId, now, now, limit)
      return rows as unknown as JobRow[]
    })
  return await store.write(claim, { force: false })
}

/** When the earliest head that is not yet due becomes due. */
export function nextDue(store: Store, only?: JobChoice): number | undefined {
  const row = store.handle
    .prepare(`select min(run_at) as due from job where state = 'ready' and head = 1 ${choices[only ?? "all"]}`)
    .get()
  return (row?.due as number | null) ?? undefined
}

/** The same for each choice that takes part in claims, at once; `Infinity` where nothing waits. */
export function nextDues(store: Store): Record<JobChoice, number> {
  const due = store.handle.prepare(duesQuery).get() as Record<JobChoice, number | null>
  const at = (choice: JobChoice) => due[choice] ?? Infinity
  return { urgent: at("urgent"), people: at("people"), hooks: at("hooks"), timers: at("timers") }
}

const duesQuery = `select ${(["urgent", "people", "hooks", "timers"] as const)
  .map((choice) => `(select min(run_at) from job where state = 'ready' and head = 1 ${choices[choice]}) as ${choice}`)
  .join(", ")}`

/** The same among the urgent ones. */
export function nextUrgentDue(store: Store): number | undefined {
  return nextDue(store, "urgent")
}

/**
 * When the first job of a person may run that waits in this lane for machine work to end; undefined when none does. It
 * is no head yet: the lane has one already.
 */
export function nextPersonIn(store: Store, laneKey: string): number | undefined {
  const row = store.handle
    .prepare(
      `select min(run_at) as due from job
       where lane_key = ? and state in ('ready', 'running') and state = 'ready' and class = ${workClasses.people}`,
    )
    .get(laneKey)
  return (row?.due as number | null) ?? undefined
}

/** Ends a job and lets the next one of its lane run. Inside the transaction of the job's results. */
export function endJob(
  store: Store,
  write: Write,
  job: Pick<JobRow, "id" | "lane_key">,
  end: { state: Extract<JobState, "done" | "dead" | "cancelled">; error?: string; result?: string },
): void {
  store.handle
    .prepare("update job set state = ?, head = 0, finished_at = ?, error = ?, result = ? where id = ?")
    .run(end.state, write.now, end.error ?? null, end.result ?? null, job.id)
  endTaken(store, write, job, end.state)
  promote(store, job.id)
}

/** What a turn has taken in leaves the queue with it: with whatever it has become, but after a stop as stopped. */
function endTaken(store: Store, write: Write, job: Pick<JobRow, "id">, state: JobState): void {
  const isStopped = state === "cancelled"
  store.handle
    .prepare(
      `update job set state = ?, finished_at = ?, error = ?,
         result = case ? when 1 then null else json_object('joined', (select run_id from job as taker where taker.id = ?)) end
       where taken_by = ? and state = 'ready'`,
    )
    .run(isStopped ? "cancelled" : "done", write.now, isStopped ? "stopped" : null, isStopped ? 1 : 0, job.id, job.id)
}

/** Waiting jobs become part of a running one: they are not run, and end when it ends. Inside a transaction. */
export function takeIn(write: Write, job: Pick<JobRow, "id">, taken: readonly Pick<JobRow, "id">[]): void {
  const statement = write.prepare("update job set taken_by = ?, head = 0 where id = ? and state = 'ready'")
  for (const { id } of taken) statement.run(job.id, id)
}

/** What a job has taken in, oldest first. */
export function takenBy(store: Store, job: Pick<JobRow, "id">): JobRow[] {
  return store.handle
    .prepare("select * from job where taken_by = ? and state = 'ready' order by id")
    .all(job.id) as unknown as JobRow[]
}

/** Gives what a job has taken in and not answered back to the queue. Inside the transaction that ends it. */
export function giveBack(write: Write, job: Pick<JobRow, "id">, jobIds: readonly number[]): void {
  const statement = write.prepare("update job set taken_by = null where id = ? and taken_by = ? and state = 'ready'")
  for (const id of jobIds) statement.run(id, job.id)
}

/**
 * Turns of one sender that wait in a lane and have not been taken in, oldest first, up to what a person waits for there and
 * is none, such as a command. Those whose sender is not known (`sender` is null) are among them. Reads nobody else's.
 */
export function waitingOfSender(store: Store, laneKey: string, sender: string, after = 0): JobRow[] {
  const { handle } = store
  const barrier = handle
    .prepare(
      `select min(id) as id from job indexed by job_others where lane_key = ? and state in ('ready', 'running') and kind <> 'turn'
         and state = 'ready' and class = 0 and taken_by is null and id > ?`,
    )
    .get(laneKey, after)?.["id"]
  const find = handle.prepare(
    `select * from job where lane_key = ? and sender is ? and state = 'ready' and taken_by is null
       and kind = 'turn' and class = 0 and id > ? and id < ? order by id`,
  )
  const end = barrier ?? Number.MAX_SAFE_INTEGER
  const [known, unknown] = [sender, null].map((whose) => find.all(laneKey, whose, after, end) as unknown as JobRow[])
  return unknown?.length === 0 ? (known ?? []) : [...(known ?? []), ...(unknown ?? [])].toSorted((a, b) => a.id - b.id)
}

/** At least as many as `waitingOfSender` finds, without reading them. */
export function countOfSender(store: Store, laneKey: string, sender: string): number {
  const count = store.handle.prepare(
    "select count(*) as n from job where lane_key = ? and sender is ? and state = 'ready' and taken_by is null",
  )
  return [sender, null].reduce((sum, whose) => sum + Number(count.get(laneKey, whose)?.["n"]), 0)
}

/** The first waiting turn of somebody else in the lane, behind the job `after`. */
export function firstOfOthers(store: Store, laneKey: string, sender: string, after: number): number | undefined {
  const row = store.handle
    .prepare(
      `select id from job where lane_key = ? and state = 'ready' and taken_by is null and (class > 0) = 0
         and kind = 'turn' and sender is not ? and id > ? order by id limit 1`,
    )
    .get(laneKey, sender, after)
  return row && Number(row["id"])
}

/** Whether a job of this kind runs or waits in the lane. */
export function isOpen(store: Store, laneKey: string, kind: string): boolean {
  // Most of a lane are turns: the first is one, and what is none has an index.
  const others = kind === "turn" ? "" : "and kind <> 'turn'"
  const row = store.handle
    .prepare(`select 1 from job where lane_key = ? and state in ('ready', 'running') ${others} and kind = ? limit 1`)
    .get(laneKey, kind)
  return row !== undefined
}

/**
 * Ends the jobs that wait behind a running one with its join key, oldest first, and returns them: they have become
 * part of it. With `adjacent` a job of another key in between ends the search. Inside a transaction that also keeps
 * what became of them.
 */
export function takeJoined(
  store: Store,
  write: Write,
  job: JobRow,
  options: { adjacent: boolean; limit: number },
): JobRow[] {
  if (job.join_key === null) return []
  const waiting = store.handle
    .prepare("select * from job where lane_key = ? and state in ('ready', 'running') and id > ? order by id limit ?")
    .all(job.lane_key, job.id, options.limit) as unknown as JobRow[]
  const isPart = (row: JobRow) => row.join_key === job.join_key && row.kind === job.kind && row.state === "ready"
  const firstOther = waiting.findIndex((row) => !isPart(row))
  const near = options.adjacent && firstOther >= 0 ? waiting.slice(0, firstOther) : waiting
  const parts = near.filter(isPart)
  for (const part of parts)
    endJob(store, write, part, { state: "done", result: JSON.stringify({ joined: job.run_id }) })
  return parts
}

/** Whether a job that has not begun waits with this join key. */
export function isJoinOpen(store: Store, joinKey: string): boolean {
  const row = store.handle
    .prepare("select 1 from job where join_key = ? and state = 'ready' and attempts = 0 limit 1")
    .get(joinKey)
  return row !== undefined
}

/** Keeps what a running job has become, so that another attempt goes on from there. */
export function replaceJobPayload(write: Write, job: Pick<JobRow, "id">, payload: Json): void {
  write.prepare("update job set payload = ? where id = ?").run(JSON.stringify(payload), job.id)
}

/** Thrown by a handler whose job cannot go on yet: it is put back without having failed, and its place is free. */
export class JobPostponed extends Error {
  readonly runAt: number

  constructor(runAt: number, reason: string) {
    super(reason)
    this.name = "JobPostponed"
    this.runAt = runAt
  }
}

/**
 * Back to the queue, still first of its lane unless a person has come meanwhile. Takes a delay and no time of day: the
 * clock may be set before this is written.
 */
export function releaseJob(
  store: Store,
  job: Pick<JobRow, "id">,
  options: { delayMs: number; error?: string; countAttempt: boolean },
): void {
  const { delayMs, error = null, countAttempt } = options
  const runAt = delayMs > 0 ? Math.round(store.clock.now() + delayMs) : 0
  const released = store.handle
    .prepare(
      `update job set state = 'ready', owner = null, head = 0, run_at = ?, delay_ms = ?, error = ?, attempts = attempts - ?
       where id = ? and state = 'running'`,
    )
    .run(runAt, delayMs > 0 ? Math.round(delayMs) : null, error, countAttempt ? 0 : 1, job.id)
  if (released.changes > 0) promote(store, job.id)
}

/**
 * In the lane that the job is in now: its chat may have moved while it ran. What is running comes first (a lane has one
 * head), then what a person waits for, then the oldest.
 */
function promote(store: Store, jobId: number): void {
  store.handle
    .prepare(
      `with lane as (select lane_key as name from job where id = ?)
       update job set head = 1 where id = coalesce(
         (select id from job where lane_key = (select name from lane) and state = 'running' limit 1),
         (select id from job where lane_key = (select name from lane) and state = 'ready' and taken_by is null
            order by class > 0, id limit 1))`,
    )
    .run(jobId)
}

/**
 * The wall clock was set by `stepMs` (or was another one when the process before ended, then undefined): what was put
 * off for a time waits no longer than that. Times that were asked for stay what they are. Inside a transaction.
 */
export function followClock(store: Store, write: Write, stepMs: number | undefined): void {
  for (const [table, open] of [
    ["job", "ready"],
    ["outbox", "new"],
  ] as const) {
    const which = `state = '${open}' and delay_ms is not null`
    if (stepMs !== undefined) {
      const hold = table === "job" ? ", hold_until = hold_until + ?1" : ""
      store.handle.prepare(`update ${table} set run_at = run_at + ?1${hold} where ${which} and run_at > 0`).run(stepMs)
    } else {
      store.handle
        .prepare(`update ${table} set run_at = ?1 + delay_ms where ${which} and run_at > ?1 + delay_ms`)
        .run(write.now)
    }
  }
}

export interface RecoverOptions {
  /** Adds what follows from giving a job up to the same transaction. */
  onDead?: (job: JobRow, error: string, write: Write) => Promise<void>
  /** Run ids of jobs that were working while the process hung, or that it died of, at its ends before this start. */
  hungRuns?: () => ReadonlySet<string>
}

/**
 * Takes over what another boot left running. The exclusive lock of the state folder proves that it is dead.
 * Returns how many go on, and the ones that were given up because they never end.
 */
export async function recoverJobs(
  store: Store,
  { onDead = async () => undefined, hungRuns = () => new Set() }: RecoverOptions = {},
): Promise<{ resumed: number; dead: JobRow[] }> {
  return await store.write(async (write) => {
    followClock(store, write, undefined)
    const left = store.handle
      .prepare("select * from job where state = 'running' and owner is not ?")
      .all(store.bootId) as unknown as JobRow[]
    left.sort((a, b) => a.id - b.id)
    const hung = hungRuns()
    const dead = left.filter((job) => job.attempts >= (hung.has(job.run_id) ? maxAttempts : maxDeaths))
    for (const job of dead) {
      const how = hung.has(job.run_id) ? "hung and ended" : "died"
      const error = `the gateway ${how} ${job.attempts} times while running it`
      await onDead(job, error, write)
      endJob(store, write, job, { state: "dead", error })
    }
    store.handle
      .prepare(
        `update job set run_at = max(run_at, ?), delay_ms = max(coalesce(delay_ms, 0), ?)
         where join_key is not null and state = 'ready' and attempts = 0 and created_at > ?`,
      )
      .run(write.now + rejoinMs, rejoinMs, write.now - rejoinYoungMs)
    for (const job of left) {
      if (dead.includes(job)) continue
      const pauseMs = Math.min(1_000 * 2 ** (job.attempts - maxAttempts), maxPauseMs)
      releaseJob(store, job, { delayMs: job.attempts < maxAttempts ? 0 : pauseMs, countAttempt: true })
    }
    return { resumed: left.length - dead.length, dead }
  })
}

/**
 * Ends the jobs of a lane that are not running and match, oldest first, and returns them. What those that had begun
 * once (and were put back, by a stop of the gateway too) took from their session, it gets back.
 */
export function cancelWaiting(
  store: Store,
  write: Write,
  laneKey: string,
  matches: (job: JobRow) => boolean = () => true,
): JobRow[] {
  const all = store.handle
    .prepare(
      `select * from job where lane_key = ? and state in ('ready', 'running') and state = 'ready' and taken_by is null
         order by id`,
    )
    .all(laneKey) as unknown as JobRow[]
  const waiting = all.filter(matches)
  for (const job of waiting) cancelJob(store, write, job, "ready")
  return waiting
}

/** The same for one job, if it is in this state. */
export function cancelJob(
  store: Store,
  write: Write,
  job: Pick<JobRow, "id" | "lane_key">,
  state: Extract<JobState, "ready" | "running">,
): void {
  if (!store.handle.prepare("select 1 from job where id = ? and state = ?").get(job.id, state)) return
  settleEvents(write, job.id)
  endJob(store, write, job, { state: "cancelled", error: "stopped" })
}

/** What runs or waits in a lane, oldest first. */
export function openJobs(store: Store, laneKey: string): JobRow[] {
  return store.handle
    .prepare("select * from job where lane_key = ? and state in ('ready', 'running') order by id")
    .all(laneKey) as unknown as JobRow[]
}

/** Whether a job of this kind runs in the lane now. */
export function isRunning(store: Store, laneKey: string, kind: string): boolean {
  const row = store.handle
    .prepare("select 1 from job where lane_key = ? and state = 'running' and kind = ? limit 1")
    .get(laneKey, kind)
  return row !== undefined
}

/**
 * A job that was given up or stopped goes on where its journal ends, unless its lane has gone on without it: whoever waited for it has
 * asked anew then. Inside a transaction.
 */
export function reopenJob(store: Store, write: Write, runId: string): boolean {
  const job = write.prepare("select * from job where run_id = ? and state in ('dead', 'cancelled')").get(runId) as
    | JobRow
    | undefined
  const later = "select 1 from job where lane_key = ? and kind = ? and id > ? and taken_by is null limit 1"
  if (!job || write.prepare(later).get(job.lane_key, job.kind, job.id)) return false
  // What it said of its end, in the transaction of that end, is no answer of what follows.
  write.prepare("update outbox set job_id = null where job_id = ? and created_at = ?").run(job.id, job.finished_at)
  write
    .prepare(
      `update job set state = 'ready', head = 0, attempts = 0, owner = null, run_at = 0, delay_ms = null,
         finished_at = null, error = null, result = null where id = ?`,
    )
    .run(job.id)
  promote(store, job.id)
  return true
}

/** How many jobs are in each state that a person asks about. Read from partial indexes, whatever the table holds. */
export function countJobs(store: Store, failures?: FailureWindow): { ready: number; running: number; dead: number } {
  const one = (where: string, ...values: number[]) =>
    (store.handle.prepare(`select count(*) as n from job where ${where}`).get(...values) as { n: number }).n
  const counted = [failures?.jobId ?? 0, failures?.since ?? 0]
  const open = one("state in ('ready', 'running')")
  const running = one("state = 'running'")
  return { ready: open - running, running, dead: one("state = 'dead' and id > ? and created_at >= ?", ...counted) }
}
