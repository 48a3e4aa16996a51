// Reads an archive as a stream of members, in bounded memory and without trust: regular files only, each with a header
// that adds up. What a member may be called and how large it may be is decided by the manifest (contract.ts).
import { createReadStream } from "node:fs"
import { createGunzip } from "node:zlib"
import { type Entry, blockBytes, damaged, decodeExtended, decodeHeader, padding } from "./header.ts"

export interface ArchiveMember extends Entry {
  /** To be read to its end before the next member is asked for. */
  body: AsyncIterable<Buffer>
}

/** Throws `backup-damaged` for whatever is not an archive of ours, and for one that was cut. */
export async function* readArchive(file: string, signal?: AbortSignal): AsyncGenerator<ArchiveMember> {
  const input = createReadStream(file, { highWaterMark: 256 * 1024 })
  const gunzip = createGunzip({ chunkSize: 256 * 1024 })
  input.on("error", (error) => gunzip.destroy(error))
  const bytes = new Bytes(input.pipe(gunzip) as AsyncIterable<Buffer>, signal)
  try {
    for (;;) {
      const entry = await readEntry(bytes)
      if (!entry) return await bytes.end()
      yield { ...entry, body: bytes.stream(entry.size) }
      await bytes.take(padding(entry.size))
    }
  } finally {
    input.destroy()
    gunzip.destroy()
  }
}

async function readEntry(bytes: Bytes): Promise<Entry | undefined> {
  let extended: Partial<Entry> | undefined
  for (;;) {
    const header = decodeHeader(await bytes.take(blockBytes))
    if (header.kind === "end" && extended === undefined) return undefined
    if (header.kind === "file") return { ...header.entry, ...extended }
    // One tells all: a row of them is some megabytes that unpack to hours of reading.
    if (header.kind === "end" || extended !== undefined) throw damaged("an extended header has no file")
    extended = decodeExtended(await bytes.take(header.size))
    await bytes.take(padding(header.size))
  }
}

/** Zeros behind the last member: other programs fill up to ten kilobytes. */
const mostFilling = 64 * 1024

/** Pieces of a stream as amounts that are asked for. */
class Bytes {
  readonly #pieces: AsyncIterator<Buffer>
  readonly #signal: AbortSignal | undefined
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>, signal: AbortSignal | undefined) {
    this.#pieces = source[Symbol.asyncIterator]()
    this.#signal = signal
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.stream(length)) parts.push(part)
    return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)
  }

  /** Nothing but what fills the last blocks, and the sum of the whole, which an archive that was cut has not. */
  async end(): Promise<void> {
    for (let left = mostFilling; ;) {
      left -= this.#rest.length
      if (left < 0 || this.#rest.some((byte) => byte !== 0)) throw damaged("something follows its end")
      this.#rest = Buffer.alloc(0)
      if (!(await this.#more())) return
    }
  }

  async #more(): Promise<boolean> {
    this.#signal?.throwIfAborted()
    const next = await this.#pieces.next().catch((error: unknown) => {
      throw explain(error)
    })
    if (!next.done) this.#rest = next.value
    return !next.done
  }

  async *stream(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0;) {
      this.#signal?.throwIfAborted()
      if (this.#rest.length === 0 && !(await this.#more())) throw damaged("it ends too early")
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }
}

function explain(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === "Z_BUF_ERROR") return damaged("it ends too early", error)
  if (code?.startsWith("Z_")) return damaged("it is no gzip archive, or has been changed", error)
  return error
}
