// The write-ahead log of a store has room for more than stands in it.
import { readFileSync } from "node:fs"
import { endianness } from "node:os"

const headerBytes = 32
const frameBytes = 24 + 4096

/** Frames of the log that belong to transactions, as its index says (https://www.sqlite.org/walformat.html). */
export function framesOfLog(database: string): number {
  const index = readFileSync(`${database}-shm`)
  return endianness() === "LE" ? index.readUInt32LE(16) : index.readUInt32BE(16)
}

/** Where a frame begins, in bytes; the first is 0. */
export function placeOfFrame(frame: number): number {
  return headerBytes + frame * frameBytes
}
