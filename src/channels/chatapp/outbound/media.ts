// A file to send as the platform takes it: what is uploaded, and whether it may go as a photo.
import { basename, extname } from "node:path"
import { AppError } from "../../../kernel/index.ts"
import { type OpenFile, openMedia } from "../../shared/media/open.ts"
import { pictureSize } from "../../../kernel/picture-size.ts"
import { Upload } from "../client.ts"

/** What the platform takes as a photo; larger or narrower pictures go as files. */
const photoLimits = { bytes: 10 * 1000 * 1000, widthAndHeight: 10_000, ratio: 20 }
/** Enough for the size of a picture to stand in it, behind what cameras write in front. */
const headBytes = 128 * 1024

export interface OpenUpload extends Pick<OpenFile, "bytes" | "close"> {
  upload: Upload
  fitsPhoto: boolean
}

/** Throws `media-refused`. */
export async function openUpload(options: { path: string; root: string; maxMb: number }): Promise<OpenUpload> {
  const file = await openMedia(options)
  const { path, bytes } = file
  try {
    return {
      upload: new Upload(() => file.read(), fileName(path)),
      bytes,
      fitsPhoto: bytes <= photoLimits.bytes && (await fitsPhoto(file)),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    const why = (error as NodeJS.ErrnoException).code ?? "it cannot be read"
    throw new AppError("media-refused", `The file ${basename(path)} cannot be sent: ${why}`, { cause: error })
  }
}

/** A picture whose size cannot be told is tried: the platform's refusal sends it as a file. */
async function fitsPhoto(file: OpenFile): Promise<boolean> {
  const size = pictureSize(await file.head(headBytes))
  if (!size) return true
  const { width, height } = size
  const ratio = Math.max(width, height) / Math.max(1, Math.min(width, height))
  return width + height <= photoLimits.widthAndHeight && ratio <= photoLimits.ratio
}

/** It stands in a header of the upload, which takes letters of every script, and nothing that would end it. */
function fileName(path: string): string {
  const name = [...basename(path).replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_")]
  if (name.length <= 64) return name.join("")
  return name.slice(0, 50).join("") + [...extname(name.join(""))].slice(0, 14).join("")
}
