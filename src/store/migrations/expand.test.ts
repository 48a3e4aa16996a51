// Migrations expand first and contract later. Those behind `readableFrom` are held to it, and a store that says of itself that
// an older program can use it is one that such a program opens.
import assert from "node:assert/strict"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import type { Migration } from "kysely/migration"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { noCrash } from "../../kernel/index.ts"
import { migrate } from "../migrate.ts"
import { openSqlite } from "../sqlite.ts"
import { migrations, readableFrom } from "./index.ts"

type Facts = Map<string, Map<string, { type: string; required: boolean }>>

/** Columns by table; `required`: a row that does not name it is refused. */
function tablesOf(raw: DatabaseSync): Facts {
  const names = raw
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name not like 'kysely%'",
    )
    .all()
  const columns = (table: string) =>
    raw
      .prepare(`pragma table_xinfo(${table})`)
      .all()
      .map((row): [string, { type: string; required: boolean }] => [
        String(row["name"]),
        {
          type: String(row["type"]),
          required: row["notnull"] === 1 && row["dflt_value"] === null && row["hidden"] === 0,
        },
      ])
  return new Map(names.map(({ name }) => [String(name), new Map(columns(String(name)))]))
}

/** Constraints that old rows know and new ones might not keep: unique indexes by what they cover, per table. */
function uniqueOf(raw: DatabaseSync): Set<string> {
  const rows = raw.prepare(
    "select name, tbl_name as t, sql from sqlite_schema where type = 'index' and sql like 'create unique%'",
  )
  return new Set(rows.all().map((row) => `${String(row["t"])}: ${String(row["name"])}`))
}

/** What a program that knows only `before` could trip over. */
function contractions(before: DatabaseSync, after: DatabaseSync): string[] {
  const found: string[] = []
  const now = tablesOf(after)
  for (const [table, columns] of tablesOf(before)) {
    const left = now.get(table)
    if (!left) {
      found.push(`the table ${table} is gone`)
      continue
    }
    for (const [name, { type }] of columns) {
      if (left.get(name)?.type !== type) found.push(`${table}.${name} is gone or has another type`)
    }
    for (const [name, { required }] of left) {
      const was = columns.get(name)
      if (required && was?.required !== true) found.push(`${table}.${name} is wanted of every new row`)
    }
  }
  const known = uniqueOf(before)
  const old = tablesOf(before)
  for (const index of uniqueOf(after)) {
    if (!known.has(index) && old.has(index.split(":")[0] ?? ""))
      found.push(`${index} refuses rows that were taken before`)
  }
  return found
}

async function storeWith(
  known: Record<string, Migration>,
  from = readableFrom,
  path = join(temporaryFolder(), "svc.db"),
) {
  const handle = openSqlite(path)
  handle.raw.exec("pragma synchronous = off")
  await migrate({ handle, migrations: known, readableFrom: from, crashPoint: noCrash, now: () => "2026-01-01" })
  return { raw: handle.raw, path }
}

const upTo = (last: string) => Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= last))

test("what stands behind readableFrom only adds what an older program may leave out", async () => {
  assert.ok(readableFrom in migrations)
  const before = await storeWith(upTo(readableFrom))
  const after = await storeWith(migrations)
  const hint = "name this migration in readableFrom, or let it only add"
  assert.deepEqual(contractions(before.raw, after.raw), [], hint)
})

test("each way of contracting is noticed", async () => {
  const { raw: before } = await storeWith(migrations)
  const ways = [
    "drop table pairing_allow",
    "alter table session rename column session_id to other_id",
    "alter table session drop column last_route",
    "create unique index only_once on message (created_at)",
    "drop table name_pin; create table name_pin (wanted text not null)",
  ]
  for (const way of ways) {
    const { raw: after } = await storeWith(migrations)
    after.exec(way)
    assert.notDeepEqual(contractions(before, after), [], way)
  }
})

test("an older program opens what only expands, and refuses what contracts", async () => {
  const expand = { up: async () => undefined }
  const newer = { ...migrations, "9001-later": expand }
  const expanded = await storeWith(newer, readableFrom)
  expanded.raw.close()
  await storeWith(migrations, readableFrom, expanded.path)
  const contracted = await storeWith(newer, "9001-later")
  contracted.raw.close()
  await assert.rejects(storeWith(migrations, readableFrom, contracted.path), { code: "storage-newer" })
})
