// Words taken out of a zip archive: each member is unpacked, looked through and, where one stands in it, packed anew;
// all others are copied as they are. Words are replaced byte for byte, so that lengths and places in a member stay.
import { type FileHandle, open } from "node:fs/promises"
import { promisify } from "node:util"
import { crc32, deflateRaw, inflateRaw } from "node:zlib"
import { AppError } from "../../kernel/index.ts"

const unpack = promisify(inflateRaw)
const pack = promisify(deflateRaw)

const endMark = 0x06054b50
const memberMark = 0x02014b50
const endBytes = 22
const memberBytes = 46
const localBytes = 30
const maxComment = 0xffff
const deflated = 8
/** Lengths and the sum follow behind the data: they are written in front again. */
const lengthsBehind = 0x0008

/** Writes to `to` what `from` holds, without the words. Throws `internal` for what is no archive that we can read. */
export async function copyZipWithout(from: string, to: string, words: readonly string[]): Promise<void> {
  const source = await open(from, "r")
  try {
    const target = await open(to, "wx", 0o600)
    try {
      await copy(
        source,
        target,
        words.map((word) => Buffer.from(word)),
      )
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function copy(source: FileHandle, target: FileHandle, words: readonly Buffer[]): Promise<void> {
  const directory = await readDirectory(source)
  const written: Buffer[] = []
  let at = 0
  const write = async (bytes: Buffer) => {
    // To its last byte, or with the reason why not: a disk that is full may take only the first ones.
    await target.writeFile(bytes)
    at += bytes.length
  }
  for (const member of directory) {
    const start = at
    const { local, body } = await readMember(source, member)
    const sealed = await withoutWords(member, body, words)
    const header = Buffer.from(member)
    if (sealed) {
      header.writeUInt32LE(sealed.sum, 16)
      header.writeUInt32LE(sealed.bytes.length, 20)
      header.writeUInt32LE(sealed.size, 24)
    }
    header.writeUInt16LE(header.readUInt16LE(8) & ~lengthsBehind, 8)
    header.writeUInt32LE(start, 42)
    // As the directory has it: flags, method, times, sum and lengths.
    header.copy(local, 6, 8, 28)
    await write(local)
    await write(sealed?.bytes ?? body)
    written.push(header)
  }
  const from = at
  for (const header of written) await write(header)
  const end = Buffer.alloc(endBytes)
  end.writeUInt32LE(endMark, 0)
  end.writeUInt16LE(written.length, 8)
  end.writeUInt16LE(written.length, 10)
  end.writeUInt32LE(at - from, 12)
  end.writeUInt32LE(from, 16)
  await write(end)
}

async function withoutWords(
  member: Buffer,
  body: Buffer,
  words: readonly Buffer[],
): Promise<{ bytes: Buffer; size: number; sum: number } | undefined> {
  const isPacked = member.readUInt16LE(10) === deflated
  const plain = isPacked ? await unpack(body) : Buffer.from(body)
  let isChanged = false
  for (const word of words) {
    for (let found = plain.indexOf(word); found !== -1; found = plain.indexOf(word, found + word.length)) {
      plain.fill("*", found, found + word.length)
      isChanged = true
    }
  }
  if (!isChanged) return undefined
  return { bytes: isPacked ? await pack(plain) : plain, size: plain.length, sum: crc32(plain) }
}

/** The headers of the members, as the archive's directory has them. */
async function readDirectory(source: FileHandle): Promise<Buffer[]> {
  const { size } = await source.stat()
  const tail = await readAt(source, Math.max(0, size - endBytes - maxComment), Math.min(size, endBytes + maxComment))
  const mark = Buffer.alloc(4)
  mark.writeUInt32LE(endMark)
  const end = tail.lastIndexOf(mark)
  if (end === -1) throw unreadable()
  const directory = await readAt(source, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12))
  const members: Buffer[] = []
  for (let at = 0; at + memberBytes <= directory.length;) {
    if (directory.readUInt32LE(at) !== memberMark) throw unreadable()
    const length =
      memberBytes + directory.readUInt16LE(at + 28) + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
    members.push(directory.subarray(at, at + length))
    at += length
  }
  if (members.length !== tail.readUInt16LE(end + 10)) throw unreadable()
  return members
}

/** Its own header with the name, and its data as they are. */
async function readMember(source: FileHandle, member: Buffer): Promise<{ local: Buffer; body: Buffer }> {
  const from = member.readUInt32LE(42)
  const head = await readAt(source, from, localBytes)
  const headBytes = localBytes + head.readUInt16LE(26) + head.readUInt16LE(28)
  const local = await readAt(source, from, headBytes)
  return { local, body: await readAt(source, from + headBytes, member.readUInt32LE(20)) }
}

async function readAt(source: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await source.read(bytes, 0, length, from)
  if (bytesRead !== length) throw unreadable()
  return bytes
}

function unreadable(): AppError {
  return new AppError("internal", "The archive of the trace could not be read")
}
