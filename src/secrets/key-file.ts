// The key that stored secrets are sealed with: a file of its own beside the database, for its owner alone. Whoever gets
// only the database has nothing.
import { randomBytes } from "node:crypto"
import { chmodSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { AppError, type Log, writePrivateFile } from "../kernel/index.ts"

const keyBytes = 32

export interface KeyFile {
  readonly path: string
  /** Throws `secret-unavailable` where the key that `isNeeded` is gone; makes one where none is needed yet. */
  read(isNeeded: boolean): Buffer
}

export function openKeyFile(stateFolder: string, log: Log): KeyFile {
  const path = join(stateFolder, "secrets.key")
  return {
    path,
    read(isNeeded) {
      const text = readIfThere(path)
      if (text === undefined) {
        if (isNeeded) throw keyTrouble(`The key of the stored secrets is gone: ${path}`)
        const key = randomBytes(keyBytes)
        writePrivateFile(path, `${key.toString("base64")}\n`)
        return key
      }
      const key = Buffer.from(text.trim(), "base64")
      if (key.length !== keyBytes) throw keyTrouble(`The key of the stored secrets is damaged: ${path}`)
      closeToOthers(path, log)
      return key
    },
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw keyTrouble(`The key of the stored secrets cannot be read: ${path}`, error)
  }
}

/** A copy or a restore by hand may have opened it. */
function closeToOthers(path: string, log: Log): void {
  if ((statSync(path).mode & 0o077) === 0) return
  chmodSync(path, 0o600)
  log.warn({ path }, "the key of the stored secrets could be read by others; it is closed again")
}

function keyTrouble(message: string, cause?: unknown): AppError {
  return new AppError("secret-unavailable", message, {
    hint: "Bring the file back from a backup, or set the secrets anew: svc secrets set <name> --origin <origin>",
    ...(cause === undefined ? {} : { cause }),
  })
}
