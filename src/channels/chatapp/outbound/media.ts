// Files to send: only regular files below the media root, by their real path, within the size that is allowed.
// The file is opened once and checked open, so what was checked is what is sent.
import { type FileHandle, constants, open, realpath } from "node:fs/promises"
import { basename, extname, sep } from "node:path"
import { AppError } from "../../../kernel/index.ts"
import { Upload } from "../client.ts"
import { pictureSize } from "./picture-size.ts"

/** What the platform takes as a photo; larger or narrower pictures go as files. */
const photoLimits = { bytes: 10 * 1000 * 1000, widthAndHeight: 10_000, ratio: 20 }
/** Enough for the size of a picture to stand in it, behind what cameras write in front. */
const headBytes = 128 * 1024

export interface OpenMedia {
  upload: Upload
  bytes: number
  fitsPhoto: boolean
  close(): Promise<void>
}

/** Throws `media-refused`. */
export async function openMedia(options: { path: string; root: string; maxMb: number }): Promise<OpenMedia> {
  const refuse = (why: string, cause?: unknown) =>
    new AppError("media-refused", `The file ${basename(options.path)} cannot be sent: ${why}`, { cause })
  let file: FileHandle | undefined
  try {
    const [path, root] = await Promise.all([realpath(options.path), realpath(options.root)])
    if (!path.startsWith(root + sep)) throw refuse("it is outside the media folder")
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    const info = await file.stat()
    if (!info.isFile()) throw refuse("it is not a regular file")
    if (info.size === 0) throw refuse("it is empty")
    if (info.size > options.maxMb * 1024 * 1024) throw refuse(`it is larger than ${options.maxMb} MB (mediaMaxMb)`)
    const opened = file
    return {
      upload: new Upload(() => opened.createReadStream({ autoClose: false, start: 0 }), fileName(path)),
      bytes: info.size,
      fitsPhoto: info.size <= photoLimits.bytes && (await fitsPhoto(opened)),
      close: () => opened.close(),
    }
  } catch (error) {
    await file?.close()
    if (error instanceof AppError) throw error
    throw refuse((error as NodeJS.ErrnoException).code ?? "it cannot be read", error)
  }
}

/** A picture whose size cannot be told is tried: the platform's refusal sends it as a file. */
async function fitsPhoto(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0)
  const size = pictureSize(buffer.subarray(0, bytesRead))
  if (!size) return true
  const { width, height } = size
  const ratio = Math.max(width, height) / Math.max(1, Math.min(width, height))
  return width + height <= photoLimits.widthAndHeight && ratio <= photoLimits.ratio
}

/** It stands unquoted in a header of the upload. */
function fileName(path: string): string {
  const name = basename(path).replace(/[^A-Za-z0-9._-]+/g, "_")
  return name.length > 64 ? `${name.slice(0, 50)}${extname(name).slice(0, 14)}` : name
}
