// Files that must survive a power cut: the order of what is done to the disk, and what is left when any of it fails.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import {
  type Content,
  type FileOperations,
  asyncOperations,
  moveDurableFile,
  writeDurableFile,
  writeDurableFileSync,
} from "./durable-file.ts"
import { pruneFolder } from "./prune-folder.ts"

/** The real disk, with a record of what was done to it; `failAt` makes that step fail. */
function recording(root: string, failAt?: number) {
  const steps: string[] = []
  const paths = new Map<number, string>()
  const short = (path: string) => path.slice(root.length + 1).replace(/\.[0-9a-f]{12}\.tmp$/, ".tmp")
  const operations = Object.fromEntries(
    Object.entries(asyncOperations).map(([name, operation]) => [
      name,
      async (...args: unknown[]) => {
        const [first, second] = args
        const path = typeof first === "number" ? (paths.get(first) ?? "") : short(String(first))
        steps.push([name, path, ...(name === "rename" ? [short(String(second))] : [])].join(" "))
        if (steps.length - 1 === failAt) throw Object.assign(new Error("no"), { code: "EIO" })
        const result: unknown = await (operation as (...all: unknown[]) => unknown)(...args)
        if (name === "open") paths.set(result as number, path)
        return result
      },
    ]),
  ) as unknown as FileOperations
  return { operations, steps }
}

async function* pieces(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield Buffer.from(text)
}

const order = [
  "makeFolder media/in",
  "open media",
  "sync media",
  "close media",
  "open ",
  "sync ",
  "close ",
  "open media/in/.a.txt.tmp",
  "write media/in/.a.txt.tmp",
  "write media/in/.a.txt.tmp",
  "sync media/in/.a.txt.tmp",
  "close media/in/.a.txt.tmp",
  "rename media/in/.a.txt.tmp media/in/a.txt",
  "open media/in",
  "sync media/in",
  "close media/in",
]

describe("a durable file", () => {
  test("is data, fsync, rename, fsync of the folder, and of the folders that were made for it", async () => {
    const root = temporaryFolder()
    const { operations, steps } = recording(root)
    const file = join(root, "media/in/a.txt")
    assert.deepEqual(await writeDurableFile(file, pieces("one ", "two"), {}, operations), { path: file, bytes: 7 })
    assert.deepEqual(steps, order)
    assert.equal(readFileSync(file, "utf8"), "one two")
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(join(root, "media")).mode & 0o777, 0o700)
  })

  test("leaves the old content and nothing else when any step before the rename fails", async () => {
    const root = temporaryFolder()
    const file = join(root, "a.txt")
    const contents: [string, () => Content][] = [
      ["pieces", () => pieces("new ", "words")],
      ["text", () => "new words"],
      ["a copy", () => ({ copyOf: join(root, "from.txt") })],
    ]
    writeFileSync(join(root, "from.txt"), "new words")
    for (const [name, content] of contents) {
      for (let failAt = 0; ; failAt += 1) {
        writeFileSync(file, "old")
        const { operations, steps } = recording(root, failAt)
        const result = await writeDurableFile(file, content(), {}, operations).catch((error: Error) => error)
        const isRenamed = steps.slice(0, failAt).some((step) => step.startsWith("rename"))
        if (steps.length <= failAt) break
        assert.ok(result instanceof Error, `${name}: step ${steps[failAt]} failed and nobody was told`)
        assert.equal(readFileSync(file, "utf8"), isRenamed ? "new words" : "old", `${name}: ${steps[failAt]}`)
        assert.deepEqual(readdirSync(root).toSorted(), ["a.txt", "from.txt"], `${name}: ${steps[failAt]}`)
      }
    }
  })

  test("whose content breaks off is not there, and its source is ended", async () => {
    const root = temporaryFolder()
    let isEnded = false
    async function* broken(): AsyncGenerator<Buffer> {
      try {
        yield Buffer.from("half")
        throw new Error("cut")
      } finally {
        isEnded = true
      }
    }
    await assert.rejects(writeDurableFile(join(root, "a"), broken()), /cut/)
    assert.ok(isEnded)
    assert.deepEqual(readdirSync(root), [])
  })

  test("is named by its content where nobody knows before, and never written over what it is not", async () => {
    const root = temporaryFolder()
    const name = async (temporary: string, bytes: number) => {
      assert.equal(readFileSync(temporary, "utf8"), "abc")
      return join(root, `a-${bytes}.txt`)
    }
    const written = await writeDurableFile(join(root, "a"), pieces("abc"), { name })
    assert.deepEqual([written.path, readdirSync(root)], [join(root, "a-3.txt"), ["a-3.txt"]])
  })

  test("written at once takes the same steps, and stays as it was when it is not to be replaced after all", () => {
    const root = temporaryFolder()
    const file = join(root, "a")
    assert.deepEqual(writeDurableFileSync(file, "one"), { path: file, bytes: 3 })
    const beforeRename = () => readFileSync(file, "utf8") === "other"
    assert.equal(writeDurableFileSync(file, "two", { beforeRename }), undefined)
    assert.deepEqual([readFileSync(file, "utf8"), readdirSync(root)], ["one", ["a"]])
    writeDurableFileSync(join(root, "b"), { copyOf: file })
    assert.equal(readFileSync(join(root, "b"), "utf8"), "one")
    assert.throws(() => writeDurableFileSync(join(root, "b"), { copyOf: join(root, "none") }))
    assert.deepEqual(readdirSync(root).toSorted(), ["a", "b"])
  })

  test("that somebody else finished is moved to its place", async () => {
    const root = temporaryFolder()
    mkdirSync(join(root, "to"))
    writeFileSync(join(root, "from"), "x")
    await moveDurableFile(join(root, "from"), join(root, "to", "x"))
    assert.ok(!existsSync(join(root, "from")))
    assert.equal(readFileSync(join(root, "to", "x"), "utf8"), "x")
  })
})

test("files from the future are kept while there is room, and go first when there is none", async () => {
  const root = temporaryFolder()
  const now = Date.now()
  const put = (name: string, ageMs: number) => {
    writeFileSync(join(root, name), "x")
    utimesSync(join(root, name), (now - ageMs) / 1000, (now - ageMs) / 1000)
  }
  put("ten years on", -10 * 365 * 86_400_000)
  put("eleven years on", -11 * 365 * 86_400_000)
  put("an hour ago", 3_600_000)
  put("now", 0)
  assert.equal(await pruneFolder(root, { now, keepMs: 86_400_000, maxBytes: 4 }), 0)
  assert.equal(await pruneFolder(root, { now, keepMs: 86_400_000, maxBytes: 3 }), 1)
  assert.equal(await pruneFolder(root, { now, keepMs: 86_400_000, maxBytes: 2 }), 1)
  assert.deepEqual(readdirSync(root).toSorted(), ["an hour ago", "now"])
})

test("what a killed writer has left goes with the old files, what is being written stays", async () => {
  const root = temporaryFolder()
  const now = Date.now()
  const put = (name: string, ageMs: number) => {
    writeFileSync(join(root, name), "x")
    utimesSync(join(root, name), (now - ageMs) / 1000, (now - ageMs) / 1000)
  }
  put(".a.0123456789ab.tmp", 2 * 3_600_000)
  put(".b.0123456789ab.tmp", 60_000)
  put("kept", 2 * 3_600_000)
  assert.equal(await pruneFolder(root, { now, keepMs: 86_400_000, maxBytes: 1_000 }), 1)
  assert.deepEqual(readdirSync(root).toSorted(), [".b.0123456789ab.tmp", "kept"])
})
