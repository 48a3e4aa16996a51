// What a service removes by itself, and what it leaves to people.
import assert from "node:assert/strict"
import { existsSync } from "node:fs"
import { mkdir, rmdir, truncate, utimes, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { startBrowserBench } from "../../test/support/browser-service.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { until } from "../../test/support/world.ts"

const dayMs = 24 * 60 * 60_000

test("removes old and too many pictures and parts of files, and nothing that is for people", async (t) => {
  const stateFolder = temporaryFolder()
  const put = async (path: string, ageDays: number, bytes = 1) => {
    const full = join(stateFolder, path)
    await mkdir(dirname(full), { recursive: true })
    await writeFile(full, "")
    // Takes no room on the disk.
    await truncate(full, bytes)
    const at = new Date(Date.now() - ageDays * dayMs)
    await utimes(full, at, at)
    return full
  }
  const gone = [
    await put("media/browser/week-old.png", 8),
    await put("media/browser/large-and-older.pdf", 3, 700 * 1024 * 1024),
    await put("downloads/.part/4f1c", 0),
    await put("traces/.part/4f1c.zip", 0),
    await put("uploads/lent/1/photo.jpg", 2),
  ]
  const twoDaysAgo = new Date(Date.now() - 2 * dayMs)
  await utimes(join(stateFolder, "uploads/lent/1"), twoDaysAgo, twoDaysAgo)
  // First in the list, by a name that no listing gives back as it is: as of one that went meanwhile, nothing is found.
  const lost = Buffer.concat([Buffer.from(join(stateFolder, "uploads/lent/0")), Buffer.from([0xf1])])
  await mkdir(lost)
  t.after(() => rmdir(lost))
  const kept = [
    await put("media/browser/new.png", 0),
    await put("media/browser/large.pdf", 2, 700 * 1024 * 1024),
    await put("media/inbound/old.jpg", 30),
    await put("downloads/old.zip", 30),
    await put("traces/old.zip", 30),
    await put("uploads/old.txt", 30),
    await put("uploads/lent/2/photo.jpg", 30),
  ]
  const bench = await startBrowserBench({}, { stateFolder })
  t.after(() => bench.stop())
  for (const path of gone) await until(`${path} is gone`, () => (existsSync(path) ? undefined : true))
  for (const path of kept) assert.ok(existsSync(path), path)
})
