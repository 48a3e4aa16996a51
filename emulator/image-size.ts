// Width and height of a picture, read from its header: PNG, GIF, JPEG and WebP.

export interface ImageSize {
  width: number
  height: number
  mimeType: string
  extension: string
}

export function imageSize(bytes: Buffer): ImageSize | undefined {
  return pngSize(bytes) ?? gifSize(bytes) ?? webpSize(bytes) ?? jpegSize(bytes)
}

function pngSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 24 || bytes.toString("latin1", 1, 4) !== "PNG") return undefined
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20), mimeType: "image/png", extension: ".png" }
}

function gifSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 10 || bytes.toString("latin1", 0, 4) !== "GIF8") return undefined
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), mimeType: "image/gif", extension: ".gif" }
}

function webpSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP") {
    return undefined
  }
  const answer = (width: number, height: number) => ({ width, height, mimeType: "image/webp", extension: ".webp" })
  const form = bytes.toString("latin1", 12, 16)
  if (form === "VP8X") return answer(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
  if (form === "VP8L") {
    const bits = bytes.readUInt32LE(21)
    return answer((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1)
  }
  return answer(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
}

/** Walks the segments to the start-of-frame marker, which holds the size. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined
  let position = 2
  while (position + 9 < bytes.length) {
    if (bytes[position] !== 0xff) return undefined
    const marker = bytes.readUInt8(position + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) {
      const height = bytes.readUInt16BE(position + 5)
      return { width: bytes.readUInt16BE(position + 7), height, mimeType: "image/jpeg", extension: ".jpg" }
    }
    position += 2 + bytes.readUInt16BE(position + 2)
  }
  return undefined
}
