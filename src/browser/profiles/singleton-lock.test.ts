import assert from "node:assert/strict"
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { parseLock, readLock, removeLock } from "./singleton-lock.ts"

const probe = (alive: number[]) => ({ hostname: "here", ownsFolder: async (pid: number) => alive.includes(pid) })

test("tells a free, a stale, a held and a foreign lock apart", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "svc-lock-"))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const lock = join(folder, "SingletonLock")
  assert.deepEqual(await readLock(folder, probe([])), { kind: "free" })
  await symlink("here-12", lock)
  assert.deepEqual(await readLock(folder, probe([])), { kind: "stale" })
  assert.deepEqual(await readLock(folder, probe([12])), { kind: "held", pid: 12 })
  await rm(lock)
  await symlink("there-12", lock)
  assert.deepEqual(await readLock(folder, probe([12])), { kind: "foreign-host", host: "there", pid: 12 })
  await rm(lock)
  await writeFile(lock, "")
  assert.deepEqual(await readLock(folder, probe([])), { kind: "stale" })
  await removeLock(folder)
  assert.deepEqual(await readdir(folder), [])
})

test("reads host names that hold dashes", () => {
  assert.deepEqual(parseLock("my-host-7"), { host: "my-host", pid: 7 })
  assert.equal(parseLock("nonsense"), undefined)
})
