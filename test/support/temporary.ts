// A temporary folder that is gone when its test ends.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestContext } from "node:test"

export function temporaryFolder(context: Pick<TestContext, "after">): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
