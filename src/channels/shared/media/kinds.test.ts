// What a file is, how large its picture is, and what of it a model is shown: by its bytes alone.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { pictureSize } from "../../../kernel/picture-size.ts"
import { fitsModel, shownText, sizeText } from "./shown.ts"
import { isText, sniff } from "./sniff.ts"

const bytes = (text: string, size = 40) => Buffer.concat([Buffer.from(text, "latin1"), Buffer.alloc(size)])

function png(width: number, height: number): Buffer {
  const head = bytes("\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return head
}

/** With a segment before the frame, as cameras write them, and one whose marker only looks like a frame's. */
function jpeg(width: number, height: number): Buffer {
  const segment = (marker: number, content: Buffer) => {
    const head = Buffer.from([0xff, marker, 0, 0])
    head.writeUInt16BE(content.length + 2, 2)
    return Buffer.concat([head, content])
  }
  const frame = Buffer.alloc(15)
  frame.writeUInt8(8)
  frame.writeUInt16BE(height, 1)
  frame.writeUInt16BE(width, 3)
  const parts = [segment(0xe1, Buffer.alloc(300, 0xff)), segment(0xc4, Buffer.alloc(20, 1)), segment(0xc2, frame)]
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...parts])
}

function webp(kind: string, write: (head: Buffer) => void): Buffer {
  const head = bytes(`RIFF\0\0\0\0WEBP${kind}`).fill(0xff, 30)
  write(head)
  return head
}

test("a file is what its bytes say, whatever its sender claims", () => {
  const known: [string, string, string][] = [
    ["\xff\xd8\xff\xe0", "image/jpeg", ".jpg"],
    ["\x89PNG\r\n\x1a\n", "image/png", ".png"],
    ["GIF89a", "image/gif", ".gif"],
    ["RIFF\0\0\0\0WEBPVP8 ", "image/webp", ".webp"],
    ["RIFF\0\0\0\0WAVEfmt ", "audio/wav", ".wav"],
    ["%PDF-1.7", "application/pdf", ".pdf"],
    ["\0\0\0\x18ftypmp42", "video/mp4", ".mp4"],
    ["PK\x03\x04", "application/zip", ".zip"],
  ]
  for (const [head, mediaType, extension] of known)
    for (const claimed of [undefined, "text/plain", "image/tiff"])
      assert.deepEqual(sniff(bytes(head), claimed), { mediaType, extension })
})

test("a claim is believed for what has no signature, never that it is a picture", () => {
  const text = Buffer.from("a,b\n1,2\n")
  const data = Buffer.from([0, 1, 2])
  assert.deepEqual(sniff(text, "Text/CSV"), { mediaType: "text/csv", extension: ".txt" })
  assert.deepEqual(sniff(data, "application/x-own"), { mediaType: "application/x-own", extension: ".bin" })
  for (const claimed of [undefined, "image/png", "multipart/mixed", "nonsense", "text/plain; x=1", ""]) {
    assert.deepEqual(sniff(text, claimed), { mediaType: "text/plain", extension: ".txt" }, claimed)
    assert.deepEqual(sniff(data, claimed), { mediaType: "application/octet-stream", extension: ".bin" }, claimed)
  }
})

test("text is what has no control characters, though its last character may be cut", () => {
  for (const text of ["a\tb\r\n", "\u001b[1mbold", "größe"]) assert.ok(isText(Buffer.from(text)), text)
  assert.ok(isText(Buffer.from("größe").subarray(0, 3)))
  for (const data of [Buffer.alloc(0), Buffer.from("a\0b"), Buffer.from([0x61, 0xff, 0x61]), Buffer.from("\u0007")])
    assert.ok(!isText(data), data.toString("hex"))
})

test("width and height are read from every kind that is sent as a photo", () => {
  assert.deepEqual(pictureSize(png(640, 480)), { width: 640, height: 480 })
  assert.deepEqual(pictureSize(jpeg(1280, 720)), { width: 1280, height: 720 })
  const extended = webp("VP8X", (head) => (head.writeUIntLE(699, 24, 3), head.writeUIntLE(299, 27, 3)))
  assert.deepEqual(pictureSize(extended), { width: 700, height: 300 })
  const lossless = webp("VP8L", (head) => head.writeUInt32LE((299 << 14) | 699, 21))
  assert.deepEqual(pictureSize(lossless), { width: 700, height: 300 })
  const lossy = webp("VP8 ", (head) => (head.writeUInt16LE(0x4000 | 700, 26), head.writeUInt16LE(0x4000 | 300, 28)))
  assert.deepEqual(pictureSize(lossy), { width: 700, height: 300 })
  const others = [
    png(1, 1).subarray(0, 29),
    bytes("GIF89a"),
    webp("ABCD", () => undefined),
    jpeg(5, 5).subarray(0, 310),
  ]
  for (const head of others) assert.equal(pictureSize(head), undefined)
})

test("a model is shown pictures that it takes: their kind, their bytes and their sides", () => {
  const fits = (head: Buffer, more: { mediaType?: string; bytes?: number; unmeasured?: boolean } = {}) =>
    fitsModel({ mediaType: more.mediaType ?? "image/png", bytes: more.bytes ?? 100, head }, more.unmeasured === true)
  assert.ok(fits(png(8_000, 8_000)))
  assert.ok(!fits(png(8_001, 1)) && !fits(png(1, 8_001)) && !fits(png(0, 5)) && !fits(png(5, 0)))
  assert.ok(fits(png(5, 5), { bytes: 3_750_000 }) && !fits(png(5, 5), { bytes: 3_750_001 }))
  assert.ok(!fits(png(5, 5), { mediaType: "image/tiff" }))
  const gif = bytes("GIF89a")
  gif.writeUInt16LE(10, 6)
  gif.writeUInt16LE(8_001, 8)
  assert.ok(!fits(gif, { mediaType: "image/gif" }))
  gif.writeUInt16LE(20, 8)
  assert.ok(fits(gif, { mediaType: "image/gif" }))
  const unknown = bytes("RIFF\0\0\0\0WEBPABCD")
  assert.deepEqual([fits(unknown), fits(unknown, { unmeasured: true })], [false, true])
})

test("a text file is shown from its beginning, with how much more there is", async () => {
  const path = join(temporaryFolder(), "a.txt")
  const shown = async (text: string, mediaType = "text/plain") => {
    writeFileSync(path, text)
    const all = Buffer.from(text)
    return await shownText({ path, mediaType, bytes: all.length, head: all.subarray(0, 64 * 1024) })
  }
  assert.equal(await shown("words"), "words")
  assert.equal(await shown("x".repeat(20_000)), "x".repeat(20_000))
  assert.equal(await shown("x".repeat(20_005)), `${"x".repeat(20_000)}\n(5 more characters)`)
  assert.match((await shown("y".repeat(100_000))) ?? "", /^y{20000}\n\(80000 more characters\)$/)
  assert.equal(await shown("words", "image/png"), undefined)
  assert.equal(await shown("a\0b"), undefined)
})

test("sizes are told in the unit that people use", () => {
  assert.deepEqual([0, 1023, 1024, 1536, 1024 * 1024 - 1, 1024 * 1024, 2.55 * 1024 * 1024].map(sizeText), [
    "0 bytes",
    "1023 bytes",
    "1 KB",
    "2 KB",
    "1024 KB",
    "1.0 MB",
    "2.5 MB",
  ])
})
