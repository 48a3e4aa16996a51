// By which time rows are old. A wall clock that is far ahead (set while we run, or wrong since a start, as after an empty
// battery) would make everything old at once, so the pruner has a time of its own, kept in the store: it follows the wall
// clock over short steps, and over a long one only when the gateway has worked with it for some hours and nobody has set
// it right. What restarts meanwhile goes on counting. Until then old is what the time that really passed has made old.
import type { Clock } from "../kernel/index.ts"
import { type SqliteHandle, isCorruption } from "./sqlite.ts"

const hourMs = 60 * 60 * 1000
/** So far ahead a clock is followed at once: a gateway that was off for a weekend prunes as ever. */
export const followedMs = 72 * hourMs
/** Of work under a clock that is further ahead. A clock that is set by the network is right after minutes. */
export const confirmedAfterMs = 6 * hourMs

interface Kept {
  /** The pruner's time, wall-clock milliseconds. */
  at: number
  /** How long the gateway has worked while the wall clock was far ahead of it. */
  doubtedMs: number
}

export interface PruneTime {
  /** The time of a round that begins now. Durable with the transaction it is called in. */
  advance(): number
  /** The time at this moment. */
  now(): number
}

const key = "prune-time"

export function createPruneTime({ handle, clock }: { handle: SqliteHandle; clock: Clock }): PruneTime {
  // Before anything is written by the clock of this start.
  let kept = beginAt(handle, clock)
  let seenAt = clock.monotonic()
  return {
    advance() {
      const monotonic = clock.monotonic()
      const passedMs = monotonic - seenAt
      seenAt = monotonic
      kept = follow(kept, passedMs, clock.now())
      handle
        .prepare("insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value")
        .run(key, JSON.stringify(kept))
      return kept.at
    },
    now: () => follow(kept, clock.monotonic() - seenAt, clock.now()).at,
  }
}

function beginAt(handle: SqliteHandle, clock: Clock): Kept {
  try {
    return readKept(handle) ?? { at: newestRow(handle) ?? clock.now(), doubtedMs: 0 }
  } catch (error) {
    // A damaged table is told of by others; until then nothing is old.
    if (isCorruption(error)) return { at: 0, doubtedMs: 0 }
    throw error
  }
}

function follow({ at, doubtedMs }: Kept, passedMs: number, now: number): Kept {
  const isClose = now - (at + passedMs) <= followedMs
  const doubted = doubtedMs + passedMs
  if (isClose || doubted >= confirmedAfterMs) return { at: now, doubtedMs: 0 }
  return { at: Math.round(at + passedMs), doubtedMs: Math.round(doubted) }
}

function readKept(handle: SqliteHandle): Kept | undefined {
  const row = handle.prepare("select value from meta where key = ?").get(key)
  if (!row) return undefined
  try {
    const { at, doubtedMs } = JSON.parse(String(row["value"])) as Partial<Kept>
    return Number.isFinite(at) && Number.isFinite(doubtedMs) ? (JSON.parse(String(row["value"])) as Kept) : undefined
  } catch {
    return undefined
  }
}

/** When the last of the rows was made that every use of a gateway makes; undefined in a new store. */
function newestRow(handle: SqliteHandle): number | undefined {
  const last = (table: string, column: string) =>
    handle.prepare(`select ${column} as at from ${table} order by id desc limit 1`).get()?.["at"] as number | undefined
  const times = [
    last("inbox", "received_at"),
    last("job", "created_at"),
    last("outbox", "created_at"),
    last("event", "created_at"),
    last("message", "created_at"),
    last("usage", "created_at"),
  ].filter((at) => at !== undefined)
  return times.length === 0 ? undefined : Math.max(...times)
}
