// The outbox: new -> sending -> sent | uncertain | dead | dropped, one row a message, in order per chat.
// `sending` is durable before the call and `sent` after it, so a crash leaves at most one row in doubt.
import type { OutboxRow } from "./schema.ts"
import type { Store } from "./store.ts"

/** A row in doubt is sent once more only while it is this young: an old answer sent again confuses more than it helps. */
export const resendWithinMs = 10 * 60 * 1000

export async function claimOutbox(store: Store, limit: number): Promise<OutboxRow[]> {
  const now = store.clock.now()
  return await store.write(async () => {
    const rows = store.handle
      .prepare(
        `update outbox set state = 'sending', owner = ?, attempts = attempts + 1
         where id in (
           select id from outbox where state = 'new' and head = 1 and run_at <= ? order by run_at, id limit ?)
         returning *`,
      )
      .all(store.bootId, now, limit)
    return rows as unknown as OutboxRow[]
  })
}

export function nextOutboxDue(store: Store): number | undefined {
  const row = store.handle.prepare("select min(run_at) as due from outbox where state = 'new' and head = 1").get()
  return (row?.due as number | null) ?? undefined
}

export async function markSent(store: Store, row: OutboxRow, remoteId: string | undefined): Promise<void> {
  await settle(store, row, { state: "sent", remoteId: remoteId ?? null, error: null })
}

export async function markDead(store: Store, row: OutboxRow, error: string): Promise<void> {
  await settle(store, row, { state: "dead", remoteId: null, error })
}

/** Decoration that did not work: nobody is told, nothing is tried again. */
export async function markDropped(store: Store, row: OutboxRow, error: string): Promise<void> {
  await settle(store, row, { state: "dropped", remoteId: null, error })
}

/** Whether it arrived is not known and it will not be sent again; the lane goes on. */
export async function markUncertain(store: Store, row: OutboxRow, error: string): Promise<void> {
  await settle(store, row, { state: "uncertain", remoteId: null, error })
}

/** Back to `new`, still first of its lane, not before `runAt`. */
export async function markAgain(
  store: Store,
  row: OutboxRow,
  options: { runAt: number; error: string; resent?: boolean },
): Promise<void> {
  await store.write(async () => {
    store.handle
      .prepare("update outbox set state = 'new', owner = null, run_at = ?, error = ?, resent = ? where id = ?")
      .run(options.runAt, options.error, options.resent ? 1 : row.resent, row.id)
  })
}

/** Changes what will be sent, for the one fallback from formatted to plain text. */
export async function replacePayload(store: Store, row: OutboxRow, payload: string, error: string): Promise<void> {
  await store.write(async () => {
    store.handle
      .prepare("update outbox set state = 'new', owner = null, payload = ?, error = ? where id = ?")
      .run(payload, error, row.id)
  })
}

async function settle(
  store: Store,
  row: OutboxRow,
  end: { state: "sent" | "dead" | "uncertain" | "dropped"; remoteId: string | null; error: string | null },
): Promise<void> {
  await store.write(async ({ now }) => {
    const sentAt = end.state === "sent" ? now : null
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
  })
}

/**
 * After a crash: what was being sent is in doubt. A young row is sent once more, an old one or one that was
 * already repeated stays `uncertain` and is reported. Returns both.
 */
export async function recoverOutbox(store: Store): Promise<{ resend: OutboxRow[]; uncertain: OutboxRow[] }> {
  const left = store.handle
    .prepare("select * from outbox where state = 'sending' and owner is not ?")
    .all(store.bootId) as unknown as OutboxRow[]
  const now = store.clock.now()
  const resend = left.filter((row) => row.resent === 0 && now - row.created_at < resendWithinMs)
  const uncertain = left.filter((row) => !resend.includes(row))
  for (const row of resend) await markAgain(store, row, { runAt: 0, error: "in flight at a crash", resent: true })
  for (const row of uncertain) await markUncertain(store, row, "in flight at a crash; whether it arrived is not known")
  return { resend, uncertain }
}

/** How many rows are in each state that a person asks about. Read from partial indexes, whatever the table holds. */
export function countOutbox(store: Store): { new: number; sending: number; uncertain: number; dead: number } {
  const one = (where: string) =>
    (store.handle.prepare(`select count(*) as n from outbox where ${where}`).get() as { n: number }).n
  const open = one("state in ('new', 'sending')")
  const sending = one("state = 'sending'")
  const trouble = one("state in ('uncertain', 'dead')")
  const dead = one("state in ('uncertain', 'dead') and state = 'dead'")
  return { new: open - sending, sending, uncertain: trouble - dead, dead }
}
