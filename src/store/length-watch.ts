// Looks every few seconds whether the database and its log have become shorter than what was written into them: somebody
// has cut them, and what is kept in memory hides it until it is too late. SQLite's own words are compared with the sizes:
// the header of the database (https://www.sqlite.org/fileformat2.html#the_database_header) and the index of the log
// (https://www.sqlite.org/walformat.html#the_wal_index_file_format).
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs"
import { endianness } from "node:os"
import { AppError } from "../kernel/index.ts"
import { wayOut } from "./damage.ts"

const everyMs = 2_000
const headerBytes = 100
/** The last bit tells the order of bytes in its sums. */
const logMagic = 0x377f0682

export interface LengthWatch {
  /** Whether another file stands in the place of the log. */
  isLogReplaced(): boolean
  /** Whether the database that is open is not the one at its place any more, or there is none. */
  isDatabaseLost(): boolean
  stop(): void
  /** To be called when the database is closed: closing a file takes away SQLite's locks on it. */
  close(): void
}

export function watchLengths(options: {
  /** Of the database. */
  path: string
  onShortened: (error: AppError) => void
  everyMs?: number | undefined
}): LengthWatch {
  const { path } = options
  const [database, log, index] = [path, `${path}-wal`, `${path}-shm`].map((name) => openSync(name, "r")) as [
    number,
    number,
    number,
  ]
  const sizes = { database: fstatSync(database).size, log: fstatSync(log).size }
  let wasHollow = false
  const look = () => {
    const least = { database: leastOfDatabase(database), log: leastOfLog(index) }
    const now = { database: fstatSync(database).size, log: fstatSync(log).size }
    for (const name of ["database", "log"] as const) {
      const isHollow = name === "log" && least.log > 0 && hasLostHeader(log)
      const wasCut = (now[name] < sizes[name] && now[name] < least[name]) || (isHollow && !wasHollow)
      if (name === "log") wasHollow = isHollow
      sizes[name] = now[name]
      if (wasCut) options.onShortened(shortened(name === "log" ? `${path}-wal` : path, now[name]))
    }
  }
  const timer = setInterval(look, options.everyMs ?? everyMs)
  timer.unref()
  return {
    isLogReplaced: () => placeOf(`${path}-wal`, log) === "another",
    isDatabaseLost: () => placeOf(path, database) !== "same",
    stop: () => clearInterval(timer),
    close() {
      for (const file of [database, log, index]) closeSync(file)
    },
  }
}

/** What stands at the place of an open file. */
function placeOf(path: string, file: number): "same" | "another" | "nothing" {
  const there = statSync(path, { throwIfNoEntry: false })
  if (!there) return "nothing"
  const { dev, ino } = fstatSync(file)
  return there.dev === dev && there.ino === ino ? "same" : "another"
}

/** An empty file has lost its header, too. */
function leastOfDatabase(file: number): number {
  const header = read(file, headerBytes)
  if (!header) return headerBytes
  const pageSize = header.readUInt16BE(16)
  return header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize)
}

/** 0 where nothing of it is needed any more, or the index is being changed at this moment. */
function leastOfLog(file: number): number {
  const index = read(file, headerBytes)
  if (!index?.subarray(0, 48).equals(index.subarray(48, 96))) return 0
  const isLittle = endianness() === "LE"
  const number = (at: number) => (isLittle ? index.readUInt32LE(at) : index.readUInt32BE(at))
  const pageSize = isLittle ? index.readUInt16LE(14) : index.readUInt16BE(14)
  const [frames, takenOver] = [number(16), number(96)]
  return frames <= takenOver ? 0 : 32 + frames * (24 + (pageSize === 1 ? 65_536 : pageSize))
}

/** One that was emptied and written on has its size, and nothing at its beginning. */
function hasLostHeader(log: number): boolean {
  const header = read(log, 4)
  return header !== undefined && header.readUInt32BE(0) >>> 1 !== logMagic >>> 1
}

function read(file: number, bytes: number): Buffer | undefined {
  const buffer = Buffer.alloc(bytes)
  try {
    return readSync(file, buffer, 0, bytes, 0) === bytes ? buffer : undefined
  } catch {
    // A disk that cannot be read is met by whoever needs it, with a word of its own.
    return undefined
  }
}

function shortened(path: string, bytes: number): AppError {
  return new AppError("storage-damaged", `${path} was cut to ${bytes} bytes while the gateway ran on it`, {
    retryAfterSeconds: 60,
    hint: wayOut,
  })
}
