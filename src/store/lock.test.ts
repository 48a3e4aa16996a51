// One gateway on one folder, whatever happens to the folder's files meanwhile.
import assert from "node:assert/strict"
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError } from "../kernel/index.ts"
import { watchStateFolder } from "./folder-watch.ts"
import { acquireStateLock } from "./lock.ts"

const owner = { pid: 4711, bootId: "one", startedAt: "2026-01-01T00:00:00.000Z" }
const linux = process.platform === "linux" ? false : "the kernel's names are Linux's"

function usedFolder(): string {
  const folder = join(temporaryFolder(), "state")
  mkdirSync(folder)
  writeFileSync(join(folder, "svc.db"), "a store")
  return folder
}

const changes: Record<string, (folder: string) => void> = {
  "its lock is removed": (folder) => rmSync(join(folder, "gateway.lock")),
  "its lock is replaced": (folder) => {
    writeFileSync(join(folder, "other"), "")
    renameSync(join(folder, "other"), join(folder, "gateway.lock"))
  },
  "its store is removed": (folder) => rmSync(join(folder, "svc.db")),
  "its store is replaced": (folder) => {
    cpSync(join(folder, "svc.db"), join(folder, "other"))
    renameSync(join(folder, "other"), join(folder, "svc.db"))
  },
  "the folder is removed": (folder) => rmSync(folder, { recursive: true }),
  "another folder takes its place": (folder) => {
    renameSync(folder, `${folder}-old`)
    mkdirSync(folder)
  },
}
for (const [what, change] of Object.entries(changes)) {
  test(`when ${what} the owner is told, and nobody else gets the folder`, { skip: linux }, async (context) => {
    const folder = usedFolder()
    const lock = await acquireStateLock(folder, owner)
    context.after(() => lock.release())
    const { promise, resolve } = Promise.withResolvers<AppError>()
    const watch = watchStateFolder({ folder, everyMs: 10, onLost: resolve })
    context.after(() => watch.stop())
    change(folder)
    const error = await promise
    assert.equal(error.code, "storage-lost")
    assert.match(error.message, /(removed|replaced) while the gateway ran on it/)
    await assert.rejects(
      acquireStateLock(folder, { ...owner, bootId: "two" }),
      (refused) => refused instanceof AppError && refused.code === "already-running",
    )
  })
}

test("a folder that is only written to is not taken for another", async () => {
  const folder = usedFolder()
  const lock = await acquireStateLock(folder, owner)
  let lost = 0
  const watch = watchStateFolder({ folder, everyMs: 1, onLost: () => (lost += 1) })
  for (let n = 0; n < 20; n += 1) {
    writeFileSync(join(folder, "svc.db"), `written ${n}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  watch.stop()
  await lock.release()
  assert.equal(lost, 0)
})

test("a folder that was moved is still held at its new place", { skip: linux }, async () => {
  const folder = usedFolder()
  const lock = await acquireStateLock(folder, owner)
  renameSync(folder, `${folder}-moved`)
  rmSync(join(`${folder}-moved`, "gateway.lock"))
  await assert.rejects(acquireStateLock(`${folder}-moved`, { ...owner, bootId: "two" }), { code: "already-running" })
  await lock.release()
  await (await acquireStateLock(`${folder}-moved`, { ...owner, bootId: "two" })).release()
})
