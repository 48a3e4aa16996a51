// Small files that only their owner may read: configuration, tokens, records.
import { readdirSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { isLeftover, writeDurableFileSync } from "./durable-file.ts"

/**
 * Replaces a file, mode 600; its folder is made, mode 700, when it is missing. `beforeRename` is called when the new
 * text is safely on the disk and only the rename is missing; when it returns false the file stays as it is. Several
 * processes may write at once: the last wins. Returns whether it was replaced.
 */
export function writePrivateFile(file: string, text: string, beforeRename?: () => boolean): boolean {
  const written = writeDurableFileSync(file, text, beforeRename ? { beforeRename } : {})
  removeLeftovers(dirname(file), basename(file))
  return written !== undefined
}

function removeLeftovers(folder: string, name: string): void {
  for (const entry of readdirSync(folder)) {
    if (!entry.startsWith(`.${name}.`)) continue
    const path = join(folder, entry)
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (isLeftover(entry, age)) rmSync(path, { force: true })
  }
}
