// What a picture is, read from the first bytes of its file: its kind, and its width and height.

/** No model takes more pixels on a side. */
export const maxPictureSide = 8_000

export interface PictureSize {
  width: number
  height: number
}

const kinds: readonly [mediaType: string, at: number, bytes: string][] = [
  ["image/png", 0, "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", 0, "\xff\xd8\xff"],
  ["image/gif", 0, "GIF87a"],
  ["image/gif", 0, "GIF89a"],
  ["image/webp", 8, "WEBP"],
]

/** Of the pictures that models take; undefined for everything else. */
export function pictureKind(head: Buffer): string | undefined {
  return kinds.find(([, at, bytes]) => head.toString("latin1", at, at + bytes.length) === bytes)?.[0]
}

export function gifSize(head: Buffer): PictureSize | undefined {
  if (head.length < 10 || head.toString("latin1", 0, 3) !== "GIF") return undefined
  return { width: head.readUInt16LE(6), height: head.readUInt16LE(8) }
}

/** Of PNG, JPEG and WebP, the kinds sent as photos. Undefined when it is none of these, or its header lies further on. */
export function pictureSize(head: Buffer): PictureSize | undefined {
  if (head.length < 30) return undefined
  if (head.readUInt32BE(0) === 0x89504e47) return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
  if (head.readUInt16BE(0) === 0xffd8) return jpegSize(head)
  const isWebp = head.toString("latin1", 0, 4) === "RIFF" && head.toString("latin1", 8, 12) === "WEBP"
  return isWebp ? webpSize(head) : undefined
}

function webpSize(head: Buffer): PictureSize | undefined {
  switch (head.toString("latin1", 12, 16)) {
    case "VP8X":
      return { width: head.readUIntLE(24, 3) + 1, height: head.readUIntLE(27, 3) + 1 }
    case "VP8L": {
      // Fourteen bits each, one after the other.
      const bits = head.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case "VP8 ":
      return { width: head.readUInt16LE(26) & 0x3fff, height: head.readUInt16LE(28) & 0x3fff }
    default:
      return undefined
  }
}

/** Goes from segment to segment until the one that begins a frame. */
function jpegSize(head: Buffer): PictureSize | undefined {
  const notFrames = new Set([0xc4, 0xc8, 0xcc])
  for (let at = 2; at + 9 <= head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] ?? 0
    if (marker >= 0xc0 && marker <= 0xcf && !notFrames.has(marker)) {
      return { width: head.readUInt16BE(at + 7), height: head.readUInt16BE(at + 5) }
    }
  }
  return undefined
}
