import assert from "node:assert/strict"
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { openMedia } from "./open.ts"
import { isAddress, takeMedia } from "./take.ts"

function place() {
  const folder = temporaryFolder()
  const root = join(folder, "media")
  mkdirSync(join(root, "below"), { recursive: true })
  writeFileSync(join(root, "below", "a.pdf"), "%PDF-1.7")
  writeFileSync(join(root, "empty.txt"), "")
  writeFileSync(join(root, "large.txt"), "x".repeat(1025))
  writeFileSync(join(folder, "media-other.txt"), "secret")
  symlinkSync(join(folder, "media-other.txt"), join(root, "link.txt"))
  symlinkSync(root, join(folder, "other-name"))
  return { folder, root }
}

test("a file below the media folder is opened once, and read from its beginning as often as it is wanted", async () => {
  const { folder, root } = place()
  const file = await openMedia({ path: join(root, "below", "a.pdf"), root: join(folder, "other-name"), maxMb: 1 })
  assert.deepEqual([file.path, file.bytes], [join(root, "below", "a.pdf"), 8])
  assert.equal(String(await file.head(4)), "%PDF")
  for (let times = 0; times < 2; times += 1)
    assert.equal(Buffer.concat(await file.read().toArray()).toString(), "%PDF-1.7")
  assert.equal(String(await file.head(100)), "%PDF-1.7")
  await file.close()
})

test("what leads out, is no file, empty, too large or not there is refused, and why is said", async () => {
  const { folder, root } = place()
  const cases: [string, RegExp][] = [
    [join(folder, "media-other.txt"), /media-other\.txt cannot be sent: it is outside the media folder/],
    [join(root, "link.txt"), /outside/],
    [root, /outside/],
    [join(root, "below"), /not a regular file/],
    [join(root, "empty.txt"), /it is empty/],
    [join(root, "large.txt"), /larger than 0\.0009765625 MB/],
    [join(root, "nothing"), /ENOENT/],
  ]
  for (const [path, why] of cases)
    await assert.rejects(openMedia({ path, root, maxMb: 1 / 1024 }), { code: "media-refused", message: why }, path)
  writeFileSync(join(root, "large.txt"), "x".repeat(1024))
  await (await openMedia({ path: join(root, "large.txt"), root, maxMb: 1 / 1024 })).close()
})

test("a path is taken where it lies, and what was fetched a day ago is removed by the way", async () => {
  const { root } = place()
  const old = join(root, "outgoing", "old")
  const recent = join(root, "outgoing", "recent")
  for (const folder of [old, recent]) mkdirSync(folder, { recursive: true })
  const at = (hours: number) => (Date.now() - hours * 3_600_000) / 1000
  utimesSync(old, at(25), at(25))
  utimesSync(recent, at(23), at(23))
  const source = join(root, "below", "a.pdf")
  const signal = new AbortController().signal
  assert.deepEqual(await takeMedia({ source, mediaRoot: root, maxMb: 1, signal }), {
    path: source,
    mediaType: "application/pdf",
  })
  assert.deepEqual([existsSync(old), existsSync(recent)], [false, true])
  for (const address of ["http://x", "file:///etc/passwd", "data:text/plain,x"]) assert.ok(isAddress(address), address)
  for (const path of ["/a/b", "a.pdf", "./x", "../http:", ""]) assert.ok(!isAddress(path), path)
  await assert.rejects(takeMedia({ source: "file:///etc/passwd", mediaRoot: root, maxMb: 1, signal }), {
    code: "media-refused",
  })
})
