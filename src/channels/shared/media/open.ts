// Files to send: only regular files below the media root, by their real path, within the size that is allowed.
// The file is opened once, without waiting at a pipe, and checked open, so what was checked is what is sent.
import { type FileHandle, constants, open, realpath } from "node:fs/promises"
import { basename, sep } from "node:path"
import type { Readable } from "node:stream"
import { AppError } from "../../../kernel/index.ts"

export interface OpenFile {
  /** Its real path. */
  path: string
  bytes: number
  /** From its beginning, as often as it is asked for. */
  read(): Readable
  /** Its first bytes, `size` at most. */
  head(size: number): Promise<Buffer>
  close(): Promise<void>
}

/** Throws `media-refused`. */
export async function openMedia(options: { path: string; root: string; maxMb: number }): Promise<OpenFile> {
  const refuse = (why: string, cause?: unknown) =>
    new AppError("media-refused", `The file ${basename(options.path)} cannot be sent: ${why}`, { cause })
  let file: FileHandle | undefined
  try {
    const [path, root] = await Promise.all([realpath(options.path), realpath(options.root)])
    if (!path.startsWith(root + sep)) throw refuse("it is outside the media folder")
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const info = await file.stat()
    if (!info.isFile()) throw refuse("it is not a regular file")
    if (info.size === 0) throw refuse("it is empty")
    if (info.size > options.maxMb * 1024 * 1024) throw refuse(`it is larger than ${options.maxMb} MB (mediaMaxMb)`)
    const opened = file
    return {
      path,
      bytes: info.size,
      read: () => opened.createReadStream({ autoClose: false, start: 0 }),
      async head(size) {
        const { buffer, bytesRead } = await opened.read(Buffer.alloc(size), 0, size, 0)
        return buffer.subarray(0, bytesRead)
      },
      close: () => opened.close(),
    }
  } catch (error) {
    await file?.close()
    if (error instanceof AppError) throw error
    throw refuse((error as NodeJS.ErrnoException).code ?? "it cannot be read", error)
  }
}
