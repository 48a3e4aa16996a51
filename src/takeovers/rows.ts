// The SQL of takeovers. Only this feature writes the table; a change of a state names the state before it.
import { AppError } from "../kernel/index.ts"
import type { Store, Write } from "../store/index.ts"
import type { TakeoverEnd, TakeoverRow, TakeoverSummary } from "./contract.ts"

type Handle = Pick<Store["handle"], "prepare">

export function insertTakeover(write: Write, row: TakeoverRow): void {
  write
    .prepare(
      `insert into takeover (id, run_id, session_key, resume, profile, target_id, reason, state, link_hash,
         link_expires_at, asked_at, expires_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      row.id,
      row.run_id,
      row.session_key,
      row.resume,
      row.profile,
      row.target_id,
      row.reason,
      row.state,
      row.link_hash,
      row.link_expires_at,
      row.asked_at,
      row.expires_at,
    )
}

export function findTakeover(handle: Handle, id: string): TakeoverRow | undefined {
  return handle.prepare("select * from takeover where id = ?").get(id) as TakeoverRow | undefined
}

/** Those that are not over; few at any time. */
export function openTakeovers(handle: Handle): TakeoverRow[] {
  return handle
    .prepare("select * from takeover where state in ('waiting', 'open') order by asked_at desc")
    .all() as unknown as TakeoverRow[]
}

export function listTakeovers(handle: Handle, limit: number): TakeoverRow[] {
  return handle
    .prepare("select * from takeover order by asked_at desc, id limit ?")
    .all(limit) as unknown as TakeoverRow[]
}

export function setLink(write: Write, id: string, hash: string, expiresAt: number): void {
  write
    .prepare("update takeover set link_hash = ?, link_expires_at = ? where id = ? and state = 'waiting'")
    .run(hash, expiresAt, id)
}

/** False when somebody was faster. */
export function setOpen(write: Write, row: TakeoverRow, keyHash: string, expiresAt: number): boolean {
  const { changes } = write
    .prepare(
      `update takeover set state = 'open', link_hash = ?, opened_at = ?, expires_at = ?
       where id = ? and state = 'waiting' and link_hash = ?`,
    )
    .run(keyHash, write.now, expiresAt, row.id, row.link_hash)
  return changes > 0
}

export function setEnded(write: Write, id: string, end: TakeoverEnd): boolean {
  const { changes } = write
    .prepare("update takeover set state = ?, ended_at = ? where id = ? and state in ('waiting', 'open')")
    .run(end, write.now, id)
  return changes > 0
}

/** Whose tab is gone, and whose link nobody has used since; the link is void from then on. */
export function takeGone(write: Write, linkHash: string): TakeoverRow | undefined {
  const row = write
    .prepare(
      "update takeover set link_hash = '' where link_hash = ? and state = 'gone' and link_expires_at > ? returning *",
    )
    .get(linkHash, write.now)
  return row as TakeoverRow | undefined
}

export function findByLink(handle: Handle, linkHash: string, now: number): TakeoverRow | undefined {
  return handle
    .prepare("select * from takeover where link_hash = ? and state in ('waiting', 'gone') and link_expires_at > ?")
    .get(linkHash, now) as TakeoverRow | undefined
}

/** An id, or the beginning of that of one which is not over. Throws `not-found`, `conflict`. */
export function resolveTakeover(handle: Handle, idOrPrefix: string): TakeoverRow {
  const prefix = idOrPrefix.trim().toLowerCase()
  const found = openTakeovers(handle).filter(({ id }) => prefix.length >= 4 && id.startsWith(prefix))
  const [only, other] = found
  if (only && !other) return only
  if (only) throw new AppError("conflict", `Several takeovers begin with ${prefix}`, { hint: "Give more of the id" })
  throw new AppError("not-found", `No takeover ${idOrPrefix.slice(0, 40)} waits`, {
    hint: "Those that there are: svc browser takeover --list",
  })
}

export function summaryOf(row: TakeoverRow): TakeoverSummary {
  return {
    id: row.id,
    state: row.state,
    profile: row.profile ?? "",
    targetId: row.target_id,
    reason: row.reason,
    session: row.session_key,
    askedAt: row.asked_at,
    expiresAt: row.expires_at,
    openedAt: row.opened_at,
    endedAt: row.ended_at,
  }
}
