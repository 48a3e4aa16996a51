// What the store says, read only and within the time that a person waits: missing, damaged, and what waits in it.
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describeError } from "../kernel/index.ts"
import { wayOut } from "../store/damage.ts"
import { findLogDamage } from "../store/log-damage.ts"
import { newerStore } from "../store/migrate.ts"
import { migrations } from "../store/migrations/index.ts"
import { inspectInThread } from "../store/inspect-database.ts"
import { isNoFile, noFile, storageMissing, wasUsed } from "../store/used-folder.ts"
import { type Finding, finding } from "./contract.ts"

export async function lookAtStore(stateFolder: string, signal: AbortSignal): Promise<Finding[]> {
  const path = join(stateFolder, "svc.db")
  if (isNoFile(path)) {
    const { message, hint } = noFile(path)
    return [finding("file-unreadable", `${message}. ${hint ?? ""}`, { command: `ls -ld ${path}` })]
  }
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) {
    if (!existsSync(stateFolder) || !wasUsed(stateFolder)) return []
    const lost = storageMissing(stateFolder, existsSync(path) ? "empty" : "missing")
    return [finding("store-missing", `${lost.message}. ${lost.hint ?? ""}`, { command: "svc backup list" })]
  }
  const newer = newness(path)
  return newer.length > 0 ? newer : [...waiting(path), ...(await damage(path, signal))]
}

/** While no gateway runs: what the next start has to leave out of the log. */
export function lookAtLog(stateFolder: string): Finding[] {
  const path = join(stateFolder, "svc.db")
  const damage = findLogDamage(path)
  if (!damage) return []
  const cause = `damaged: ${path}-wal, at byte ${damage.at}. The next start keeps a copy of it and goes on without ${damage.lost} changes that stand behind`
  return [finding("store-damaged", cause, { command: "svc backup list" })]
}

/** A store of a newer release is whole, and nothing else of it can be told by this one. */
function newness(path: string): Finding[] {
  const error = readOnly(path, (database) => newerStore(database, migrations))
  return error ? [finding("store-newer", `${error.message}. ${error.hint ?? ""}`, { command: "svc update" })] : []
}

/** Undefined for what cannot be read: the look for damage tells of it. */
function readOnly<T>(path: string, look: (database: DatabaseSync) => T): T | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 500 })
    return look(database)
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_SQLITE_ERROR") throw error
    return undefined
  } finally {
    database?.close()
  }
}

async function damage(path: string, signal: AbortSignal): Promise<Finding[]> {
  const { problems, tables, indexes, error } = await inspectInThread({ path, rebuild: [] }, signal)
  if (signal.aborted) {
    return [finding("store-unchecked", `${path} was not looked through: it is large, or the machine is busy`)]
  }
  if (error === undefined && problems.length === 0) return []
  const names = [...tables.map((name) => `table ${name}`), ...indexes.map((name) => `index ${name}`)]
  const what = names.length > 0 ? names.join(", ") : path
  const why = error === undefined ? "" : ` (${error})`
  const isMended = tables.length === 0 && indexes.length > 0 && error === undefined
  const way = isMended ? "The next start of the gateway makes it anew" : wayOut
  return [
    finding("store-damaged", `damaged: ${what}${why}. ${way}`, {
      command: isMended ? "svc gateway" : "svc backup list",
    }),
  ]
}

const weekMs = 7 * 24 * 60 * 60 * 1000

/** As `svc status` counts them, without what was dismissed. */
function waiting(path: string): Finding[] {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 500 })
    const since = Date.now() - weekMs
    const count = (sql: string) => Number(database?.prepare(`select count(*) as n from ${sql}`).get(since)?.["n"] ?? 0)
    const dead = count("outbox where state = 'dead' and created_at >= ?")
    const doubts = count("outbox where state = 'uncertain' and created_at >= ?")
    const runs = count("job where state = 'dead' and created_at >= ?")
    const told = (
      number: number,
      code: "messages-dead" | "messages-in-doubt" | "runs-dead",
      words: { one: string; more: string },
      command: string,
    ) => {
      const what = number === 1 ? words.one : `${number} ${words.more}`
      return number === 0 ? [] : [finding(code, `${what} in the last seven days`, { command })]
    }
    return [
      ...told(
        dead,
        "messages-dead",
        { one: "One message was given up", more: "messages were given up" },
        "svc outbox list --state dead",
      ),
      ...told(
        doubts,
        "messages-in-doubt",
        { one: "One message may not have arrived", more: "messages may not have arrived" },
        "svc outbox list --state uncertain",
      ),
      ...told(
        runs,
        "runs-dead",
        { one: "One run has failed for good", more: "runs have failed for good" },
        "svc runs list --state dead",
      ),
    ]
  } catch (error) {
    // A damaged one is told by the look for damage; one of an older release has other columns until its next start.
    const { errcode, code } = error as { errcode?: number; code?: string }
    if (code !== "ERR_SQLITE_ERROR" || errcode === 11 || errcode === 26 || errcode === 1) return []
    return [finding("file-unreadable", `${path} cannot be read: ${describeError(error)}`, { command: `ls -l ${path}` })]
  } finally {
    database?.close()
  }
}
