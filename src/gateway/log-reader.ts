// Reads the gateway's log files for the page: the last lines, then what has come since. A cursor names a file by its inode
// and a place in it, so that a rotation between two questions loses nothing.
import { closeSync, fstatSync, openSync, readSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"

export interface LogQuery {
  limit: number
  after?: string | undefined
  level?: string | undefined
  text?: string | undefined
}

export interface LogPage {
  lines: LogLine[]
  cursor: string
  cut: boolean
}

export interface LogLine {
  level: string
  time: number
  msg: string
  [field: string]: unknown
}

const levels: Readonly<Record<number, string>> = {
  10: "trace",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "fatal",
}
/** How far one question reads. */
const mostBytes = 2 * 1024 * 1024
const mostTextCharacters = 4_000

interface Piece {
  inode: number
  /** Bytes before this belong to no line of the answer. */
  offset: number
  text: string
}

export function readLog(folder: string, query: LogQuery): LogPage {
  const files = openFiles(folder)
  try {
    const { pieces, isCut } = query.after === undefined ? tail(files) : since(files, query.after)
    const last = pieces.at(-1)
    const cursor = last
      ? `${last.inode}.${last.offset + Buffer.byteLength(wholeLines(last.text))}`
      : (query.after ?? "0.0")
    const least = Number(Object.entries(levels).find(([, name]) => name === query.level)?.[0] ?? 0)
    const wanted = query.text?.toLowerCase() ?? ""
    const all = pieces.flatMap(({ text }) => wholeLines(text).split("\n"))
    const lines: LogLine[] = []
    let place = all.length - 1
    // From the end, so that nothing is parsed that is not shown.
    for (; place >= 0 && lines.length < query.limit; place -= 1) {
      const text = all[place] as string
      if (text === "" || !text.toLowerCase().includes(wanted)) continue
      const { rank, line } = parseLine(text)
      if (rank >= least) lines.push(line)
    }
    return { lines: lines.toReversed(), cursor, cut: isCut || place >= 0 }
  } finally {
    for (const { descriptor } of files) closeSync(descriptor)
  }
}

interface OpenFile {
  descriptor: number
  inode: number
  size: number
}

/**
 * Oldest first. They stay the same files while we read, whatever they are called meanwhile. Taken only when nothing was
 * renamed while they were opened: else a file could move past the look.
 */
function openFiles(folder: string): OpenFile[] {
  const mostTries = 20
  for (let tries = 1; ; tries += 1) {
    const files = namesOf(folder).flatMap((path) => open(path) ?? [])
    const there = namesOf(folder).map((path) => statSync(path, { throwIfNoEntry: false })?.ino)
    const areThose = there.length === files.length && files.every(({ inode }, index) => inode === there[index])
    if (areThose) return files
    const isLast = tries === mostTries
    const kept = files.filter((file, index) => isLast && files.findIndex(({ inode }) => inode === file.inode) === index)
    for (const file of files) if (!kept.includes(file)) closeSync(file.descriptor)
    if (isLast) return kept
  }
}

/** Oldest first. */
function namesOf(folder: string): string[] {
  const age = (name: string) => Number(name.split(".")[2] ?? 0)
  return readdirSync(folder)
    .filter((name) => /^gateway\.log(\.\d{1,4})?$/.test(name))
    .toSorted((a, b) => age(b) - age(a))
    .map((name) => join(folder, name))
}

/** Undefined for one that has just been moved on or removed. */
function open(path: string): OpenFile | undefined {
  try {
    const descriptor = openSync(path, "r")
    const { ino: inode, size } = fstatSync(descriptor)
    return { descriptor, inode, size }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

function tail(files: readonly OpenFile[]): { pieces: Piece[]; isCut: boolean } {
  const pieces: Piece[] = []
  let left = mostBytes
  for (const file of files.toReversed()) {
    if (left <= 0) return { pieces, isCut: true }
    const from = Math.max(0, file.size - left)
    pieces.unshift(read(file, from, from > 0))
    left -= file.size - from
    if (from > 0) return { pieces, isCut: true }
  }
  return { pieces, isCut: false }
}

function since(files: readonly OpenFile[], cursor: string): { pieces: Piece[]; isCut: boolean } {
  const [inode, offset] = cursor.split(".").map(Number)
  const index = files.findIndex((file) => file.inode === inode)
  // So many rotations later, or another machine's cursor.
  if (index === -1) return { ...tail(files), isCut: true }
  const pieces: Piece[] = []
  for (const [place, file] of files.slice(index).entries()) {
    const from = place === 0 ? Math.min(offset ?? 0, file.size) : 0
    pieces.push(read(file, from))
    // The rest of it comes with the next question; what stands in later files would come before it.
    if (file.size - from > mostBytes) break
  }
  return { pieces, isCut: false }
}

/** Where it `isCut` off in the middle of a line, maybe of a character, it begins with the next line. */
function read({ descriptor, inode, size }: OpenFile, from: number, isCut = false): Piece {
  const bytes = Buffer.alloc(Math.min(mostBytes, size - from))
  const count = readSync(descriptor, bytes, 0, bytes.length, from)
  const begin = isCut ? bytes.subarray(0, count).indexOf("\n") + 1 : 0
  return { inode, offset: from + begin, text: bytes.subarray(begin, count).toString("utf8") }
}

/** A line that is still being written comes with the next question. */
function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1)
}

function parseLine(text: string): { rank: number; line: LogLine } {
  const record = parseRecord(text)
  if (!record) return { rank: 30, line: { level: "info", time: 0, msg: text.slice(0, mostTextCharacters) } }
  const { level, time, msg, ...rest } = record
  const rank = typeof level === "number" ? level : 30
  const line = { ...rest, level: levels[rank] ?? "info", time: Date.parse(String(time)) || 0, msg: String(msg ?? "") }
  return { rank, line }
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
