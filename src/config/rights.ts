// Who may write the configuration can run code as the gateway's user. Files and their folder that others may write are
// narrowed, and said; what cannot be narrowed is refused.
import { chmodSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { AppError } from "../kernel/errors.ts"
import type { Log } from "../kernel/log.ts"

/** Group and others. */
const writable = 0o022
/** In such a folder everybody may make files, but only their owners may replace them. */
const sticky = 0o1000

/** Those of the files and their folders that others may write. */
export function findWidelyWritable(files: readonly string[]): string[] {
  if (process.platform === "win32") return []
  const all = new Set([...files, ...files.map((file) => dirname(file))])
  return [...all].filter((path) => {
    const info = statSync(path, { throwIfNoEntry: false })
    return info !== undefined && (info.mode & writable) !== 0 && !(info.isDirectory() && (info.mode & sticky) !== 0)
  })
}

/** Throws `config-invalid` for what others may write and we may not narrow. */
export function narrowRights(files: readonly string[], log: Log): void {
  for (const path of findWidelyWritable(files)) {
    try {
      chmodSync(path, statSync(path).mode & 0o7777 & ~writable)
    } catch (error) {
      throw new AppError("config-invalid", `Others may write the configuration: ${path}`, {
        cause: error,
        hint: `Run as its owner: chmod go-w ${path}`,
      })
    }
    log.warn({ file: path, hint: "look at what it says: others could write it" }, "configuration rights narrowed")
  }
}
