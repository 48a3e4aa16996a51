// The outbox as the worker looks at it before it claims: which chats have something to send now, and which may.
import type { OutboxRow, Store } from "../store/index.ts"

/** Heads of their chats that are due, without those of the accounts named (`channel:account`). */
export function dueHeads(store: Store, limit: number, without: readonly string[]): OutboxRow[] {
  return store.handle
    .prepare(
      `select * from outbox where state = 'new' and head = 1 and run_at <= ?
         and channel || ':' || account not in (select value from json_each(?))
       order by run_at, id limit ?`,
    )
    .all(store.clock.now(), JSON.stringify(without), limit) as unknown as OutboxRow[]
}

/** Marks them as being sent by this process; what somebody else took meanwhile is left out. */
export async function claimRows(store: Store, ids: readonly number[]): Promise<OutboxRow[]> {
  return await store.write(async () => {
    const rows = store.handle
      .prepare(
        `update outbox set state = 'sending', owner = ?, attempts = attempts + 1
         where id in (select value from json_each(?)) and state = 'new' returning *`,
      )
      .all(store.bootId, JSON.stringify(ids))
    return rows as unknown as OutboxRow[]
  })
}

/** Not before its delay is over; nothing was tried. */
export async function putOff(store: Store, rows: readonly { id: number; delayMs: number }[]): Promise<void> {
  await store.write(async ({ now }) => {
    const update = store.handle.prepare("update outbox set run_at = ?, delay_ms = ? where id = ? and state = 'new'")
    for (const { id, delayMs } of rows) update.run(now + delayMs, Math.ceil(delayMs), id)
  })
}

/** When the first head of another account than these becomes due. */
export function nextDueWithout(store: Store, without: readonly string[]): number | undefined {
  const row = store.handle
    .prepare(
      `select min(run_at) as due from outbox where state = 'new' and head = 1
         and channel || ':' || account not in (select value from json_each(?))`,
    )
    .get(JSON.stringify(without))
  return (row?.due as number | null) ?? undefined
}

export function rowsById(store: Store, ids: readonly number[]): OutboxRow[] {
  return store.handle
    .prepare("select * from outbox where id in (select value from json_each(?)) order by id")
    .all(JSON.stringify(ids)) as unknown as OutboxRow[]
}
