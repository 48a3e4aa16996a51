// What is not seen, or changes the direction of what is, told by its number: an owner must read what is there.
import { codesOf } from "../kernel/index.ts"

const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
const unseenInLine = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u
/** By code point, found when it is first met: 0 not yet known, 1 seen, 2 unseen. */
const known = new Uint8Array(0x11_0000)
/** `\u{10ffff}` */
const mostPer = 10

const newline = 0x0a

/**
 * The text with each such character as `\u{200b}`, ends of lines among them unless they are `kept`. Takes time in
 * proportion to the text, whatever it holds.
 */
export function escapeUnseen(text: string, lines: "escaped" | "kept" = "escaped"): string {
  const isKept = lines === "kept"
  if (!(isKept ? unseenInLine : unseen).test(text)) return text
  const codes = codesOf(text)
  const bytes = Buffer.allocUnsafeSlow(codes.length * mostPer * 2)
  const result = new Uint16Array(bytes.buffer)
  let written = 0
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] as number
    const low = codes[at + 1] as number
    if ((code & 0xfc00) === 0xd800 && (low & 0xfc00) === 0xdc00) {
      const point = ((code & 0x3ff) << 10) + (low & 0x3ff) + 0x1_0000
      at += 1
      if (isUnseen(point)) written = writeEscape(result, written, point)
      else {
        result[written++] = code
        result[written++] = low
      }
    } else if (!(isKept && code === newline) && isUnseen(code)) written = writeEscape(result, written, code)
    else result[written++] = code
  }
  return bytes.toString("utf16le", 0, written * 2)
}

function isUnseen(point: number): boolean {
  if (known[point] === 0) known[point] = unseen.test(String.fromCodePoint(point)) ? 2 : 1
  return known[point] === 2
}

/** `\u{`, the number in hexadecimal digits, `}`; the place behind it. */
function writeEscape(result: Uint16Array, from: number, point: number): number {
  let at = from
  result[at++] = 0x5c
  result[at++] = 0x75
  result[at++] = 0x7b
  for (let shift = point > 0xffff ? (point > 0xfffff ? 20 : 16) : firstShift(point); shift >= 0; shift -= 4) {
    const digit = (point >> shift) & 0xf
    result[at++] = digit < 10 ? 0x30 + digit : 0x57 + digit
  }
  result[at++] = 0x7d
  return at
}

function firstShift(code: number): number {
  return code > 0xfff ? 12 : code > 0xff ? 8 : code > 0xf ? 4 : 0
}
