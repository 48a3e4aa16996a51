// What a disk has refused is written anew before it is believed. The kernel tells once of a page that it could not write,
// and takes it for written from then on: the next sync succeeds although the disk does not have the page
// (https://wiki.postgresql.org/wiki/Fsync_Errors). So the pages are written over with what stands in them, and are to be
// written once more. That helps only where the file had the place before: ext4 takes places that a file has grown by for
// empty until a first write of them succeeds, and what is written there later is lost with them. So a file gets its room,
// forced to the disk, before anything that counts stands there.
import { fstatSync, ftruncateSync, readSync, writeSync } from "node:fs"

/** Forces a file to the disk, with what is needed to read it again. */
export type SyncFile = (file: number) => Promise<void>

/** Done at a stretch, before other work has its turn. */
const pieceBytes = 256 * 1024
/** Of the log: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const headerBytes = 32
const frameHeaderBytes = 24

/** Makes a file that is shorter as long as this; nobody may write meanwhile. One that gets no room is as long as before. */
export async function makeRoom(file: number, bytes: number, sync: SyncFile): Promise<void> {
  const { size } = fstatSync(file)
  if (size >= bytes) return
  try {
    for (let at = size; at < bytes;) at += writeSync(file, Buffer.alloc(Math.min(pieceBytes, bytes - at)), 0, null, at)
    await sync(file)
  } catch (error) {
    ftruncateSync(file, size)
    throw error
  }
}

/** Writes a file over with what stands in it. Each piece at once, so whoever writes meanwhile is not written over. */
export async function rewriteFile(file: number): Promise<void> {
  const { size } = fstatSync(file)
  const piece = Buffer.alloc(pieceBytes)
  for (let at = 0; at < size; at += pieceBytes) {
    rewrite(file, piece, at)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Writes the pages of the database over that have come from the log. */
export async function rewritePages(log: number, database: number): Promise<void> {
  const { pages, pageBytes } = pagesOf(log)
  const page = Buffer.alloc(pageBytes)
  let stretch = 0
  for (const number of pages) {
    rewrite(database, page, (number - 1) * pageBytes)
    stretch += pageBytes
    if (stretch < pieceBytes) continue
    stretch = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function rewrite(file: number, piece: Buffer, at: number): void {
  const bytes = readSync(file, piece, 0, piece.length, at)
  for (let done = 0; done < bytes;) done += writeSync(file, piece, done, bytes - done, at + done)
}

/** All whose frames stand in the log, also those of the time before it began anew: to write one too many does no harm. */
function pagesOf(log: number): { pages: ReadonlySet<number>; pageBytes: number } {
  const pages = new Set<number>()
  const header = Buffer.alloc(headerBytes)
  readSync(log, header, 0, headerBytes, 0)
  const pageBytes = header.readUInt32BE(8)
  const frameBytes = frameHeaderBytes + pageBytes
  const { size } = fstatSync(log)
  const number = Buffer.alloc(4)
  for (let at = headerBytes; pageBytes > 0 && at + frameBytes <= size; at += frameBytes) {
    readSync(log, number, 0, number.length, at)
    pages.add(number.readUInt32BE(0))
  }
  // Where nothing stands yet.
  pages.delete(0)
  return { pages, pageBytes }
}
