// Looks through a database for damage and rebuilds damaged indexes, in a thread with a connection of its own: on a
// large file that takes minutes, which the event loop does not have. The functions become the thread's program as text:
// the gateway is shipped as bundles, where a thread has no file to start from.
import type { DatabaseSync } from "node:sqlite"
import { Worker } from "node:worker_threads"

export interface Findings {
  /** In SQLite's words; none when all is well. */
  problems: string[]
  /** Tables that have lost something, by name. */
  tables: string[]
  /** Indexes that are damaged; their tables hold all that they held. */
  indexes: string[]
  /** Indexes that were made anew. */
  rebuilt: string[]
  /** Why the file could not be looked through, or an index not be made anew. */
  error?: string
}

export interface InspectRequest {
  path: string
  /** Makes these anew first. */
  rebuild: string[]
}

/** Resolves with what was found; a thread that fails is an `error` among it. */
export function inspectInThread(request: InspectRequest, signal: AbortSignal): Promise<Findings> {
  const failed = (error: string): Findings => ({ problems: [], tables: [], indexes: [], rebuilt: [], error })
  return new Promise((resolve) => {
    const worker = new Worker(inspectProgram(), {
      eval: true,
      env: {},
      execArgv: [],
      workerData: request,
      name: "store inspection",
    })
    const end = (findings: Findings) => {
      signal.removeEventListener("abort", stop)
      void worker.terminate()
      resolve(findings)
    }
    const stop = () => end(failed("stopped"))
    worker.once("message", end)
    worker.once("error", (error) => end(failed(error.message)))
    worker.once("exit", () => end(failed("the inspection ended without a word")))
    signal.addEventListener("abort", stop)
    if (signal.aborted) stop()
  })
}

type Connection = InstanceType<typeof DatabaseSync>

interface Entry {
  type: string
  name: string
  table: string
  root: number
  sql: string | null
}

/** The thread's program; its functions use nothing from outside but types and each other. */
function inspectProgram(): string {
  const parts = [quoted, readSchema, forget, makeAnew, rebuildAll, sort, check, readsThrough, readEach, look]
  return [...parts, inspectDatabase, `${inspectDatabase.name}()`].join("\n")
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function readSchema(database: Connection): Entry[] {
  return database
    .prepare("select type, name, tbl_name as 'table', rootpage as root, sql from sqlite_schema where rootpage > 0")
    .all() as unknown as Entry[]
}

/** Changes the schema's own rows; the version tells other connections. */
function forget(database: Connection, statements: string): void {
  const version = Number(database.prepare("pragma schema_version").get()?.["schema_version"])
  database.exec(
    `pragma writable_schema = on; begin immediate; ${statements}; pragma schema_version = ${version + 1}; commit;
     pragma writable_schema = reset`,
  )
}

/** REINDEX walks the old tree; where that is broken too, it is forgotten and another takes its place. */
function makeAnew(database: Connection, name: string): "in place" | "replaced" {
  try {
    database.exec(`reindex ${quoted(name)}`)
    return "in place"
  } catch {
    const entry = readSchema(database).find((each) => each.type === "index" && each.name === name)
    if (entry === undefined) throw new Error(`there is no index ${name}`)
    if (entry.sql !== null) {
      forget(database, `delete from sqlite_schema where type = 'index' and name = '${name}'`)
      database.exec(entry.sql)
      return "replaced"
    }
    // That of a constraint has no statement of its own: it takes over the tree of one that is made like it.
    const columns = database.prepare(`pragma index_info(${quoted(name)})`).all()
    const list = columns.map((column) => quoted(String(column["name"]))).join(", ")
    database.exec(`create unique index svc_stand_in on ${quoted(entry.table)} (${list})`)
    const standIn = "(select rootpage from sqlite_schema where name = 'svc_stand_in')"
    forget(
      database,
      `update sqlite_schema set rootpage = ${standIn} where name = '${name}';
       delete from sqlite_schema where name = 'svc_stand_in'`,
    )
    return "replaced"
  }
}

function rebuildAll(path: string, names: readonly string[]): void {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  // Writing to the schema is what only a defensive connection refuses.
  const database = new DatabaseSync(path, { defensive: false } as object)
  try {
    database.exec("pragma busy_timeout = 30000")
    const ways = names.map((name) => makeAnew(database, name))
    // What the forgotten trees were made of belongs to nothing, which giving back room would stumble over.
    if (ways.includes("replaced")) database.exec("vacuum")
  } finally {
    database.close()
  }
}

/** Which table or index a line of SQLite's speaks of. */
function sort(findings: Findings, line: string, schema: readonly Entry[]): void {
  const root = /^Tree (\d+)/.exec(line)
  const found = root ? schema.find((entry) => entry.root === Number(root[1])) : undefined
  const named = /\bindex (\S+)$/.exec(line)?.[1]
  if (found?.type === "index") findings.indexes.push(found.name)
  else if (found) findings.tables.push(found.name)
  else if (schema.some((entry) => entry.type === "index" && entry.name === named)) findings.indexes.push(String(named))
  else findings.tables.push(/ in (\w+)\.\w+$/.exec(line)?.[1] ?? "(unknown)")
}

function check(findings: Findings, database: Connection, schema: readonly Entry[]): void {
  for (const row of database.prepare("pragma integrity_check(100)").iterate()) {
    for (const line of String(row["integrity_check"]).split("\n")) {
      // Pages that belong to nothing take up room and do no harm.
      if (line === "ok" || line === "" || line.startsWith("***") || line.endsWith(" never used")) continue
      findings.problems.push(line)
      sort(findings, line, schema)
    }
  }
}

/** Whether a query over the whole of something can be run. */
function readsThrough(findings: Findings, database: Connection, query: string): boolean {
  try {
    for (const _row of database.prepare(query).iterate()) continue
    return true
  } catch (error) {
    findings.problems.push(`${query}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

/** For trees that cannot even be opened, which end SQLite's own check. */
function readEach(findings: Findings, database: Connection, schema: readonly Entry[]): void {
  for (const { type, name, table, sql } of schema) {
    if (type === "table") {
      if (!readsThrough(findings, database, `select * from ${quoted(name)} not indexed`)) findings.tables.push(name)
      continue
    }
    const condition = (sql ?? "").search(/\swhere\s/i)
    const where = condition < 0 ? "" : (sql ?? "").slice(condition)
    const query = `select count(*) from ${quoted(table)} indexed by ${quoted(name)}${where}`
    if (!readsThrough(findings, database, query)) findings.indexes.push(name)
  }
}

function look(findings: Findings, path: string): void {
  const { DatabaseSync } = process.getBuiltinModule("node:sqlite")
  // Beside an empty database SQLite removes the log, which may be all that is left.
  if (process.getBuiltinModule("node:fs").statSync(path).size === 0) throw new Error("the file is empty")
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const schema = readSchema(database)
    try {
      check(findings, database, schema)
    } catch (error) {
      readEach(findings, database, schema)
      if (findings.problems.length === 0) throw error
    }
  } finally {
    database.close()
  }
  findings.tables = [...new Set(findings.tables)]
  findings.indexes = [...new Set(findings.indexes)]
}

function inspectDatabase(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const { path, rebuild } = workerData as InspectRequest
  const findings: Findings = { problems: [], tables: [], indexes: [], rebuilt: rebuild }
  try {
    if (rebuild.length > 0) rebuildAll(path, rebuild)
    look(findings, path)
  } catch (error) {
    findings.error = error instanceof Error ? error.message : String(error)
  }
  parentPort?.postMessage(findings)
}
