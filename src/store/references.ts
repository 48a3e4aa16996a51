// Jobs by the message that they came from: what an edited message still changes, and what it comes too late for.
import type { IngestEntry, NewEvent } from "./ingest.ts"
import type { JobRow } from "./schema.ts"
import type { Store } from "./store.ts"

type Row = NonNullable<IngestEntry["rows"]>[number]

const waiting = "ref = ? and state = 'ready' and started_at is null"

/** The newest job that came from the message, whatever became of it. */
export function jobOfMessage(store: Store, ref: string): JobRow | undefined {
  const row = store.handle.prepare("select * from job where ref = ? order by id desc limit 1").get(ref)
  return row as JobRow | undefined
}

/** Whether any job had this join key, also one that has ended. */
export function hadJoin(store: Store, joinKey: string): boolean {
  return store.handle.prepare("select 1 from job where join_key = ? limit 1").get(joinKey) !== undefined
}

/** Whether a job that waits has a join key that begins like this. */
export function isAnyJoinOpen(store: Store, prefix: string): boolean {
  const row = store.handle
    .prepare("select 1 from job where join_key >= ?1 and join_key < ?1 || char(65535) and state = 'ready' limit 1")
    .get(prefix)
  return row !== undefined
}

/**
 * Changes the job that waits, in the transaction of an entry. When it has begun meanwhile the event is added instead,
 * and a waiting event that begins like it goes: it tells of the same message.
 */
export function amendJob(ref: string, payload: string, late: NewEvent & { prefix: string }, now: number): Row[] {
  const { sessionKey, prefix, text, origin, trusted } = late
  return [
    {
      sql: `delete from event where session_key = ? and consumed_by is null and held_by is null
        and substr(text, 1, ?) = ?`,
      values: [sessionKey, prefix.length, prefix],
    },
    {
      sql: `insert into event (session_key, text, origin, trusted, created_at)
        select ?, ?, ?, ?, ? where not exists (select 1 from job where ${waiting})`,
      values: [sessionKey, text, origin, trusted ? 1 : 0, now, ref],
    },
    { sql: `update job set payload = ? where ${waiting}`, values: [payload, ref] },
  ]
}
