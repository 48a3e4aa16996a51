// What of a file that somebody sent a turn is shown: pictures that models take, text to read, its size in words.
import { readFile } from "node:fs/promises"
import { gifSize, maxPictureSide, pictureSize } from "../../../kernel/picture-size.ts"
import { type Sniffed, headBytes, isPicture, isText } from "./sniff.ts"

/** What a model takes as one picture: five megabytes of base64. */
export const maxPictureBytes = 3_750_000
/** Of all pictures of a turn together. */
export const maxPicturesBytes = 12 * 1024 * 1024
/** Of a text file, what is shown at once. */
const maxTextChars = 20_000

const mebibyte = 1024 * 1024

export interface HeldFile extends Pick<Sniffed, "mediaType"> {
  path: string
  bytes: number
  /** The first bytes. */
  head: Buffer
}

/** Whether models take it as a picture. `unmeasured`: what holds where its width and height are not to be found. */
export function fitsModel({ mediaType, bytes, head }: Omit<HeldFile, "path">, unmeasured: boolean): boolean {
  if (!isPicture(mediaType) || bytes > maxPictureBytes) return false
  const size = pictureSize(head) ?? gifSize(head)
  if (!size) return unmeasured
  return size.width > 0 && size.height > 0 && Math.max(size.width, size.height) <= maxPictureSide
}

/** The beginning of a text file, and how much more there is; undefined for anything else. */
export async function shownText({ path, mediaType, bytes, head }: HeldFile): Promise<string | undefined> {
  if (isPicture(mediaType) || !isText(head)) return undefined
  const text = bytes <= headBytes ? head.toString("utf8") : (await readFile(path)).toString("utf8")
  return text.length <= maxTextChars
    ? text
    : `${text.slice(0, maxTextChars)}\n(${text.length - maxTextChars} more characters)`
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  return bytes < mebibyte ? `${Math.round(bytes / 1024)} KB` : `${(bytes / mebibyte).toFixed(1)} MB`
}
