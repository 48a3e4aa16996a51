// System events wait in their session until a turn shows them; the turn's first journal step consumes them.
import type { EventRow } from "./schema.ts"
import type { Store, Write } from "./store.ts"

/** More than this are left for the next turn: nothing is dropped. */
const maxPerTurn = 50

/** Marks the oldest waiting events as shown by this job. Inside the transaction of the job's first step. */
export function consumeEvents(store: Store, _write: Write, sessionKey: string, jobId: number): EventRow[] {
  const rows = store.handle
    .prepare(
      `update event set consumed_by = ? where id in
         (select id from event where session_key = ? and consumed_by is null order by id limit ?) returning *`,
    )
    .all(jobId, sessionKey, maxPerTurn) as unknown as EventRow[]
  return rows.sort((a, b) => a.id - b.id)
}

/**
 * Lets the next turn show what a job consumed and no model ever saw. Inside the transaction that ends the job; does
 * nothing once a model has answered, because by then the events may have been acted upon.
 */
export function giveBackEvents(write: Write, jobId: number): void {
  write
    .prepare(
      `update event set consumed_by = null where consumed_by = ?
         and not exists (select 1 from step where job_id = ? and kind = 'assistant')`,
    )
    .run(jobId, jobId)
}

/** Texts of the oldest events that wait. */
export function waitingEvents(store: Store, sessionKey: string, limit: number): string[] {
  const rows = store.handle
    .prepare("select text from event where session_key = ? and consumed_by is null order by id limit ?")
    .all(sessionKey, limit) as { text: string }[]
  return rows.map(({ text }) => text)
}

export function hasEvents(store: Store, sessionKey: string): boolean {
  return (
    store.handle.prepare("select 1 from event where session_key = ? and consumed_by is null").get(sessionKey) !==
    undefined
  )
}
