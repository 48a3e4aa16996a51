// Where a person's own files are.
import { homedir, userInfo } from "node:os"

/**
 * The folder that is given (`HOME`), else what the machine knows of its user. Some services start programs with a `HOME` that
 * is set and empty, which Node.js would take at its word: the current folder.
 */
export function homeFolder(given: string | undefined): string {
  return given?.trim() || homedir() || userInfo().homedir
}
