// System events wait in their session until a turn shows them: waiting -> held by the turn whose prompt shows them ->
// consumed once a model has answered that prompt, else waiting again. What models refuse again and again is set aside,
// where `svc events` shows it.
import type { EventRow } from "./schema.ts"
import type { Store, Write } from "./store.ts"

/** More than this are left for the next turn: nothing is dropped. */
const maxPerTurn = 50
/** How many prompts an event may bring to nothing: shown with others, alone, and alone in short. */
export const maxRefusals = 3

const isWaiting = "consumed_by is null and held_by is null and set_aside_at is null"

/** Events that no model has refused, oldest first. */
export function freshEvents(store: Store, sessionKey: string): EventRow[] {
  const rows = store.handle
    .prepare(`select * from event where session_key = ? and ${isWaiting} and refusals = 0 order by id limit ?`)
    .all(sessionKey, maxPerTurn)
  return rows as unknown as EventRow[]
}

/** The oldest event that some model has refused. */
export function refusedEvent(store: Store, sessionKey: string): EventRow | undefined {
  const row = store.handle
    .prepare(`select * from event where session_key = ? and ${isWaiting} and refusals > 0 order by id limit 1`)
    .get(sessionKey)
  return row as unknown as EventRow | undefined
}

export interface EventHold {
  id: number
  /** Up to which character it is shown; null: to its end. */
  to: number | null
}

/** Inside the transaction that keeps the prompt which shows them. */
export function holdEvents(write: Write, jobId: number, holds: readonly EventHold[]): void {
  const hold = write.prepare("update event set held_by = ?, held_to = ? where id = ?")
  for (const { id, to } of holds) hold.run(jobId, to, id)
}

/** They are in no prompt any more, and belong to the job until it is known whether it is answered without them. */
export function leaveOutEvents(write: Write, jobId: number): void {
  write.prepare("update event set held_to = 0 where held_by = ?").run(jobId)
}

/** A job that ended without its last writes must not keep what it held. */
export function freeStrayEvents(write: Write, sessionKey: string): void {
  write
    .prepare(
      `update event set held_by = null, held_to = null
       where session_key = ? and consumed_by is null and held_by is not null
         and not exists (select 1 from job where id = event.held_by and state in ('ready', 'running'))`,
    )
    .run(sessionKey)
}

/**
 * What becomes of the events that a job held, inside the transaction that ends it or makes its prompt anew. Answered:
 * consumed, as far as they were shown; what it was answered without has had a refusal. Else they wait again, unless they
 * are to `blame`. Returns how many were refused and how many of those are set aside.
 */
export function settleEvents(
  write: Write,
  jobId: number,
  { blame = false, isAnswered = hasAnswer(write, jobId) }: { blame?: boolean; isAnswered?: boolean } = {},
): { refused: number; setAside: number } {
  const free = "held_by = null, held_to = null"
  if (isAnswered) {
    write.prepare(`update event set consumed_by = held_by, ${free} where held_by = ? and held_to is null`).run(jobId)
    write.prepare(`update event set shown_to = held_to, ${free} where held_by = ? and held_to > 0`).run(jobId)
  }
  // Those that were left out of a prompt are not to blame for what became of it without them.
  const who = isAnswered ? "held_to = 0" : "held_to is not 0"
  const refused =
    isAnswered || blame
      ? write
          .prepare(
            `update event set refusals = refusals + 1, ${free},
               set_aside_at = case when refusals + 1 >= ${maxRefusals} then ? end
             where held_by = ? and ${who} returning set_aside_at`,
          )
          .all(write.now, jobId)
      : []
  write.prepare(`update event set ${free} where held_by = ?`).run(jobId)
  return { refused: refused.length, setAside: refused.filter((row) => row["set_aside_at"] !== null).length }
}

function hasAnswer(write: Write, jobId: number): boolean {
  return write.prepare("select 1 from step where job_id = ? and kind = 'assistant' limit 1").get(jobId) !== undefined
}

/** Texts of the oldest events that wait. */
export function waitingEvents(store: Store, sessionKey: string, limit: number): string[] {
  const rows = store.handle
    .prepare(`select text from event where session_key = ? and ${isWaiting} order by id limit ?`)
    .all(sessionKey, limit) as { text: string }[]
  return rows.map(({ text }) => text)
}

export function hasEvents(store: Store, sessionKey: string): boolean {
  const row = store.handle.prepare(`select 1 from event where session_key = ? and ${isWaiting} limit 1`).get(sessionKey)
  return row !== undefined
}

/** How many wait, and how many no turn shows any more. Read from partial indexes, whatever the table holds. */
export function countEvents(store: Store): { waiting: number; setAside: number } {
  const one = (where: string) =>
    (store.handle.prepare(`select count(*) as n from event where ${where}`).get() as { n: number }).n
  const setAside = one("set_aside_at is not null")
  return { waiting: one("consumed_by is null") - setAside, setAside }
}
