// The table `hook_delivery`: written with the delivery itself, or soon after for those that were turned away;
// read by its id and by mapping, newest first.
import type { SQLInputValue } from "node:sqlite"
import { AppError, type Json } from "../kernel/index.ts"
import type { HookDeliveryRow, HookVerdict, Store } from "../store/index.ts"
import type { HookDeliveryDetail, HookDeliverySummary } from "./contract.ts"
import type { Delivery } from "./delivery.ts"
import type { HookRuns } from "./runs.ts"

export interface DeliveryRecord {
  delivery: Delivery
  verdict: HookVerdict
  status: number
  runIds: readonly string[]
  answer: Json
  error?: string
  tookMs: number
  /** Of a sender that proved nothing. */
  address?: string
}

const sqlInsert = `insert into hook_delivery
  (received_at, mapping, path, method, headers, query, body, verdict, status, runs, answer, error, replay_of, took_us, address)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export function deliveryRow(record: DeliveryRecord): { sql: string; values: SQLInputValue[] } {
  const { delivery } = record
  return {
    sql: sqlInsert,
    values: [
      delivery.receivedAt,
      delivery.mapping,
      delivery.path,
      delivery.method,
      JSON.stringify(delivery.headers),
      JSON.stringify(delivery.query),
      delivery.body,
      record.verdict,
      record.status,
      JSON.stringify(record.runIds),
      record.answer === null ? null : JSON.stringify(record.answer),
      record.error ?? null,
      delivery.replayOf ?? null,
      Math.round(record.tookMs * 1000),
      record.address ?? null,
    ],
  }
}

/** First answer of a delivery that was already taken in; undefined for a new one. */
export function findAnswer(store: Store, key: { account: string; deliveryId: string }): { answer: Json } | undefined {
  const row = store.handle
    .prepare("select answer from inbox where source = 'hook' and account = ? and delivery_id = ?")
    .get(key.account, key.deliveryId) as { answer: string | null } | undefined
  return row && { answer: row.answer === null ? null : (JSON.parse(row.answer) as Json) }
}

const summaryColumns =
  "id, received_at, mapping, path, method, verdict, status, runs, error, replay_of, took_us, address, times, length(body) as bytes"

type SummaryRow = Omit<HookDeliveryRow, "headers" | "query" | "body" | "answer"> & { bytes: number }

export interface DeliveryQuery {
  limit: number
  before?: number | undefined
  mapping?: string | undefined
}

export function listDeliveries(store: Store, query: DeliveryQuery): HookDeliverySummary[] {
  const before = query.before ?? Number.MAX_SAFE_INTEGER
  const sql = (where: string) =>
    `select ${summaryColumns} from hook_delivery where ${where} id < ? order by id desc limit ?`
  const rows =
    query.mapping === undefined
      ? store.handle.prepare(sql("")).all(before, query.limit)
      : store.handle.prepare(sql("mapping = ? and")).all(query.mapping, before, query.limit)
  return (rows as unknown as SummaryRow[]).map(summary)
}

export function readDelivery(store: Store, runs: Pick<HookRuns, "read">, id: number): HookDeliveryDetail {
  const row = findRow(store, id)
  const kept = summary({ ...row, bytes: row.body.byteLength })
  return {
    ...kept,
    headers: JSON.parse(row.headers) as Record<string, string>,
    query: JSON.parse(row.query) as Record<string, string>,
    body: Buffer.from(row.body).toString("utf8"),
    answer: row.answer === null ? null : (JSON.parse(row.answer) as Json),
    runs: kept.runIds.flatMap((runId) => runs.read(runId) ?? []),
  }
}

export function findRow(store: Store, id: number): HookDeliveryRow {
  const row = store.handle.prepare("select * from hook_delivery where id = ?").get(id)
  if (!row) {
    throw new AppError("not-found", `There is no webhook delivery ${id}`, {
      hint: "Those that are kept: svc hooks deliveries",
    })
  }
  return row as unknown as HookDeliveryRow
}

function summary(row: SummaryRow): HookDeliverySummary {
  return {
    id: row.id,
    receivedAt: row.received_at,
    mapping: row.mapping,
    path: row.path,
    method: row.method,
    verdict: row.verdict,
    status: row.status,
    runIds: JSON.parse(row.runs) as string[],
    error: row.error,
    bytes: row.bytes,
    replayOf: row.replay_of,
    tookMs: row.took_us / 1000,
    address: row.address,
    times: row.times,
  }
}
