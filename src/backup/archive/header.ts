// The 512 bytes before a member of a tar archive (POSIX ustar), and the extended header for what does not fit in.
// Only regular files are known here: links, devices and folders are neither written nor read.
import { AppError } from "../../kernel/index.ts"

export const blockBytes = 512
/** Ours hold a path and a size. */
export const maxExtendedBytes = 16 * 1024

const nameBytes = 100
/** Eleven octal digits. */
const maxPlainSize = 0o77777777777

export interface Entry {
  path: string
  size: number
}

export type Header = { kind: "file"; entry: Entry } | { kind: "extended"; size: number } | { kind: "end" }

/** One or, where the path is long or not plain or the file is larger than 8 GB, three blocks or more. */
export function encodeHeaders({ path, size }: Entry, mtimeMs: number): Buffer {
  const fits = Buffer.byteLength(path) <= nameBytes && /^[\x20-\x7e]*$/.test(path) && size <= maxPlainSize
  if (fits) return block(path, size, mtimeMs, "0")
  const records = Buffer.from(record("path", path) + record("size", String(size)))
  const short = path.replace(/[^\x20-\x7e]/g, "_").slice(-nameBytes)
  return Buffer.concat([
    block("extended-header", records.length, mtimeMs, "x"),
    records,
    Buffer.alloc(padding(records.length)),
    block(short, Math.min(size, maxPlainSize), mtimeMs, "0"),
  ])
}

export function padding(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes
}

function block(name: string, size: number, mtimeMs: number, type: "0" | "x"): Buffer {
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`
  header.write(name, 0, nameBytes)
  header.write(octal(0o600, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  header.write(octal(Math.max(0, Math.floor(mtimeMs / 1000)), 11), 136)
  header.write(type, 156)
  header.write("ustar\x0000", 257)
  header.write(`${checksum(header).toString(8).padStart(6, "0")}\0 `, 148)
  return header
}

/** The sum of all bytes, those of the sum itself taken as spaces. */
function checksum(header: Buffer): number {
  let sum = 0
  for (let index = 0; index < blockBytes; index += 1) {
    sum += index >= 148 && index < 156 ? 0x20 : (header[index] ?? 0)
  }
  return sum
}

/** `<length> <key>=<value>\n`, where the length counts itself. */
function record(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest
  while (rest + String(length).length !== length) length = rest + String(length).length
  return `${length} ${key}=${value}\n`
}

/** Throws `backup-damaged`. */
export function decodeHeader(header: Buffer): Header {
  if (header.every((byte) => byte === 0)) return { kind: "end" }
  if (text(header, 257, 5) !== "ustar" || number(header, 148, 8) !== checksum(header)) {
    throw damaged("a member has no proper header")
  }
  const size = number(header, 124, 12)
  const type = text(header, 156, 1)
  if (type === "x" && size <= maxExtendedBytes) return { kind: "extended", size }
  if (type !== "0" && type !== "") throw damaged(`it holds something else than files (type ${JSON.stringify(type)})`)
  const prefix = text(header, 345, 155)
  return { kind: "file", entry: { path: `${prefix === "" ? "" : `${prefix}/`}${text(header, 0, nameBytes)}`, size } }
}

/** The path and size of an extended header. Throws `backup-damaged`. */
export function decodeExtended(records: Buffer): Partial<Entry> {
  const found: Partial<Entry> = {}
  for (let at = 0; at < records.length;) {
    const space = records.indexOf(0x20, at)
    const length = Number(records.toString("latin1", at, space))
    if (space === -1 || !Number.isInteger(length) || length < 5 || at + length > records.length) {
      throw damaged("an extended header is broken")
    }
    const [, key, value] = /^([^=]+)=([^]*)\n$/.exec(records.toString("utf8", space + 1, at + length)) ?? []
    if (key === "path" && value !== undefined) found.path = value
    else if (key === "size" && /^\d{1,15}$/.test(value ?? "")) found.size = Number(value)
    else throw damaged("an extended header holds what no backup has")
    at += length
  }
  return found
}

function text(header: Buffer, at: number, length: number): string {
  const end = header.indexOf(0, at)
  return header.toString("utf8", at, end === -1 ? at + length : Math.min(end, at + length))
}

function number(header: Buffer, at: number, length: number): number {
  const digits = text(header, at, length).trim()
  if (!/^[0-7]{1,11}$/.test(digits)) throw damaged("a member has no proper header")
  return Number.parseInt(digits, 8)
}

export function damaged(why: string, cause?: unknown): AppError {
  return new AppError("backup-damaged", `The backup cannot be used: ${why}`, {
    cause,
    hint: "Take another one: svc backup list",
  })
}
