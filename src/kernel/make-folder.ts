// Makes a folder with those above it, one after the other. `mkdir` with `recursive` begins again whenever it is told that
// the folder above is missing, and so never ends where the system says that of a folder which exists, as /proc does.
import { mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { AppError, describeError } from "./errors.ts"

/** Private to this user (700) where it is new. Throws AppError `storage-failed` or `storage-full` that names the folder. */
export function makeFolder(path: string): void {
  try {
    make(path)
  } catch (error) {
    const code = codeOf(error)
    throw new AppError(
      code === "ENOSPC" || code === "EDQUOT" ? "storage-full" : "storage-failed",
      `The folder ${path} could not be made: ${describeError(error)}`,
      { hint: "Name a folder that this user can write: SVC_STATE_DIR=...", cause: error },
    )
  }
}

function make(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  if (found === undefined && dirname(path) !== path) make(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== "EEXIST" || !statSync(path).isDirectory()) throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
