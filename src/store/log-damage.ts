// What a process that was killed has left in the write-ahead log is read by SQLite up to the first place whose sum is
// wrong, and the rest is left out without a word: after a loss of power that is how it has to be, as nothing behind that
// place had been forced to the disk. Where a file was damaged it may be work that was acknowledged. So the log is looked
// through before SQLite does (https://www.sqlite.org/fileformat2.html#the_write_ahead_log), and what it will leave out is
// told, with a copy of the log kept.
import { copyFileSync, readFileSync, renameSync, statSync } from "node:fs"
import { endianness, uptime } from "node:os"

export interface LogDamage {
  /** Where it begins, in bytes. */
  at: number
  /** Transactions behind it, as far as their ends can be found. */
  lost: number
  /** All that stands before it is in the database already, and a good deal of what comes after. */
  isTakenOver: boolean
}

const headerBytes = 32
const frameHeaderBytes = 24
/** What nobody forces to the disk for so long is taken over long before; a larger one is somebody's experiment. */
const mostBytes = 512 * 1024 * 1024

/** Undefined where SQLite will read all that there is, or all that had been forced to the disk. */
export function findLogDamage(path: string): LogDamage | undefined {
  const { size = 0, mtimeMs = 0 } = statSync(`${path}-wal`, { throwIfNoEntry: false }) ?? {}
  if (size <= headerBytes + frameHeaderBytes || size > mostBytes) return undefined
  // The machine has gone down since it was written.
  if (mtimeMs < Date.now() - uptime() * 1000) return undefined
  const log = readFileSync(`${path}-wal`)
  const header = readHeader(log)
  // Without it none of the log is read. Its frames stand at the same places, whatever the sizes that are used.
  if (!header) return { at: 0, lost: countEnds(log, 0, 4096, undefined), isTakenOver: false }
  const { pageBytes, salts } = header
  const frameBytes = frameHeaderBytes + pageBytes
  let sum = header.sum
  for (let at = headerBytes; at + frameBytes <= log.length; at += frameBytes) {
    const frame = log.subarray(at, at + frameBytes)
    const isOfThisLog = frame.subarray(8, 16).equals(salts)
    const next = sumOf(sumOf(sum, frame.subarray(0, 8), header.isBig), frame.subarray(frameHeaderBytes), header.isBig)
    if (isOfThisLog && frame.readUInt32BE(16) === next[0] && frame.readUInt32BE(20) === next[1]) {
      sum = next
      continue
    }
    // What a killed process was writing is its last frame: behind it nothing of this log stands.
    const lost = countEnds(log, at + frameBytes, pageBytes, salts)
    if (lost === 0) return undefined
    return { at, lost, isTakenOver: takenOver(`${path}-shm`, salts) > (at - headerBytes) / frameBytes }
  }
  return undefined
}

/** Keeps the log, and takes it out of SQLite's way where what it would read of it is older than the database. */
export function keepDamagedLog(path: string, { isTakenOver }: LogDamage, suffix: string): string {
  const kept = `${path}-wal${suffix}`
  if (isTakenOver) renameSync(`${path}-wal`, kept)
  else copyFileSync(`${path}-wal`, kept)
  return kept
}

type Sum = readonly [number, number]

function readHeader(log: Buffer): { pageBytes: number; salts: Buffer; isBig: boolean; sum: Sum } | undefined {
  const magic = log.readUInt32BE(0)
  if (magic >>> 1 !== 0x377f0682 >>> 1) return undefined
  const isBig = (magic & 1) === 1
  const sum = sumOf([0, 0], log.subarray(0, 24), isBig)
  if (log.readUInt32BE(24) !== sum[0] || log.readUInt32BE(28) !== sum[1]) return undefined
  return { pageBytes: log.readUInt32BE(8), salts: log.subarray(16, 24), isBig, sum }
}

function sumOf([first, second]: Sum, bytes: Buffer, isBig: boolean): Sum {
  let [one, two] = [first, second]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; at += 8) {
    one = (one + view.getUint32(at, !isBig) + two) >>> 0
    two = (two + view.getUint32(at + 4, !isBig) + one) >>> 0
  }
  return [one, two]
}

/** Frames that end a transaction; without salts those that most frames share. */
function countEnds(log: Buffer, from: number, pageBytes: number, salts: Buffer | undefined): number {
  const frameBytes = frameHeaderBytes + pageBytes
  const ends = new Map<string, number>()
  const first = headerBytes + Math.ceil(Math.max(0, from - headerBytes) / frameBytes) * frameBytes
  for (let at = first; at + frameBytes <= log.length; at += frameBytes) {
    const isEnd = log.readUInt32BE(at) > 0 && log.readUInt32BE(at + 4) > 0
    const key = log.toString("latin1", at + 8, at + 16)
    if (isEnd && (!salts || key === salts.toString("latin1"))) ends.set(key, (ends.get(key) ?? 0) + 1)
  }
  return Math.max(0, ...ends.values())
}

/** Frames that are in the database already, as the index of this log says. */
function takenOver(path: string, salts: Buffer): number {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < 100) return 0
  const index = readFileSync(path).subarray(0, 100)
  if (!index.subarray(32, 40).equals(salts)) return 0
  return new DataView(index.buffer, index.byteOffset, index.length).getUint32(96, endianness() === "LE")
}
