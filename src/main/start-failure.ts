// What a person reads at the terminal when the gateway does not start: what is wrong, and one line of what to do.
import { AppError, describeError } from "../kernel/index.ts"
import { printable } from "../kernel/terminal-text.ts"

export function describeStartFailure(error: unknown): string {
  const { message, hint } = explain(error)
  // Damage names its way out by itself.
  const next = hint === undefined || message.includes(hint) ? "" : `hint: ${hint}\n`
  return printable(`error: ${message}\n${next}`)
}

const sqliteFull = 13

function explain(error: unknown): { message: string; hint?: string | undefined } {
  const { code, syscall } = error as NodeJS.ErrnoException
  // The lock and the look for damage meet SQLite's own error, the store has a word for it.
  const isSqliteFull = code === "ERR_SQLITE_ERROR" && (error as { errcode?: number }).errcode === sqliteFull
  if (code === "ENOSPC" || code === "EDQUOT" || code === "storage-full" || isSqliteFull) {
    return {
      message: `No space left in the file system of the state folder: the gateway was not started (${describeError(error)})`,
      hint: "Free some space in the file system of the state folder (SVC_STATE_DIR, else ~/.svc)",
    }
  }
  if (error instanceof AppError) return error
  if (syscall === undefined) return { message: describeError(error) }
  return { message: describeError(error), hint: "Look at the rights and the kind of this file (svc doctor)" }
}
