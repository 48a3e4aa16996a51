// The outbox: new -> sending -> sent | uncertain | dead | dropped, one row a message, in order per chat.
// `sending` is durable before the call and `sent` after it, so a crash leaves at most one row a chat in doubt.
import { chooseOutboxHead } from "./move.ts"
import type { OutboxRow } from "./schema.ts"
import type { Store, Write } from "./store.ts"

export async function markSent(store: Store, row: OutboxRow, remoteId: string | undefined): Promise<void> {
  await settle(store, row, { state: "sent", remoteId: remoteId ?? null, error: null })
}

/** It will never arrive. `tell` says so. */
export async function markDead(
  store: Store,
  row: OutboxRow,
  error: string,
  tell?: (write: Write) => void,
): Promise<void> {
  await settle(store, row, { state: "dead", remoteId: null, error }, tell)
}

/** Decoration that did not work: nobody is told, nothing is tried again. */
export async function markDropped(store: Store, row: OutboxRow, error: string): Promise<void> {
  await settle(store, row, { state: "dropped", remoteId: null, error })
}

/** Whether it arrived is not known and it will not be sent again by itself; the lane goes on. `tell` says so. */
export async function markUncertain(
  store: Store,
  row: OutboxRow,
  error: string,
  tell?: (write: Write) => void,
): Promise<void> {
  await settle(store, row, { state: "uncertain", remoteId: null, error }, tell)
}

export interface AgainOptions {
  /** 0: at once. */
  delayMs: number
  error: string | null
  /** It may have arrived, and is sent once more all the same. */
  resent?: boolean
  /** Time that has really passed since its first try. */
  waitedMs?: number
  /** No call was made: it does not count as an attempt. */
  isUntried?: boolean
}

/** Back to `new`, still first of its lane, not before its delay is over. */
export async function markAgain(store: Store, row: OutboxRow, options: AgainOptions): Promise<void> {
  const { delayMs, error, resent = false, waitedMs = row.waited_ms, isUntried = false } = options
  await store.write(async ({ now }) => {
    store.handle
      .prepare(
        `update outbox set state = 'new', owner = null, run_at = ?, delay_ms = ?, error = ?, resent = ?, waited_ms = ?,
           attempts = attempts - ? where id = ? and state = 'sending'`,
      )
      .run(
        delayMs > 0 ? now + delayMs : 0,
        delayMs > 0 ? delayMs : null,
        error,
        resent ? 1 : row.resent,
        Math.round(waitedMs),
        isUntried ? 1 : 0,
        row.id,
      )
  })
}

/** Changes what will be sent, for the one fallback from formatted to plain text. */
export async function replacePayload(store: Store, row: OutboxRow, payload: string, error: string): Promise<void> {
  await store.write(async () => {
    store.handle
      .prepare(
        "update outbox set state = 'new', owner = null, payload = ?, error = ? where id = ? and state = 'sending'",
      )
      .run(payload, error, row.id)
  })
}

async function settle(
  store: Store,
  row: OutboxRow,
  end: { state: "sent" | "dead" | "uncertain" | "dropped"; remoteId: string | null; error: string | null },
  tell?: (write: Write) => void,
): Promise<void> {
  await store.write(async (write) => {
    const sentAt = end.state === "sent" ? write.now : null
    store.handle
      .prepare("update outbox set state = ?, head = 0, remote_id = ?, error = ?, sent_at = ? where id = ?")
      .run(end.state, end.remoteId, end.error, sentAt, row.id)
    store.handle
      .prepare(
        `update outbox set head = 1 where id =
           (select id from outbox where lane_key = (select lane_key from outbox where id = ?)
              and state in ('new', 'sending') order by id limit 1)`,
      )
      .run(row.id)
    tell?.(write)
  })
}

/** What another process was sending when it ended, oldest first. */
export function leftSending(store: Store): OutboxRow[] {
  // Sorted here: SQLite would read the whole table in its order.
  const rows = store.handle
    .prepare("select * from outbox where state = 'sending' and owner is not ?")
    .all(store.bootId) as unknown as OutboxRow[]
  return rows.sort((a, b) => a.id - b.id)
}

/** What the restore of a backup writes as the error of a delivery that it puts in doubt. */
export function restoredError(createdAt: number): string {
  return `restored from the backup of ${new Date(createdAt).toISOString()}: it may have been sent since`
}

export function isRestored(row: Pick<OutboxRow, "error">): boolean {
  return row.error?.startsWith("restored from the backup of ") ?? false
}

const toldKey = "restored-told"

/** What the last restored backup had not sent and nobody has been told of yet, oldest first. */
export function restoredUntold(store: Store, limit: number): OutboxRow[] {
  const restored = store.handle.prepare("select value from meta where key = 'restored'").get()
  if (!restored) return []
  const { createdAt } = JSON.parse(String(restored["value"])) as { createdAt: number }
  const rows = store.handle
    .prepare(
      `select * from outbox where state in ('uncertain', 'dead') and state = 'uncertain' and doubt is null and error = ?
         and id > coalesce((select cast(value as integer) from meta where key = '${toldKey}'), 0)
       order by id limit ?`,
    )
    .all(restoredError(createdAt), limit)
  return rows as unknown as OutboxRow[]
}

/** For a backup that is restored: nobody has been told of what it puts in doubt. */
export const sqlForgetTold = `delete from meta where key = '${toldKey}'`

export function noteToldUpTo(write: Write, id: number): void {
  write
    .prepare(
      `insert into meta (key, value) values ('${toldKey}', ?) on conflict (key) do update set value = excluded.value`,
    )
    .run(String(id))
}

/**
 * Sends once more what is in doubt under this question, in the chat that it was asked in and nowhere else. Inside a
 * transaction. Returns how many.
 */
export function sendDoubtfulAgain(
  write: Write,
  doubt: string,
  chat: { channel: string; account: string; chatId: string },
): number {
  const rows = write
    .prepare(
      `update outbox set state = 'new', owner = null, run_at = 0, delay_ms = null, error = null, resent = 1, doubt = null
       where doubt = ? and state = 'uncertain' and channel = ? and account = ? and chat_id = ? returning lane_key`,
    )
    .all(doubt, chat.channel, chat.account, chat.chatId)
  for (const lane of new Set(rows.map((row) => String(row["lane_key"])))) chooseOutboxHead(write, lane)
  return rows.length
}

/** Which failures a person is still told of; without it all that are kept. */
export interface FailureWindow {
  /** Up to these ids they have been dismissed. */
  outboxId: number
  jobId: number
  /** Older ones count no more. */
  since: number
}

/** How many rows are in each state that a person asks about. Read from partial indexes, whatever the table holds. */
export function countOutbox(
  store: Store,
  failures?: FailureWindow,
): { new: number; sending: number; uncertain: number; dead: number } {
  const one = (where: string, ...values: number[]) =>
    (store.handle.prepare(`select count(*) as n from outbox where ${where}`).get(...values) as { n: number }).n
  const counted = [failures?.outboxId ?? 0, failures?.since ?? 0]
  const open = one("state in ('new', 'sending')")
  const sending = one("state = 'sending'")
  const trouble = one("state in ('uncertain', 'dead') and id > ? and created_at >= ?", ...counted)
  const dead = one("state in ('uncertain', 'dead') and state = 'dead' and id > ? and created_at >= ?", ...counted)
  return { new: open - sending, sending, uncertain: trouble - dead, dead }
}

/** Deliveries of which nobody knows whether they have arrived, by channel and account. */
export function countUncertain(
  store: Store,
  failures?: FailureWindow,
): { channel: string; account: string; uncertain: number }[] {
  return store.handle
    .prepare(
      `select channel, account, count(*) as uncertain from outbox
       where state in ('uncertain', 'dead') and state = 'uncertain' and id > ? and created_at >= ?
       group by channel, account`,
    )
    .all(failures?.outboxId ?? 0, failures?.since ?? 0) as unknown as {
    channel: string
    account: string
    uncertain: number
  }[]
}
