import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { gunzipSync, gzipSync } from "node:zlib"
import fc from "fast-check"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { AppError } from "../../kernel/index.ts"
import { packed } from "../backup.fixture.ts"
import { blockBytes, encodeHeaders } from "./header.ts"
import { readArchive } from "./read.ts"
import { type Source, writeArchive } from "./write.ts"

const contents: Record<string, Buffer> = {
  "state/empty": Buffer.alloc(0),
  "state/one block": Buffer.alloc(512, 1),
  "state/ünïcode 🙂.md": Buffer.from("words"),
  [`state/${"long/".repeat(40)}${"n".repeat(200)}`]: Buffer.alloc(700_001, 2),
}

function sources(members: Record<string, Buffer>): Source[] {
  return Object.entries(members).map(([path, content]) => ({
    path,
    size: content.length,
    mtimeMs: 1_700_000_000_000,
    async *read() {
      for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000)
    },
  }))
}

async function readAll(file: string): Promise<Record<string, Buffer>> {
  const found: Record<string, Buffer> = {}
  for await (const member of readArchive(file)) {
    const parts: Buffer[] = []
    for await (const part of member.body) parts.push(part)
    found[member.path] = Buffer.concat(parts)
  }
  return found
}

test("what is written is read again, by us and by tar, and is private", async () => {
  const folder = temporaryFolder()
  const file = join(folder, "a.tar.gz")
  await writeArchive(file, join(folder, "a.partial"), sources(contents), {})
  assert.deepEqual(readdirSync(folder), ["a.tar.gz"])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(await readAll(file), contents)
  const out = join(folder, "out")
  mkdirSync(out)
  execFileSync("tar", ["xzf", file, "-C", out])
  for (const [path, content] of Object.entries(contents)) assert.deepEqual(readFileSync(join(out, path)), content)
})

test("a file of more than 8 GB has a header that says so", () => {
  const size = 9 * 1024 ** 3
  assert.match(encodeHeaders({ path: "state/svc.db", size }, 0).toString("latin1"), new RegExp(`size=${size}\n`))
})

test("nothing is left of an archive that could not be written to its end", async () => {
  const folder = temporaryFolder()
  const [first] = sources({ "state/a": Buffer.alloc(10) }) as [Source]
  const broken: Source = {
    ...first,
    // oxlint-disable-next-line require-yield
    async *read() {
      throw new Error("gone")
    },
  }
  const stopped = AbortSignal.abort(new Error("stopped"))
  await assert.rejects(writeArchive(join(folder, "a"), join(folder, "p"), [first, broken], {}), /gone/)
  await assert.rejects(writeArchive(join(folder, "a"), join(folder, "p"), [first], { signal: stopped }), /stopped/)
  assert.deepEqual(readdirSync(folder), [])
})

function withType(type: string): Buffer {
  const header = encodeHeaders({ path: "state/x", size: 0 }, 0)
  header.write(type, 156)
  header.fill(0x20, 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148)
  return header
}

test("links, devices, folders and the forms of other archivers are refused", async () => {
  for (const type of ["1", "2", "3", "4", "5", "6", "7", "g", "L", "K", "S"]) {
    const file = join(temporaryFolder(), "a.tar.gz")
    writeFileSync(file, packed([{ path: "state/x", content: Buffer.alloc(0), header: withType(type) }]))
    await assert.rejects(readAll(file), { code: "backup-damaged" }, type)
  }
})

test("an extended header is that of one file: a row of them, or one at the end, is refused at once", async () => {
  const file = join(temporaryFolder(), "a.tar.gz")
  const long = encodeHeaders({ path: `state/${"b".repeat(150)}`, size: 0 }, 0)
  const extended = long.subarray(0, 2 * blockBytes)
  writeFileSync(file, gzipSync(Buffer.concat([extended, long, Buffer.alloc(2 * blockBytes)])))
  await assert.rejects(readAll(file), /an extended header has no file/)
  writeFileSync(file, gzipSync(Buffer.concat([extended, Buffer.alloc(2 * blockBytes)])))
  await assert.rejects(readAll(file), /an extended header has no file/)
  writeFileSync(file, gzipSync(Buffer.concat([long, Buffer.alloc(2 * blockBytes)])))
  assert.deepEqual(Object.keys(await readAll(file)), [`state/${"b".repeat(150)}`])
})

test("an archive is refused that lacks its last bytes, or in which more follows its end", async () => {
  const folder = temporaryFolder()
  const file = join(folder, "a.tar.gz")
  await writeArchive(file, join(folder, "a.partial"), sources({ "state/a": Buffer.from("words") }), {})
  const whole = readFileSync(file)
  for (const cut of [1, 4, 8, 9]) {
    writeFileSync(file, whole.subarray(0, -cut))
    await assert.rejects(readAll(file), /it ends too early/, `${cut} bytes less`)
  }
  const tar = gunzipSync(whole)
  writeFileSync(file, gzipSync(Buffer.concat([tar, Buffer.alloc(10_240)])))
  assert.deepEqual(Object.keys(await readAll(file)), ["state/a"], "as other programs fill it")
  for (const more of [Buffer.from("more"), Buffer.alloc(1_000_000)]) {
    writeFileSync(file, gzipSync(Buffer.concat([tar, more])))
    await assert.rejects(readAll(file), /something follows its end/)
  }
})

test("an archive that was cut or changed anywhere is refused or has the members it had", async () => {
  const folder = temporaryFolder()
  const members = { "state/a": Buffer.from("a".repeat(600)), [`state/${"b".repeat(150)}`]: Buffer.from("words") }
  const whole = gunzipSync(packed(Object.entries(members).map(([path, content]) => ({ path, content }))))
  const file = join(folder, "a.tar.gz")
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (at, flip, cut) => {
        const bytes = Buffer.from(cut ? whole.subarray(0, at) : whole)
        if (!cut) bytes[at] = (bytes[at] ?? 0) ^ flip
        writeFileSync(file, gzipSync(bytes, { level: 0 }))
        try {
          const found = await readAll(file)
          // A header has a sum of its own. What stands in bytes, long names included, is the manifest's to judge.
          const [first = "state/a", ...more] = Object.keys(found)
          assert.ok(first === "state/a" && more.length <= 1)
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === "backup-damaged", String(error))
        }
      },
    ),
    { numRuns: 150 },
  )
})
