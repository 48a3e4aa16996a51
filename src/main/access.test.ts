import assert from "node:assert/strict"
import { test } from "node:test"
import { startGateway } from "../gateway/gateway.fixture.ts"
import { auditRestore } from "./access.ts"

test("a restore is told once by the starts that come after it, and the next restore again", async (context) => {
  const gateway = await startGateway()
  context.after(() => gateway.stop())
  const restored = async () => {
    await gateway.audit.flush()
    const items = gateway.audit.read({ since: 0, until: Number.MAX_SAFE_INTEGER, limit: 10, action: "backup" })
    return items.map(({ action, target }) => `${action} ${target}`)
  }
  await auditRestore(gateway)
  assert.deepEqual(await restored(), [])
  const createdAt = Date.parse("2026-11-20T10:00:00Z")
  await gateway.store.meta.set("restored", { at: 1, createdAt })
  await auditRestore(gateway)
  await auditRestore(gateway)
  assert.deepEqual(await restored(), ["backup.restore backup of 2026-11-20T10:00:00.000Z"])
  await gateway.store.meta.set("restored", { at: 2, createdAt })
  await auditRestore(gateway)
  assert.equal((await restored()).length, 2)
})
