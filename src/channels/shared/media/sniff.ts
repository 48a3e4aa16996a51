// What a file is, by its first bytes: what a sender claims decides nothing. Only pictures that are known by content are
// shown to a model.
export interface Sniffed {
  mediaType: string
  extension: string
}

/** Enough for every signature below and for the size of a picture in most files. */
export const headBytes = 64 * 1024

const signatures: readonly (Sniffed & { at: number; bytes: string })[] = [
  { mediaType: "image/jpeg", extension: ".jpg", at: 0, bytes: "\xff\xd8\xff" },
  { mediaType: "image/png", extension: ".png", at: 0, bytes: "\x89PNG\r\n\x1a\n" },
  { mediaType: "image/gif", extension: ".gif", at: 0, bytes: "GIF87a" },
  { mediaType: "image/gif", extension: ".gif", at: 0, bytes: "GIF89a" },
  { mediaType: "image/webp", extension: ".webp", at: 8, bytes: "WEBP" },
  { mediaType: "audio/wav", extension: ".wav", at: 8, bytes: "WAVE" },
  { mediaType: "application/pdf", extension: ".pdf", at: 0, bytes: "%PDF-" },
  { mediaType: "audio/ogg", extension: ".ogg", at: 0, bytes: "OggS" },
  { mediaType: "audio/mpeg", extension: ".mp3", at: 0, bytes: "ID3" },
  { mediaType: "audio/mpeg", extension: ".mp3", at: 0, bytes: "\xff\xfb" },
  { mediaType: "audio/flac", extension: ".flac", at: 0, bytes: "fLaC" },
  { mediaType: "video/webm", extension: ".webm", at: 0, bytes: "\x1a\x45\xdf\xa3" },
  { mediaType: "video/mp4", extension: ".mp4", at: 4, bytes: "ftyp" },
  { mediaType: "application/zip", extension: ".zip", at: 0, bytes: "PK\x03\x04" },
  { mediaType: "application/gzip", extension: ".gz", at: 0, bytes: "\x1f\x8b" },
]

/** The pictures that models take. */
const pictures = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])

export function isPicture(mediaType: string): boolean {
  return pictures.has(mediaType)
}

/** `claimed` is believed for what has no signature of its own, and never when it says that it is a picture. */
export function sniff(head: Buffer, claimed: string | undefined): Sniffed {
  const found = signatures.find(({ at, bytes }) => head.toString("latin1", at, at + bytes.length) === bytes)
  if (found) return { mediaType: found.mediaType, extension: found.extension }
  const isWellFormed = claimed !== undefined && /^[a-z]+\/[\w.+-]{1,80}$/i.test(claimed)
  if (isWellFormed && !/^(?:image|multipart)\//i.test(claimed)) {
    return { mediaType: claimed.toLowerCase(), extension: isText(head) ? ".txt" : ".bin" }
  }
  return isText(head)
    ? { mediaType: "text/plain", extension: ".txt" }
    : { mediaType: "application/octet-stream", extension: ".bin" }
}

/** UTF-8 without control characters, as far as it was read; the last character may be cut. */
export function isText(head: Buffer): boolean {
  if (head.length === 0) return false
  const text = new TextDecoder("utf-8").decode(head, { stream: true })
  // oxlint-disable-next-line no-control-regex -- control characters are what tells a binary file
  return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/.test(text)
}
