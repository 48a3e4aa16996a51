// The SQL of secrets. Only this feature writes the table.
import type { Store, Write } from "../store/index.ts"
import type { SecretOrigin, SecretSummary } from "./contract.ts"

export interface SecretRow {
  name: string
  /** JSON. */
  origins: string
  source: SecretOrigin
  reference: string | null
  sealed: string | null
  any_field: 0 | 1
  created_at: number
  updated_at: number
  last_used_at: number | null
}

type Handle = Pick<Store["handle"], "prepare">

export function allSecrets(handle: Handle): SecretRow[] {
  return handle.prepare("select * from secret order by name").all() as unknown as SecretRow[]
}

export function findSecret(handle: Handle, name: string): SecretRow | undefined {
  return handle.prepare("select * from secret where name = ?").get(name) as SecretRow | undefined
}

export function putSecret(write: Write, row: Omit<SecretRow, "created_at" | "updated_at" | "last_used_at">): void {
  write
    .prepare(
      `insert into secret (name, origins, source, reference, sealed, any_field, created_at, updated_at)
       values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
       on conflict (name) do update set origins = ?2, source = ?3, reference = ?4, sealed = ?5, any_field = ?6,
         updated_at = ?7, last_used_at = null`,
    )
    .run(row.name, row.origins, row.source, row.reference, row.sealed, row.any_field, write.now)
}

export function removeSecret(write: Write, name: string): void {
  write.prepare("delete from secret where name = ?").run(name)
}

export function setUsed(write: Write, name: string): void {
  write.prepare("update secret set last_used_at = ? where name = ?").run(write.now, name)
}

export function originsIn(row: SecretRow): string[] {
  return JSON.parse(row.origins) as string[]
}

export function summaryOf(row: SecretRow): SecretSummary {
  return {
    name: row.name,
    origins: originsIn(row),
    source: row.source,
    reference: row.reference,
    anyField: row.any_field === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastUsedAt: row.last_used_at,
  }
}
