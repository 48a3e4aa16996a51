// The rows of the audit log: written in one transaction, read newest first. store/sweeps.ts removes them.
import type { AuditRow, Store, Write } from "../../store/index.ts"
import type { AuditItem } from "./contract.ts"

export type NewAuditRow = Omit<AuditRow, "id">

const columns = "at, last_at, door, who_kind, who_id, who_name, action, target, outcome, count, counted"
const insert = `insert into audit (${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (at, door, who_kind, who_id, action, target, outcome) where counted = 1 do update set
    count = count + excluded.count, last_at = max(last_at, excluded.last_at), who_name = excluded.who_name`

export function insertAudit({ prepare }: Write, row: NewAuditRow): void {
  const { at, last_at, door, who_kind, who_id, who_name, action, target, outcome, count, counted } = row
  prepare(insert).run(at, last_at, door, who_kind, who_id, who_name, action, target, outcome, count, counted)
}

export interface AuditQuery {
  since: number
  until: number
  /** A whole name (`token.create`) or its first word (`token`). */
  action?: string
  /** Only what comes behind the row of this id. */
  before?: number
  limit: number
}

export function readAudit(store: Store, { since, until, action = "", before = 0, limit }: AuditQuery): AuditItem[] {
  const rows = store.handle
    .prepare(
      `select id, ${columns} from audit
       where last_at >= ?1 and last_at < ?2 and (?3 = '' or action = ?3 or substr(action, 1, length(?3) + 1) = ?3 || '.')
         and (?5 = 0 or (last_at, id) < (select last_at, id from audit where id = ?5))
       order by last_at desc, id desc limit ?4`,
    )
    .all(since, until, action, limit, before) as unknown as AuditRow[]
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    lastAt: row.last_at,
    door: row.door,
    who: { kind: row.who_kind, id: row.who_id, name: row.who_name },
    action: row.action,
    target: row.target,
    outcome: row.outcome,
    count: row.count,
  }))
}
