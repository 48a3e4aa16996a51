// Temporary folders that are gone when the process of their test file ends. Not with their test: what still runs at its
// end writes into them, and hooks run in the order of their registration, so the removal would come first.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folders: string[] = []

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"))
  if (folders.length === 0) process.on("exit", removeAll)
  folders.push(folder)
  return folder
}

function removeAll(): void {
  for (const folder of folders) {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    } catch {
      // A browser that is just ending may still write: what is left lies in the system's temporary folder.
    }
  }
}
