// The gateway's questions to the store: runs, deliveries, events; and the one change, sending a delivery again.
// Pages go by id, newest first. A filter that no index serves looks at a bounded number of rows per page, so that
// no question gets slower as the tables grow.
import { type Kysely, type Selectable, sql } from "kysely"
import { AppError, type Json } from "../kernel/index.ts"
import {
  type Database,
  type EventRow,
  type JobState,
  type OutboxRow,
  type OutboxState,
  type Store,
  type UnreadableUpdateTable,
  readRunDelivery,
} from "../store/index.ts"
import type {
  DeliveryDetail,
  DeliverySummary,
  EventSummary,
  Page,
  PageQuery,
  RunDetail,
  RunSummary,
  UpdateDetail,
  UpdateSummary,
} from "./api.ts"
import { idAt } from "./id-at.ts"
import { parseShortened, shorten } from "./shorten.ts"

/** Rows that one page looks through for a filter without an index: some milliseconds at most. */
const windowRows = 5_000

const runColumns = [
  "id",
  "run_id",
  "kind",
  "lane_key",
  "state",
  "attempts",
  "created_at",
  "started_at",
  "finished_at",
  "error",
] as const

export interface RunsQuery extends PageQuery {
  state?: JobState | undefined
  kind?: string | undefined
  session?: string | undefined
  /** Words of what came in, of the result or of the error. */
  text?: string | undefined
  since?: number | undefined
  until?: number | undefined
}

export async function listRuns(store: Store, query: RunsQuery): Promise<Page<RunSummary>> {
  const { state, kind, session, text, since, until } = query
  const isSearch =
    [kind, session, text].some((word) => word !== undefined) || (state !== undefined && !isOpenJob(state))
  const end = until === undefined ? Number.MAX_SAFE_INTEGER : idAt(store, "job", until)
  const before = Math.min(query.before ?? Number.MAX_SAFE_INTEGER, end)
  const begin = since === undefined ? 0 : idAt(store, "job", since)
  const range = await pageRange(store.db, "job", { ...query, before }, isSearch)
  if (range.from <= begin) Object.assign(range, { from: begin, isWhole: true })
  const rows = await store.db
    .selectFrom("job")
    .select(runColumns)
    .select(sql<string | null>`substr(result, 1, 500)`.as("result"))
    .select(askedOf.as("asked"))
    .where("id", "<", range.below)
    .where("id", ">=", range.from)
    .$if(state !== undefined, (builder) => builder.where("state", "=", state as JobState))
    .$if(state !== undefined && isOpenJob(state), (builder) => builder.where(openJobs))
    .$if(kind !== undefined, (builder) => builder.where("kind", "=", kind as string))
    .$if(session !== undefined, (builder) => builder.where("lane_key", "=", session as string))
    .$if(text !== undefined, (builder) => builder.where(holdsWords(text ?? "")))
    .orderBy("id", "desc")
    .limit(query.limit)
    .execute()
  return { items: rows.map(runSummary), next: nextCursor(rows, query.limit, range) }
}

/** What a run is about, in words: what was said, the command that was typed. */
const askedSql = `substr(coalesce(
  json_extract(payload, '$.text'), '/' || json_extract(payload, '$.command') || ' ' || json_extract(payload, '$.args'),
  json_extract(payload, '$.reason'), ''), 1, 200)`
const askedOf = sql.raw<string>(askedSql)

export async function readRun(store: Store, runId: string): Promise<RunDetail> {
  const row = await store.db
    .selectFrom("job")
    .selectAll()
    .select(askedOf.as("asked"))
    .where("run_id", "=", wholeRunId(store, runId))
    .executeTakeFirst()
  if (!row) throw noRun(runId)
  const steps = await store.db.selectFrom("step").selectAll().where("job_id", "=", row.id).orderBy("n").execute()
  return {
    ...runSummary(row),
    delivery: readRunDelivery(store, row.id),
    input: parseShortened(row.payload),
    steps: steps.map((step) => ({
      n: step.n,
      kind: step.kind,
      createdAt: step.created_at,
      data: parseShortened(step.data),
    })),
  }
}

function noRun(runId: string): AppError {
  return new AppError("turn-not-found", `There is no run ${shorten(runId, 60)}`, {
    hint: "Runs stand in: svc runs list",
  })
}

/** Ids begin with the time: those of one minute have their first eight characters in common, so ends do as well. */
function wholeRunId(store: Store, given: string): string {
  const part = given.toLowerCase()
  if (!/^[0-9a-f][0-9a-f-]{3,35}$/.test(part)) return given
  const starting = store.handle
    .prepare("select run_id from job where run_id >= ? and run_id < ? limit 2")
    .all(part, `${part}g`)
  const found = starting.map((row) => String(row["run_id"]))
  if (found.length > 1) {
    throw new AppError("conflict", `Several runs begin with ${part}`, {
      hint: "Give more of the id, as in: svc runs list",
    })
  }
  return found[0] ?? given
}

export async function listDeliveries(
  store: Store,
  query: PageQuery & { state?: OutboxState | undefined },
): Promise<Page<DeliverySummary>> {
  const { state } = query
  const range = await pageRange(store.db, "outbox", query, state !== undefined && !isOpenRow(state))
  const rows = await store.db
    .selectFrom("outbox")
    .leftJoin("job", "job.id", "outbox.job_id")
    .select(deliveryColumns)
    .select(["job.run_id", previewOf.as("payload")])
    .where("outbox.id", "<", range.below)
    .where("outbox.id", ">=", range.from)
    .$if(state !== undefined, (builder) => builder.where("outbox.state", "=", state as OutboxState))
    .$if(state !== undefined && isOpenRow(state), (builder) => builder.where(openRows))
    .orderBy("outbox.id", "desc")
    .limit(query.limit)
    .execute()
  return { items: rows.map(deliverySummary), next: nextCursor(rows, query.limit, range) }
}

/** What a message says, in words; of what says nothing, what it is about. Payloads are the channels' own. */
export const previewSql = `substr(coalesce(
  json_extract(outbox.payload, '$.plain'), json_extract(outbox.payload, '$.text'),
  json_extract(outbox.payload, '$.caption.plain'), json_extract(outbox.payload, '$.emoji'),
  json_extract(outbox.payload, '$.path'), json_extract(outbox.payload, '$.file'),
  json_extract(outbox.payload, '$.items[0].path'), json_extract(outbox.payload, '$.url'), ''), 1, 200)`
const previewOf = sql.raw<string>(previewSql)

// The very words of the partial indexes of open rows, so that these serve: open rows are few, all rows are many.
const openJobs = sql<boolean>`job.id in (select id from job where state in ('ready', 'running'))`
const openRows = sql<boolean>`outbox.id in (select id from outbox where state in ('new', 'sending'))`

export const deliveryColumns = [
  "outbox.id",
  "outbox.channel",
  "outbox.account",
  "outbox.chat_id",
  "outbox.kind",
  "outbox.state",
  "outbox.attempts",
  "outbox.created_at",
  "outbox.sent_at",
  "outbox.remote_id",
  "outbox.error",
] as const

export async function readDelivery(store: Store, id: number): Promise<DeliveryDetail> {
  const row = await store.db
    .selectFrom("outbox")
    .leftJoin("job", "job.id", "outbox.job_id")
    .select(deliveryColumns)
    .select(["job.run_id", previewOf.as("preview"), "outbox.payload", "outbox.route"])
    .where("outbox.id", "=", id)
    .executeTakeFirst()
  if (!row) throw noDelivery(id)
  return {
    ...deliverySummary({ ...row, payload: row.preview }),
    route: parseShortened(row.route),
    payload: parseShortened(row.payload),
  }
}

/**
 * Sends a delivery once more, as a new row at the end of its lane; returns the new row's id.
 * Only what is dead or uncertain, and each row once: after that its successor is the one to retry.
 */
export async function retryDelivery(store: Store, id: number): Promise<number> {
  const row = await store.db.selectFrom("outbox").selectAll().where("id", "=", id).executeTakeFirst()
  if (!row) throw noDelivery(id)
  if (row.state !== "dead" && row.state !== "uncertain") {
    throw new AppError("conflict", `Delivery ${id} is ${row.state}; only dead or uncertain ones can be sent again`)
  }
  let newId = 0
  const [result] = await store.ingestBatch([retryEntry(row)], async ({ trx }) => {
    const last = await trx.selectFrom("outbox").select("id").orderBy("id", "desc").limit(1).executeTakeFirst()
    newId = last?.id ?? 0
  })
  if (result?.kind === "duplicate") throw new AppError("conflict", `Delivery ${id} was already sent again`)
  return newId
}

function retryEntry(row: OutboxRow) {
  return {
    source: "gateway",
    account: "delivery-retry",
    deliveryId: String(row.id),
    payload: { delivery: row.id },
    outbox: [
      {
        laneKey: row.lane_key,
        channel: row.channel,
        account: row.account,
        chatId: row.chat_id,
        route: JSON.parse(row.route) as Json,
        kind: row.kind,
        payload: JSON.parse(row.payload) as Json,
        ...(row.job_id === null ? {} : { jobId: row.job_id }),
      },
    ],
  }
}

const updateColumns = ["id", "channel", "account", "update_id", "received_at", "reason"] as const

/** Updates that could not be read; there are never many. */
export async function listUpdates(store: Store, query: PageQuery): Promise<Page<UpdateSummary>> {
  const range = { below: query.before ?? Number.MAX_SAFE_INTEGER, from: 0 }
  const rows = await store.db
    .selectFrom("unreadable_update")
    .select(updateColumns)
    .where("id", "<", range.below)
    .orderBy("id", "desc")
    .limit(query.limit)
    .execute()
  return { items: rows.map(updateSummary), next: nextCursor(rows, query.limit, range) }
}

export async function readUpdate(store: Store, id: number): Promise<UpdateDetail> {
  const row = await store.db.selectFrom("unreadable_update").selectAll().where("id", "=", id).executeTakeFirst()
  if (!row) {
    throw new AppError("not-found", `There is no update ${id} that was set aside`, {
      hint: "Those that were: svc channels updates",
    })
  }
  return { ...updateSummary(row), botId: row.bot_id, body: bodyOf(row.body) }
}

/** A long one was cut when it was set aside, and is text. */
function bodyOf(text: string): Json {
  try {
    return parseShortened(text)
  } catch (error) {
    if (error instanceof SyntaxError) return shorten(text)
    throw error
  }
}

type UpdateRow = Pick<Selectable<UnreadableUpdateTable>, (typeof updateColumns)[number]>

function updateSummary(row: UpdateRow): UpdateSummary {
  const { id, channel, account, update_id: updateId, received_at: receivedAt, reason } = row
  return { id, channel, account, updateId, receivedAt, reason }
}

export async function listEvents(store: Store, query: PageQuery & { session?: string }): Promise<Page<EventSummary>> {
  const { session } = query
  const range = await pageRange(store.db, "event", query, session !== undefined)
  const rows = await store.db
    .selectFrom("event")
    .leftJoin("job", "job.id", "event.consumed_by")
    .select(["event.id", "event.session_key", "event.origin", "event.trusted", "event.created_at", "job.run_id"])
    .select(["event.refusals", "event.set_aside_at", "event.consumed_by"])
    .select(sql<string>`substr(event.text, 1, 1000)`.as("text"))
    .where("event.id", "<", range.below)
    .where("event.id", ">=", range.from)
    .$if(session !== undefined, (builder) => builder.where("event.session_key", "=", session as string))
    .orderBy("event.id", "desc")
    .limit(query.limit)
    .execute()
  const items = rows.map((row) => ({
    id: row.id,
    session: row.session_key,
    origin: row.origin,
    trusted: row.trusted === 1,
    createdAt: row.created_at,
    state: eventState(row),
    refusals: row.refusals,
    shownByRun: row.run_id,
    text: row.text,
  }))
  return { items, next: nextCursor(rows, query.limit, range) }
}

function eventState(row: Pick<EventRow, "set_aside_at" | "consumed_by">): EventSummary["state"] {
  if (row.set_aside_at !== null) return "set-aside"
  return row.consumed_by === null ? "waiting" : "shown"
}

interface Range {
  below: number
  from: number
  /** Nothing is wanted below. */
  isWhole?: boolean
}

async function pageRange(
  db: Kysely<Database>,
  table: "job" | "outbox" | "event",
  query: PageQuery,
  windowed: boolean,
): Promise<Range> {
  if (!windowed) return { below: query.before ?? Number.MAX_SAFE_INTEGER, from: 0 }
  const newest = await db
    .selectFrom(table)
    .select(({ fn }) => fn.max("id").as("id"))
    .executeTakeFirst()
  const below = Math.min(query.before ?? Number.MAX_SAFE_INTEGER, (newest?.id ?? 0) + 1)
  return { below, from: Math.max(0, below - windowRows) }
}

/** A short page ends the list, unless its window did: then the next page goes on below the window. */
function nextCursor(rows: readonly { id: number }[], limit: number, range: Range): number | null {
  if (rows.length === limit) return rows.at(-1)?.id ?? null
  return range.from > 0 && !range.isWhole ? range.from : null
}

/** By the bytes of the rows, without regard to the case of plain letters. */
function holdsWords(text: string) {
  const words = text.toLowerCase()
  return sql<boolean>`instr(lower(payload || coalesce(result, '') || coalesce(error, '') || run_id || lane_key), ${words}) > 0`
}

export function runSummary(row: {
  id: number
  run_id: string
  kind: string
  lane_key: string
  state: JobState
  attempts: number
  created_at: number
  started_at: number | null
  finished_at: number | null
  error: string | null
  result: string | null
  asked: string
}): RunSummary {
  return {
    id: row.id,
    runId: row.run_id,
    kind: row.kind,
    session: row.lane_key,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    error: row.error,
    asked: row.asked,
    result: row.result === null ? null : shorten(row.result),
  }
}

export function deliverySummary(row: {
  id: number
  run_id: string | null
  channel: string
  account: string
  chat_id: string
  kind: string
  state: OutboxState
  attempts: number
  created_at: number
  sent_at: number | null
  remote_id: string | null
  error: string | null
  payload: string
}): DeliverySummary {
  return {
    id: row.id,
    runId: row.run_id,
    channel: row.channel,
    account: row.account,
    chatId: row.chat_id,
    kind: row.kind,
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    sentAt: row.sent_at,
    remoteId: row.remote_id,
    error: row.error,
    preview: row.payload.slice(0, 200),
  }
}

const isOpenJob = (state: JobState): boolean => state === "ready" || state === "running"
const isOpenRow = (state: OutboxState): boolean => state === "new" || state === "sending"

export function noDelivery(id: number): AppError {
  return new AppError("not-found", `There is no delivery ${id}`, { hint: "Those that are kept: svc outbox list" })
}

/** Those that are still there, oldest first. */
export function runsByIds(store: Store, ids: readonly number[]): RunSummary[] {
  const rows = store.handle
    .prepare(
      `select ${runColumns.join(", ")}, substr(result, 1, 500) as result, ${askedSql} as asked from job
       where id in (select value from json_each(?)) order by id`,
    )
    .all(JSON.stringify(ids))
  return (rows as unknown as Parameters<typeof runSummary>[0][]).map(runSummary)
}
