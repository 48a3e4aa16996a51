// What belongs to a run beside its steps, from the tables that know it: how it came in, what it was shown, what its model
// calls took, what it asked, what it sent. Each question goes by an index, or looks at rows of the run's own time.
import type { z } from "zod"
import { AppError } from "../kernel/index.ts"
import type { JobRow, Store } from "../store/index.ts"
import { deliveriesOfJob } from "./delivery-rows.ts"
import type { runEndpoints } from "./endpoints/runs.ts"
import { idAt } from "./id-at.ts"
import { shorten } from "./shorten.ts"

type Story = z.input<(typeof runEndpoints)["GET /api/runs/:runId/story"]["reply"]>
type Job = Pick<JobRow, "id" | "inbox_id" | "run_id" | "lane_key" | "created_at" | "finished_at">

const mostRows = 200
/** Rows of a webhook are written with the job, or the moment before. */
const nearMs = 60_000

export function readStory(store: Store, runId: string): Story {
  const job = store.handle
    .prepare("select id, inbox_id, run_id, lane_key, created_at, finished_at from job where run_id = ?")
    .get(runId) as Job | undefined
  if (!job) throw new AppError("turn-not-found", `There is no run ${shorten(runId, 60)}`)
  return {
    arrival: readArrival(store, job),
    events: readEvents(store, job),
    calls: readCalls(store, job),
    approvals: readApprovals(store, job),
    messages: deliveriesOfJob(store, job.id),
    ...readRepeats(store, job),
    takenIn: readTakenIn(store, job),
  }
}

function readRepeats(store: Store, job: Job): Pick<Story, "again" | "repeats"> {
  const again = store.handle
    .prepare("select json_extract(payload, '$.again') as again from job where id = ?")
    .get(job.id)
  const repeats = store.handle
    .prepare(
      `select json_extract(answer, '$.runId') as runId from inbox where source = 'gateway' and account = 'run-again'
         and delivery_id >= ? and delivery_id < ? order by id limit ${mostRows}`,
    )
    .all(`${job.run_id}:`, `${job.run_id};`)
  return {
    again: again?.["again"] ? (JSON.parse(String(again["again"])) as Story["again"]) : null,
    repeats: repeats.map(({ runId }) => String(runId)),
  }
}

function readArrival(store: Store, job: Job): Story["arrival"] {
  const row =
    job.inbox_id === null ? undefined : store.handle.prepare("select * from inbox where id = ?").get(job.inbox_id)
  if (!row) return null
  const payload = JSON.parse(String(row["payload"])) as { rule?: unknown } | null
  return {
    source: String(row["source"]),
    account: String(row["account"]),
    deliveryId: String(row["delivery_id"]),
    receivedAt: Number(row["received_at"]),
    rule: typeof payload?.rule === "string" ? payload.rule : null,
    hook: row["source"] === "hook" ? findHook(store, job) : null,
  }
}

function findHook(store: Store, job: Job): number | null {
  const row = store.handle
    .prepare(
      `select id from hook_delivery where id >= ? and received_at <= ?
         and exists (select 1 from json_each(runs) where value = ?) order by id limit 1`,
    )
    .get(idAt(store, "hook_delivery", job.created_at - nearMs), job.created_at + nearMs, job.run_id)
  return row === undefined ? null : Number(row["id"])
}

function readEvents(store: Store, job: Job): Story["events"] {
  return store.handle
    .prepare(
      `select id, origin, created_at as createdAt, substr(text, 1, 1000) as text from event
       where consumed_by = ? order by id limit ${mostRows}`,
    )
    .all(job.id) as unknown as Story["events"]
}

function readCalls(store: Store, job: Job): Story["calls"] {
  const rows = store.handle
    .prepare(
      `select created_at as at, model, purpose, ms, input_tokens as input, output_tokens as output,
         cache_read_tokens as cacheRead, cost_nano_dollars as nano from usage
       where session_key = ? and created_at between ? and ? and run_id = ? order by id limit ${mostRows}`,
    )
    .all(job.lane_key, job.created_at, (job.finished_at ?? store.clock.now()) + nearMs, job.run_id)
  return (rows as unknown as (Story["calls"][number] & { nano: number | null })[]).map(({ nano, ...call }) => ({
    ...call,
    cost: nano === null ? null : nano / 1e9,
  }))
}

function readApprovals(store: Store, job: Job): Story["approvals"] {
  return store.handle
    .prepare(
      `select id, state, text, asked_at as askedAt from approval
       where session_key = ? and run_id = ? order by asked_at limit ${mostRows}`,
    )
    .all(job.lane_key, job.run_id) as unknown as Story["approvals"]
}

function readTakenIn(store: Store, job: Job): string[] {
  const rows = store.handle
    .prepare(`select run_id from job where lane_key = ? and taken_by = ? order by id limit ${mostRows}`)
    .all(job.lane_key, job.id)
  return rows.map((row) => String(row["run_id"]))
}
