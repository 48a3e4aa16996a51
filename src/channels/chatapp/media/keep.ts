// Files that people sent: streamed below `<state>/media/inbound`, counted while they come, named by what they are and
// not by what the sender calls them. A finished file is found again by the platform's own id of its content.
import { createHash } from "node:crypto"
import { createWriteStream } from "node:fs"
import { mkdir, open, readdir, rename, rm, utimes } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { pruneFolder } from "../../../kernel/prune-folder.ts"
import { type Sniffed, headBytes, sniff } from "./sniff.ts"

export interface KeptFile extends Sniffed {
  path: string
  bytes: number
  /** The first bytes. */
  head: Buffer
}

export class TooLarge extends Error {
  readonly bytes: number | undefined

  constructor(bytes?: number) {
    super("the file is larger than the limit")
    this.name = "TooLarge"
    this.bytes = bytes
  }
}

/** Files are kept for as long as somebody may still ask about them, and no longer than there is room. */
const keepMs = 7 * 24 * 60 * 60 * 1000
const maxFolderBytes = 500 * 1024 * 1024

export class MediaFolder {
  readonly path: string
  #made = false
  #saves = 0

  constructor(mediaRoot: string) {
    this.path = join(mediaRoot, "inbound")
  }

  /** One that was kept already; its age starts anew. */
  async find(id: string, claimed: string | undefined, now: number): Promise<KeptFile | undefined> {
    const stem = nameOf(id)
    const names = await readdir(this.path).catch(ignoreMissing)
    const name = names?.find((candidate) => candidate.startsWith(`${stem}.`) && !candidate.endsWith(".part"))
    if (name === undefined) return undefined
    const path = join(this.path, name)
    await utimes(path, now / 1000, now / 1000)
    return await describe(path, claimed)
  }

  /** Throws `TooLarge` as soon as that is known; nothing of a file that is not whole stays. */
  async save(
    id: string,
    source: AsyncIterable<Buffer>,
    limits: { maxBytes: number; claimed: string | undefined; signal: AbortSignal },
  ): Promise<KeptFile> {
    await this.#make()
    // Two accounts may bring the same file at the same time.
    this.#saves += 1
    const part = join(this.path, `${nameOf(id)}.${process.pid}-${this.#saves}.part`)
    try {
      const counted = Readable.from(count(source, limits.maxBytes))
      await pipeline(counted, createWriteStream(part, { mode: 0o600 }), { signal: limits.signal })
      const kept = await describe(part, limits.claimed)
      const path = join(this.path, `${nameOf(id)}${kept.extension}`)
      await rename(part, path)
      return { ...kept, path }
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  }

  /** Removes what is old, then the oldest until the rest has room. Downloads under way are young. */
  async clean(now: number): Promise<{ removed: number }> {
    return { removed: await pruneFolder(this.path, { now, keepMs, maxBytes: maxFolderBytes }) }
  }

  async #make(): Promise<void> {
    if (this.#made) return
    await mkdir(this.path, { recursive: true, mode: 0o700 })
    this.#made = true
  }
}

async function* count(source: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new TooLarge()
    yield chunk
  }
}

async function describe(path: string, claimed: string | undefined): Promise<KeptFile> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const head = Buffer.alloc(Math.min(size, headBytes))
    await file.read(head, 0, head.length, 0)
    return { ...sniff(head, claimed), path, bytes: size, head }
  } finally {
    await file.close()
  }
}

/** No character of the platform's gets into a path. */
function nameOf(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 24)
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined
  throw error
}
