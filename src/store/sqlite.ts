// node:sqlite behind kysely's SQLite dialect, with a cache of prepared statements and the errors that matter
// (full disk, failed write) turned into our own.
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { Kysely, SqliteDialect } from "kysely"
import { AppError } from "../kernel/index.ts"
import type { Database } from "./schema.ts"

// SQLite's primary result codes: https://www.sqlite.org/rescode.html
const codes = { ioError: 10, readOnly: 8, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 }

/** Bounds the memory of prepared statements; the product has fewer distinct queries than this. */
const maxStatements = 300

export interface SqliteHandle {
  raw: DatabaseSync
  db: Kysely<Database>
  /** A prepared statement, kept for the next call with the same text. */
  prepare(sql: string): StatementSync
}

export interface SqliteOptions {
  /** Told of every statement that met a damaged page. */
  onDamage?: (error: unknown) => void
}

export function openSqlite(path: string, options: SqliteOptions = {}): SqliteHandle {
  const raw = new DatabaseSync(path)
  try {
    configure(raw)
  } catch (error) {
    raw.close()
    throw error
  }
  const statements = new Map<string, StatementSync>()
  const prepare = (sql: string): StatementSync => {
    let statement = statements.get(sql)
    if (!statement) {
      statement = watched(raw.prepare(plannedOnce(sql)), options.onDamage)
      if (statements.size >= maxStatements) statements.delete(statements.keys().next().value as string)
      statements.set(sql, statement)
    }
    return statement
  }
  const handle = { raw, prepare }
  return { ...handle, db: kyselyOver(handle, prepare) }
}

function configure(raw: DatabaseSync): void {
  // The first line decides only about a database that is made now: pages that become free can then be given back.
  // Safe by itself, for all that opens a database for a moment; a running store waits for the disk beside the event loop
  // (`durability.ts`).
  raw.exec(`
    pragma auto_vacuum = incremental;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma busy_timeout = 5000;
    pragma foreign_keys = on;
    pragma wal_autocheckpoint = 400;
    pragma journal_size_limit = 16777216;
    pragma temp_store = memory;
    pragma cache_size = -8000;
  `)
}

/**
 * The planner looks at a number that is bound as a limit, and so makes the whole statement anew each time that one is
 * bound, which takes five times as long as running it (`sqlite3ExprIsInteger` in https://www.sqlite.org/src/file/src/expr.c).
 * It does not look into an expression.
 */
function plannedOnce(sql: string): string {
  return sql.replace(/\blimit (\?\d*)/g, "limit $1 + 0")
}

/** Failures of the disk and damage come out as ours, wherever a statement is used. */
function watched(statement: StatementSync, onDamage: SqliteOptions["onDamage"]): StatementSync {
  const guard = <Parameters extends unknown[], Result>(call: (...parameters: Parameters) => Result) => {
    return (...parameters: Parameters): Result => {
      try {
        return call.apply(statement, parameters)
      } catch (error) {
        if (isCorruption(error)) onDamage?.(error)
        throw explainStoreError(error)
      }
    }
  }
  statement.run = guard(statement.run) as StatementSync["run"]
  statement.get = guard(statement.get) as StatementSync["get"]
  statement.all = guard(statement.all) as StatementSync["all"]
  return statement
}

/** The query builder over a connection; `prepare` is how its statements are made. */
export function kyselyOver(
  { raw }: Pick<SqliteHandle, "raw">,
  prepare: (sql: string) => StatementSync,
): Kysely<Database> {
  return new Kysely<Database>({
    dialect: new SqliteDialect({
      database: {
        close: () => raw.close(),
        prepare: (sql) => {
          // A full disk may have made SQLite roll back by itself; failing at a second rollback would hide that.
          const statement = prepare(sql === "rollback" && !raw.isTransaction ? "select 1 where false" : sql)
          return {
            reader: statement.columns().length > 0,
            all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
            run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
            iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
          }
        },
      },
    }),
  })
}

/** A failure of SQLite as an AppError; anything else as it is. */
export function explainStoreError(error: unknown): unknown {
  const code = (error as { errcode?: number }).errcode
  if (code === undefined) return error
  const primary = code & 0xff
  if (primary === codes.full) {
    return new AppError("storage-full", "The disk is full", {
      cause: error,
      retryAfterSeconds: 10,
      hint: "Free some space in the state folder's file system; the gateway goes on by itself",
    })
  }
  if (primary === codes.ioError || primary === codes.readOnly || primary === codes.cannotOpen) {
    return new AppError("storage-failed", "The store cannot be written", {
      cause: error,
      retryAfterSeconds: 10,
      hint: "Check the state folder's file system and its rights",
    })
  }
  if (isCorruption(error)) {
    return new AppError("storage-damaged", "The store is damaged", {
      cause: error,
      retryAfterSeconds: 60,
      hint: "svc status says what is damaged and what to do",
    })
  }
  return error
}

/** What is wrong and what to do about it, once each. */
export function describeRefusal({ message, hint }: AppError): string {
  return hint === undefined || message.includes(hint) ? message : `${message}. ${hint}`
}

/** Of SQLite's own errors and of ours that were made of them. */
export function isCorruption(error: unknown): boolean {
  if (error instanceof AppError) return error.code === "storage-damaged"
  const primary = ((error as { errcode?: number }).errcode ?? 0) & 0xff
  return primary === codes.corrupt || primary === codes.notADatabase
}
