// The extension as it is shipped: how much it asks for, and how large it is.
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { readFileSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { buildExtension } from "../../../scripts/build-extension.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { extensionId } from "./contract.ts"

test("asks for no more than it needs, has a fixed id, and is small", async () => {
  const folder = temporaryFolder()
  await buildExtension(join(import.meta.dirname, "../../.."), folder)
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Record<string, unknown>
  assert.deepEqual(manifest["permissions"], ["debugger", "tabs", "activeTab", "storage", "alarms"])
  assert.deepEqual(manifest["host_permissions"], ["http://127.0.0.1/*", "http://localhost/*"])
  for (const name of ["externally_connectable", "content_scripts", "web_accessible_resources"])
    assert.equal(manifest[name], undefined, name)
  const digest = createHash("sha256")
    .update(Buffer.from(String(manifest["key"]), "base64"))
    .digest("hex")
  const id = Array.from(digest.slice(0, 32), (digit) => String.fromCharCode(97 + Number.parseInt(digit, 16))).join("")
  assert.equal(id, extensionId)
  const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  assert.ok(bytes < 60_000, String(bytes))
})
