// Writes an archive: members -> tar -> gzip -> `<name>.partial` -> fsync -> rename -> fsync of the folder.
// A reader, a crash or a power cut sees a whole archive or none. Memory is bounded, whatever the members hold.
import { open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { Readable } from "node:stream"
import { createGzip } from "node:zlib"
import { blockBytes, encodeHeaders, padding } from "./header.ts"

/** Little by little, so that another program's fsync never waits for gigabytes of ours. */
export const syncEveryBytes = 8 * 1024 * 1024
/** The fastest: level 6 takes three times as long for a tenth less. */
const gzipLevel = 1

export interface Source {
  path: string
  size: number
  mtimeMs: number
  /** Exactly `size` bytes. */
  read(): AsyncIterable<Buffer>
}

export async function writeArchive(
  file: string,
  partial: string,
  sources: readonly Source[],
  options: { signal?: AbortSignal | undefined; onBytes?: (bytes: number) => void },
): Promise<void> {
  const output = await open(partial, "wx", 0o600)
  try {
    const packed = Readable.from(tar(sources, options), { objectMode: false })
    const gzip = createGzip({ level: gzipLevel, chunkSize: 256 * 1024 })
    packed.on("error", (error) => gzip.destroy(error))
    packed.pipe(gzip)
    let unsynced = 0
    for await (const chunk of gzip as AsyncIterable<Buffer>) {
      await output.writeFile(chunk)
      unsynced += chunk.length
      if (unsynced >= syncEveryBytes) {
        await output.datasync()
        unsynced = 0
      }
    }
    await output.sync()
    await output.close()
    await rename(partial, file)
    await syncFolder(dirname(file))
  } catch (error) {
    await output.close()
    await rm(partial, { force: true })
    throw error
  }
}

async function* tar(
  sources: readonly Source[],
  options: { signal?: AbortSignal | undefined; onBytes?: (bytes: number) => void },
): AsyncGenerator<Buffer> {
  for (const source of sources) {
    yield encodeHeaders(source, source.mtimeMs)
    for await (const chunk of source.read()) {
      options.signal?.throwIfAborted()
      options.onBytes?.(chunk.length)
      yield chunk
    }
    yield Buffer.alloc(padding(source.size))
  }
  yield Buffer.alloc(2 * blockBytes)
}

export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders; its rename is durable by itself.
  if (process.platform === "win32") return
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
