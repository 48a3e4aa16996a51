// Whether the automation library is installed beside the program: the core-only package comes without it.
import { createRequire } from "node:module"

/** Each look goes to the disk: what was found once is there, since a package is replaced as a whole. */
export function libraryFinder(): () => boolean {
  let isFound = false
  return () => (isFound ||= canResolve())
}

function canResolve(): boolean {
  try {
    createRequire(import.meta.url).resolve("playwright-core")
    return true
  } catch {
    return false
  }
}
