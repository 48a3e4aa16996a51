// Files that people sent: streamed below `<state>/media/inbound`, counted while they come, named by what they are and
// not by what the sender calls them. A finished file is found again by the platform's own id of its content.
import { createHash } from "node:crypto"
import { open, readdir, rm, utimes } from "node:fs/promises"
import { join } from "node:path"
import { writeDurableFile } from "../../../kernel/index.ts"
import { pruneFolder } from "../../../kernel/prune-folder.ts"
import { type Sniffed, headBytes, sniff } from "../../shared/media/sniff.ts"

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

  constructor(mediaRoot: string) {
    this.path = join(mediaRoot, "inbound")
  }

  /** One that was kept already; its age starts anew. */
  async find(id: string, claimed: string | undefined, now: number): Promise<KeptFile | undefined> {
    const stem = nameOf(id)
    const names = await readdir(this.path).catch(ignoreMissing)
    for (const name of names ?? []) {
      if (!name.startsWith(`${stem}-`)) continue
      const path = join(this.path, name)
      const kept = await describe(path, claimed)
      if (kept.bytes > 0 && String(kept.bytes) === /-(\d+)\./.exec(name)?.[1]) {
        await utimes(path, now / 1000, now / 1000)
        return kept
      }
      // It is not what was written once: it is fetched again.
      await rm(path, { force: true })
    }
    return undefined
  }

  /** Throws `TooLarge` as soon as that is known; nothing of a file that is not whole stays. */
  async save(
    id: string,
    source: AsyncIterable<Buffer>,
    limits: { maxBytes: number; claimed: string | undefined; signal: AbortSignal },
  ): Promise<KeptFile> {
    const stem = join(this.path, nameOf(id))
    const written = await writeDurableFile(stem, count(source, limits), {
      // Its size stands in its name, so that whoever finds it knows whether it is whole.
      name: async (temporary, bytes) => `${stem}-${bytes}${(await describe(temporary, limits.claimed)).extension}`,
    })
    return await describe(written.path, limits.claimed)
  }

  /** Removes what is old, then the oldest until the rest has room. Downloads under way are young. */
  async clean(now: number): Promise<{ removed: number }> {
    return { removed: await pruneFolder(this.path, { now, keepMs, maxBytes: maxFolderBytes }) }
  }
}

async function* count(
  source: AsyncIterable<Buffer>,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of source) {
    signal.throwIfAborted()
    bytes += chunk.length
    if (bytes > maxBytes) throw new TooLarge()
    yield chunk
  }
  if (bytes === 0) throw new Error("the file is empty")
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
