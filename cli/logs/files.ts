// The files of the log and the bytes of them: `gateway.log` is written to, `.1` is the one before it, and so on.
import { closeSync, fstatSync, openSync, readSync, readdirSync } from "node:fs"
import { join } from "node:path"

const name = /^gateway\.log(?:\.(\d{1,4}))?$/

/** Paths, newest first; none when the folder does not exist. */
export function listLogs(folder: string): string[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
    throw error
  }
  const age = (file: string) => Number(name.exec(file)?.[1] ?? 0)
  return names
    .filter((file) => name.test(file))
    .sort((a, b) => age(a) - age(b))
    .map((file) => join(folder, file))
}

/** An open log file; it stays the same file when its name moves on to `.1`. */
export interface OpenLog {
  descriptor: number
  inode: number
  /** Bytes before this are read. */
  offset: number
}

/** Undefined when the file has just been moved or removed. */
export function openLog(path: string): OpenLog | undefined {
  try {
    const descriptor = openSync(path, "r")
    return { descriptor, inode: fstatSync(descriptor).ino, offset: 0 }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

export function closeLog(log: OpenLog): void {
  closeSync(log.descriptor)
}

const pieceBytes = 65_536

/** Everything from the offset to the present end, in pieces; moves the offset. A shortened file is read anew. */
export function* readOn(log: OpenLog): Generator<Buffer> {
  const { size } = fstatSync(log.descriptor)
  if (size < log.offset) log.offset = 0
  while (log.offset < size) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - log.offset))
    const count = readSync(log.descriptor, piece, 0, piece.length, log.offset)
    if (count === 0) return
    log.offset += count
    yield piece.subarray(0, count)
  }
}

/** Puts bytes together to lines; what has no line end yet waits. */
export class LineSplitter {
  #rest: Buffer = Buffer.alloc(0)

  split(bytes: Buffer): string[] {
    const whole = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const lines: string[] = []
    let start = 0
    for (let end = whole.indexOf(10); end >= 0; end = whole.indexOf(10, start)) {
      lines.push(whole.toString("utf8", start, end))
      start = end + 1
    }
    this.#rest = whole.subarray(start)
    return lines
  }

  /** What is left when a file has ended: a last line without its end. */
  finish(): string[] {
    const lines = this.#rest.length > 0 ? [this.#rest.toString("utf8")] : []
    this.#rest = Buffer.alloc(0)
    return lines
  }
}
