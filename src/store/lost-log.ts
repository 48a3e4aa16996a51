// What a start had to leave out of a damaged log, kept until a person has seen it.
import type { SqliteHandle } from "./sqlite.ts"

export interface LostLog {
  /** When it was found, wall-clock milliseconds. */
  at: number
  /** Transactions that are lost. */
  lost: number
  /** Path of the copy. */
  kept: string
}

const key = "lost-log"

export function noteLostLog({ raw }: Pick<SqliteHandle, "raw">, lost: LostLog): void {
  raw.prepare("insert or replace into meta (key, value) values (?, ?)").run(key, JSON.stringify(lost))
}

export function readLostLog({ prepare }: Pick<SqliteHandle, "prepare">): LostLog | undefined {
  const row = prepare("select value from meta where key = ?").get(key)
  return row === undefined ? undefined : (JSON.parse(String(row["value"])) as LostLog)
}

export function forgetLostLog({ prepare }: Pick<SqliteHandle, "prepare">): void {
  prepare("delete from meta where key = ?").run(key)
}
