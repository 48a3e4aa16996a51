// Brings the schema up to date: each migration and its record are one transaction, so that a kill at any point leaves
// either the schema before or the one after. The records stand in the table that kysely's own migrator had kept.
// Programs up to `lastUnsafe` let each statement commit alone: what a kill of such a program left is finished here,
// statement by statement, as long as what stands there is what the migration would have made.
import type { DatabaseSync } from "node:sqlite"
import type { Migration } from "kysely/migration"
import { AppError, type CrashPoint } from "../kernel/index.ts"
import { type SqliteHandle, kyselyOver } from "./sqlite.ts"

/** The last migration that a program without transactions can have run. */
const lastUnsafe = "0011-segments"

export interface MigrateOptions {
  handle: SqliteHandle
  migrations: Record<string, Migration>
  /** Kept with the schema: a program that knows this migration can use what all of them have made. */
  readableFrom: string
  crashPoint: CrashPoint
  /** For the record, as ISO text. */
  now: () => string
  /** Of this program; kept with the schema, so that an older program can name the one it needs. */
  version?: string | undefined
  /** Told of what a killed program of old had left half made. */
  onFinished?: (migration: string, statements: number) => void
}

/** Throws `storage-newer` when another program has made what this one does not know. Returns what was run. */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { raw } = options.handle
  const done = new Set(recordedMigrations(raw))
  const newer = newerStore(raw, options.migrations)
  if (newer) throw newer
  const wanted = Object.keys(options.migrations)
    .toSorted()
    .filter((name) => !done.has(name))
  for (const name of wanted) await runMigration(options, name)
  return wanted
}

/** Names of the migrations that this database has been through; none for one that is empty. */
export function recordedMigrations(raw: DatabaseSync): string[] {
  if (!hasTable(raw, "kysely_migration")) return []
  return (raw.prepare("select name from kysely_migration order by name").all() as { name: string }[]).map(
    ({ name }) => name,
  )
}

async function runMigration(options: MigrateOptions, name: string): Promise<void> {
  const { handle, crashPoint } = options
  const { raw } = handle
  let found = 0
  const prepare = (text: string) => {
    crashPoint("migrate.statement")
    if (name > lastUnsafe || !standsAlready(raw, text)) return raw.prepare(text)
    found += 1
    return raw.prepare("select 1 where false")
  }
  raw.exec("begin immediate")
  try {
    // A connection of its own is not needed: nobody else has this database yet.
    await (options.migrations[name] as Migration).up(kyselyOver(handle, prepare))
    record(options, name)
    crashPoint("migrate.beforeCommit")
    raw.exec("commit")
  } catch (error) {
    if (raw.isTransaction) raw.exec("rollback")
    throw error
  }
  crashPoint("migrate.committed")
  if (found > 0) options.onFinished?.(name, found)
}

function record(options: MigrateOptions, name: string): void {
  const { raw } = options.handle
  raw.exec(
    "create table if not exists kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)",
  )
  raw.prepare("insert into kysely_migration (name, timestamp) values (?, ?)").run(name, options.now())
  const keep = raw.prepare(
    "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value",
  )
  keep.run("readableFrom", JSON.stringify(options.readableFrom))
  if (options.version !== undefined) keep.run("madeBy", JSON.stringify(options.version))
}

/**
 * Whether a program that knows these migrations can use a store: it has been through none but those, or the ones that are
 * foreign only add what such a program may leave out.
 */
export function canUse(raw: DatabaseSync, known: Record<string, unknown>): boolean {
  return isUsable({ schema: recordedMigrations(raw), readableFrom: readableFromOf(raw) }, known)
}

export function isUsable(
  { schema, readableFrom }: { schema: readonly string[]; readableFrom: string | undefined },
  known: Record<string, unknown>,
): boolean {
  return schema.every((name) => name in known) || (readableFrom !== undefined && readableFrom in known)
}

/** Undefined in a store that an older program has made. */
export function readableFromOf(raw: DatabaseSync): string | undefined {
  const kept = readMeta(raw, "readableFrom")
  return typeof kept === "string" ? kept : undefined
}

function readMeta(raw: DatabaseSync, key: string): unknown {
  if (!hasTable(raw, "meta")) return undefined
  const row = raw.prepare("select value from meta where key = ?").get(key) as { value: string } | undefined
  return row && JSON.parse(row.value)
}

/** What keeps a program that knows these migrations from a store that a newer one has made; undefined where nothing does. */
export function newerStore(raw: DatabaseSync, migrations: Record<string, unknown>): AppError | undefined {
  if (canUse(raw, migrations)) return undefined
  const known = Object.keys(migrations)
  const made = readMeta(raw, "madeBy")
  const program = made === undefined ? "the svc that made it, or a newer one" : `svc ${String(made)} or newer`
  const [theirs, ours] = [recordedMigrations(raw), known].map((names) => Math.max(...names.map(schemaNumber)))
  return new AppError(
    "storage-newer",
    `The store was made by a newer svc (schema ${theirs}, this program knows ${ours})`,
    { hint: `Install ${program}, or restore a backup that was made before the upgrade` },
  )
}

/** `0012-pruning` is schema 12. */
function schemaNumber(name: string): number {
  return Number.parseInt(name, 10) || 0
}

/** Whether a statement's table, index, trigger or column is there. Throws when one of that name is, but another. */
function standsAlready(raw: DatabaseSync, text: string): boolean {
  const column = /^alter table (\w+) add column (\w+)/i.exec(text.trim())
  if (column) {
    const [, table = "", name] = column
    return raw
      .prepare(`pragma table_info(${table})`)
      .all()
      .some((each) => each["name"] === name)
  }
  const object = /^create (?:unique )?(?:table|index|trigger) (\w+)/i.exec(text.trim())
  const row = raw.prepare("select sql from sqlite_schema where name = ?").get(object?.[1] ?? "")
  if (!row) return false
  if (squeeze(String(row["sql"])) === squeeze(text)) return true
  throw new AppError("storage-failed", `The store holds ${object?.[1]} in a form that this program did not make`, {
    hint: "Restore a backup, or set svc.db aside and start with: svc gateway --new-store",
  })
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase()
}

function hasTable(raw: DatabaseSync, name: string): boolean {
  return raw.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(name) !== undefined
}
