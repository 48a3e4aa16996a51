// When a file, or anything in a folder, was last changed: what is built from sources is fresh while it is newer.
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"

/** In whole milliseconds; 0 for what is not there. A file that was removed counts by its folder. */
export function newest(...paths: readonly string[]): number {
  return Math.max(0, ...paths.map(newestIn))
}

function newestIn(path: string): number {
  const info = statSync(path, { throwIfNoEntry: false })
  if (!info) return 0
  if (!info.isDirectory()) return Math.floor(info.mtimeMs)
  // Programs installed below `scripts` are no sources: getting one must not make the bundles look old.
  const all = readdirSync(path)
  const names = all.filter((name) => name !== "node_modules")
  const own = names.length === all.length ? Math.floor(info.mtimeMs) : 0
  return Math.max(own, newest(...names.map((name) => join(path, name))))
}
