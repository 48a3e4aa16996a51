// Bytes -> frames of the cloud's binary event stream: lengths, headers, payload, checksums.
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
import { crc32 } from "node:zlib"
import { isJsonObject, type Json, type JsonObject } from "../../../kernel/index.ts"
import { ProviderReport, StreamCut } from "../../providers/contract.ts"

export interface Frame {
  /** `event` or `exception`. */
  kind: string
  /** Name of the event or the exception. */
  name: string
  payload: JsonObject
}

const preludeBytes = 12
const checksumBytes = 4
/** The format's own limit. */
const maxFrameBytes = 24 * 1024 * 1024

export async function* readFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  let pieces: Uint8Array[] = []
  let size = 0
  let wanted = preludeBytes
  for await (const piece of body) {
    pieces.push(piece)
    size += piece.byteLength
    // Joined only when a whole frame is there: pieces may be small and frames large.
    if (size < wanted) continue
    let rest = Buffer.concat(pieces)
    for (wanted = neededBytes(rest); rest.length >= wanted; wanted = neededBytes(rest)) {
      yield readFrame(rest.subarray(0, wanted))
      rest = rest.subarray(wanted)
    }
    pieces = [rest]
    size = rest.length
  }
  if (size > 0) throw new StreamCut()
}

function neededBytes(bytes: Buffer): number {
  if (bytes.length < preludeBytes) return preludeBytes
  const length = bytes.readUInt32BE(0)
  if (
    length < preludeBytes + checksumBytes ||
    length > maxFrameBytes ||
    crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)
  ) {
    // Words or JSON, where frames were to come.
    throw new ProviderReport(bytes.subarray(0, 2000).toString("utf8"))
  }
  return length
}

function readFrame(bytes: Buffer): Frame {
  const end = bytes.length - checksumBytes
  if (crc32(bytes.subarray(0, end)) !== bytes.readUInt32BE(end)) {
    throw new Error("The provider sent a frame whose checksum is wrong")
  }
  const headersEnd = preludeBytes + bytes.readUInt32BE(4)
  const headers = readHeaders(bytes.subarray(preludeBytes, headersEnd))
  const kind = headers.get(":message-type") ?? ""
  const name = headers.get(":event-type") ?? headers.get(":exception-type") ?? headers.get(":error-code") ?? ""
  const payload = parsePayload(bytes.subarray(headersEnd, end).toString("utf8"))
  const message = headers.get(":error-message")
  return { kind, name, payload: message === undefined ? payload : { message, ...payload } }
}

function parsePayload(text: string): JsonObject {
  if (text === "") return {}
  try {
    const value = JSON.parse(text) as Json
    return isJsonObject(value) ? value : { value }
  } catch (error) {
    throw new Error("The provider sent a reply that could not be read", { cause: error })
  }
}

/** Bytes of a value by the type of its header; text and bytes bring their own length. */
const fixedBytes: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]

/** Only those that hold text. */
function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    const name = bytes.subarray(at + 1, nameEnd).toString("utf8")
    const type = bytes.readUInt8(nameEnd)
    const fixed = fixedBytes[type]
    const start = nameEnd + (fixed === undefined ? 3 : 1)
    const end = start + (fixed ?? bytes.readUInt16BE(nameEnd + 1))
    if (type === 7) headers.set(name, bytes.subarray(start, end).toString("utf8"))
    at = end
  }
  return headers
}
