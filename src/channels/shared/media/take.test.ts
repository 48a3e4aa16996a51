import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { testStore } from "../../../../test/support/store.ts"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { systemClock } from "../../../kernel/index.ts"
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
  execFileSync("mkfifo", [join(root, "pipe")])
  const cases: [string, RegExp][] = [
    [join(folder, "media-other.txt"), /media-other\.txt cannot be sent: it is outside the media folder/],
    [join(root, "link.txt"), /outside/],
    [root, /outside/],
    [join(root, "below"), /not a regular file/],
    // Nobody writes into it: opening it would wait for ever.
    [join(root, "pipe"), /not a regular file/],
    [join(root, "empty.txt"), /it is empty/],
    [join(root, "large.txt"), /larger than 0\.0009765625 MB/],
    [join(root, "nothing"), /ENOENT/],
  ]
  for (const [path, why] of cases)
    await assert.rejects(openMedia({ path, root, maxMb: 1 / 1024 }), { code: "media-refused", message: why }, path)
  writeFileSync(join(root, "large.txt"), "x".repeat(1024))
  await (await openMedia({ path: join(root, "large.txt"), root, maxMb: 1 / 1024 })).close()
})

test("a path is taken where it lies, and what was fetched a day ago is removed by the way", async (context) => {
  const { root } = place()
  const store = await testStore(context)
  const folderOf = (name: string, hours: number) => {
    const folder = join(root, "outgoing", name)
    mkdirSync(folder, { recursive: true })
    const at = (store.clock.now() - hours * 3_600_000) / 1000
    utimesSync(folder, at, at)
    return folder
  }
  const [old, recent, waiting, doubted] = [
    folderOf("old", 25),
    folderOf("recent", 23),
    folderOf("waiting", 50),
    folderOf("doubted", 50),
  ]
  const send = (folder: string) => ({
    channel: "chatapp",
    account: "default",
    laneKey: "chatapp:default:5",
    chatId: "5",
    route: {},
    kind: "document",
    payload: { path: join(folder, "a.pdf") },
  })
  await store.write(async ({ addOutbox, prepare }) => {
    addOutbox(send(waiting))
    const id = addOutbox(send(doubted))
    prepare("update outbox set state = 'uncertain' where id = ?").run(id)
    prepare("update outbox set state = 'sent' where id = ?").run(addOutbox(send(old)))
  })
  const source = join(root, "below", "a.pdf")
  const signal = new AbortController().signal
  assert.deepEqual(await takeMedia({ source, mediaRoot: root, maxMb: 1, signal, store }), {
    path: source,
    mediaType: "application/pdf",
  })
  assert.deepEqual([old, recent, waiting, doubted].map(existsSync), [false, true, true, true])
  for (const address of ["http://x", "file:///etc/passwd", "data:text/plain,x"]) assert.ok(isAddress(address), address)
  for (const path of ["/a/b", "a.pdf", "./x", "../http:", ""]) assert.ok(!isAddress(path), path)
  await assert.rejects(takeMedia({ source: "file:///etc/passwd", mediaRoot: root, maxMb: 1, signal, store }), {
    code: "media-refused",
  })
})

test("a clock that is days ahead makes no file old", async (context) => {
  const { root } = place()
  const clock = { ...systemClock, now: () => Date.now() + jumpMs }
  let jumpMs = 0
  const store = await testStore(context, { clock })
  const fetched = join(root, "outgoing", "fetched")
  mkdirSync(fetched, { recursive: true })
  jumpMs = 5 * 24 * 3_600_000
  const signal = new AbortController().signal
  await takeMedia({ source: join(root, "below", "a.pdf"), mediaRoot: root, maxMb: 1, signal, store })
  assert.ok(existsSync(fetched))
})
