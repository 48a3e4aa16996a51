// The database in a backup: copied by SQLite's online backup from one moment's snapshot, checked, and made safe to start
// from after a restore. Runs in the process of the command, never in the gateway's.
import { closeSync, fdatasyncSync, openSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync, backup } from "node:sqlite"
import { AppError, describeError } from "../kernel/index.ts"
import { isUsable, migrations, readableFromOf, restoredError, sqlForgetTold } from "../store/index.ts"
import { damaged } from "./archive/header.ts"
import type { OpenWork, Progress, Unsent } from "./contract.ts"

/** One megabyte a step, as pages are 4 KB. */
const pagesPerStep = 256
const stepsPerSync = 8
/** After each eight megabytes: leaves the disk to the gateway for a moment. */
const pauseMs = 5

export interface DatabaseFacts {
  /** What was committed before is in the copy. */
  createdAt: number
  schema: string[]
  readableFrom?: string
  counts: Record<string, number>
}

/**
 * Copies `svc.db` while others may be writing it. A read transaction holds one snapshot for the whole copy, so that writers
 * neither wait nor make it begin again; what they write meanwhile stays in the write-ahead log until the copy is done.
 */
export async function copyDatabase(
  stateFolder: string,
  target: string,
  options: { now: () => number; signal?: AbortSignal | undefined; progress: Progress },
): Promise<DatabaseFacts> {
  const path = join(stateFolder, "svc.db")
  // Beside an empty database SQLite removes the log, which may be all that is left.
  if (statSync(path, { throwIfNoEntry: false })?.size === 0) throw explain(new Error(`${path} is empty`))
  const source = new DatabaseSync(path, { readOnly: true })
  try {
    source.exec("pragma busy_timeout = 5000; begin")
    const facts = readFacts(source, options.now)
    await copyInSteps(source, target, options)
    source.exec("rollback")
    return facts
  } catch (error) {
    throw options.signal?.aborted || error instanceof AppError ? error : explain(error)
  } finally {
    source.close()
  }
}

async function copyInSteps(
  source: DatabaseSync,
  target: string,
  { signal, progress }: { signal?: AbortSignal | undefined; progress: Progress },
): Promise<void> {
  // Made here, so that it is private from its first byte.
  const file = openSync(target, "wx", 0o600)
  const rest = new Int32Array(new SharedArrayBuffer(4))
  const pageBytes = readCount(source, "pragma page_size")
  let steps = 0
  try {
    await backup(source, target, {
      rate: pagesPerStep,
      progress({ totalPages, remainingPages }) {
        signal?.throwIfAborted()
        progress("copying the database", (totalPages - remainingPages) * pageBytes, totalPages * pageBytes)
        steps += 1
        if (steps % stepsPerSync !== 0) return
        fdatasyncSync(file)
        Atomics.wait(rest, 0, 0, pauseMs)
      },
    })
  } finally {
    closeSync(file)
  }
}

function explain(error: unknown): AppError {
  // Result codes 11 and 26 of SQLite, in whatever page it met the damage first.
  const isDamaged = [11, 26].includes(((error as { errcode?: number }).errcode ?? 0) & 0xff)
  const what = isDamaged ? "The database is damaged" : "The database could not be copied"
  return new AppError("backup-failed", `${what}: ${describeError(error)}`, {
    cause: error,
    hint: "svc doctor says what is wrong with it; older backups: svc backup list",
  })
}

const counted: Record<string, string> = {
  sessions: "select count(*) from session",
  messages: "select count(*) from message",
  runs: "select count(*) from job",
  openRuns: "select count(*) from job where state in ('ready', 'running')",
  unsentMessages: "select count(*) from outbox where state in ('new', 'sending')",
  waitingEvents: "select count(*) from event where consumed_by is null",
  deliveryIds: "select count(*) from inbox",
  approvedSenders: "select count(*) from pairing_allow",
}

function readFacts(database: DatabaseSync, now: () => number): DatabaseFacts {
  const createdAt = now()
  // The first read fixes the snapshot.
  const schema = readSchema(database)
  const counts = Object.entries(counted).map(([name, sql]) => [name, readCount(database, sql)] as const)
  const readableFrom = readableFromOf(database)
  const readable = readableFrom === undefined ? {} : { readableFrom }
  return { createdAt, schema, ...readable, counts: Object.fromEntries(counts) }
}

function readSchema(database: DatabaseSync): string[] {
  const rows = database.prepare("select name from kysely_migration order by name").all()
  return rows.map((row) => String(row["name"]))
}

function readCount(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0] ?? 0)
}

/** Throws `backup-newer` when this program does not know the schema. */
export function checkSchema(
  made: { schema: readonly string[]; readableFrom: string | undefined },
  version: string,
): void {
  if (isUsable(made, migrations)) return
  const [theirs, known] = [made.schema.at(-1), Object.keys(migrations).at(-1)]
  throw new AppError(
    "backup-newer",
    `The backup was made by svc ${version} (schema ${theirs}); this one knows ${known}`,
    {
      hint: `install svc ${version} or newer, or take an older backup: svc backup list`,
    },
  )
}

/** Every page, index and constraint. Throws `backup-damaged`, `backup-newer`. */
export function checkDatabase(file: string, version: string): void {
  const database = openCopy(file)
  try {
    const problems = database.prepare("pragma integrity_check(3)").all()
    const [first] = problems.map((row) => String(row["integrity_check"]))
    if (first !== "ok") throw damaged(`its database is damaged (${first})`)
    checkSchema({ schema: readSchema(database), readableFrom: readableFromOf(database) }, version)
  } catch (error) {
    throw error instanceof AppError ? error : damaged(`its database is damaged (${describeError(error)})`, error)
  } finally {
    database.close()
  }
}

export interface Settled {
  openWork: { kept: OpenWork; jobs: number; runs: string[] }
  unsent: { kept: Unsent; messages: number }
}

/**
 * What is open is sent at the start: all of it where that is wished, also what was under way; else the questions about
 * messages in doubt, which do no harm when they come twice.
 */
const sqlSendOpen = `
  update outbox set state = 'new', owner = null where state = 'sending';
  update outbox set head = 1 where id in (select min(id) from outbox where state in ('new', 'sending') group by lane_key);`

/** Of these the report names the run ids. */
const namedRuns = 20

/**
 * Prepares a copy for its first start. A message that was waiting or under way may have been sent since, by the gateway
 * that went on: it is in doubt, never sent again by itself. Accepted work goes on, unless it is to be held.
 */
export function settleRestored(
  file: string,
  wanted: { openWork: OpenWork; unsent: Unsent; now: number; createdAt: number },
) {
  const database = openCopy(file)
  const since = `backup of ${new Date(wanted.createdAt).toISOString()}`
  try {
    database.exec("pragma synchronous = full; begin immediate")
    const unsent = readCount(database, `${counted["unsentMessages"]} and doubt is null`)
    const jobs = readCount(database, counted["openRuns"] ?? "")
    const runs = database
      .prepare("select run_id from job where state in ('ready', 'running') order by id limit ?")
      .all(namedRuns)
      .map((row) => String(row["run_id"]))
    if (wanted.unsent === "ask") {
      database
        .prepare(
          `update outbox set state = 'uncertain', head = 0, owner = null, error = ?
           where state in ('new', 'sending') and doubt is null`,
        )
        .run(restoredError(wanted.createdAt))
    }
    database.exec(sqlSendOpen)
    if (wanted.openWork === "hold") {
      database
        .prepare(
          `update job set state = 'dead', head = 0, owner = null, finished_at = ?, error = ?
           where state in ('ready', 'running')`,
        )
        .run(wanted.now, `restored from the ${since} and held: it may have been done since`)
    }
    const mark = JSON.stringify({ at: wanted.now, createdAt: wanted.createdAt })
    database.prepare("insert or replace into meta (key, value) values ('restored', ?)").run(mark)
    database.exec(sqlForgetTold)
    database.exec("commit")
    return {
      openWork: { kept: wanted.openWork, jobs, runs },
      unsent: { kept: wanted.unsent, messages: unsent },
    } satisfies Settled
  } finally {
    database.close()
  }
}

/** Of an archive that may come from anywhere: its schema must not call what is not SQLite's own. */
function openCopy(file: string): DatabaseSync {
  const database = new DatabaseSync(file)
  database.exec("pragma trusted_schema = off; pragma busy_timeout = 5000")
  return database
}
