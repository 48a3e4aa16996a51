// Messages and pieces of files as WebSocket frames. A short message is one text frame. A long one, and a file, is a row of
// binary frames: one byte of kind, four of number, then the bytes.
import { longestFrame, partBytes } from "../protocol.ts"

/** A piece of a file, a part of a message, the last part of a message. */
export const frameKinds = { file: 0, part: 1, last: 2 } as const

const headBytes = 5
/** Of a part that is not the last one: many small ones would take far more memory than their bytes. */
const shortestPart = 16 * 1024

export function binaryFrame(kind: number, id: number, bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headBytes + bytes.length)
  frame[0] = kind
  frame.writeUInt32BE(id, 1)
  frame.set(bytes, headBytes)
  return frame
}

/** The frames of one message, in the order in which they are to be sent. `id` numbers messages in parts. */
export function framesOf(message: object, id: number): (string | Buffer)[] {
  const text = JSON.stringify(message)
  if (text.length * 3 <= longestFrame || Buffer.byteLength(text) <= longestFrame) return [text]
  const bytes = Buffer.from(text)
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; at += partBytes) {
    const isLast = at + partBytes >= bytes.length
    frames.push(binaryFrame(isLast ? frameKinds.last : frameKinds.part, id, bytes.subarray(at, at + partBytes)))
  }
  return frames
}

export type Incoming =
  | { kind: "message"; message: Record<string, unknown> }
  | { kind: "file"; file: number; bytes: Buffer }
  | { kind: "nothing" }
  | { kind: "broken"; why: string }

const tooLong: Incoming = { kind: "broken", why: "a message is too long" }

/** Puts frames together again. Holds one unfinished message at most: the other side sends one after the other. */
export class FrameReader {
  #parts: Buffer[] = []
  #bytes = 0

  read(data: Buffer, isBinary: boolean, longest: number): Incoming {
    if (!isBinary) return data.length > longest ? tooLong : parse(data)
    if (data.length < headBytes) return { kind: "broken", why: "a frame is cut" }
    const kind = data[0]
    const bytes = data.subarray(headBytes)
    if (kind === frameKinds.file) return { kind: "file", file: data.readUInt32BE(1), bytes }
    if (kind !== frameKinds.part && kind !== frameKinds.last) return { kind: "broken", why: "a frame of no known kind" }
    this.#bytes += bytes.length
    if (this.#bytes > longest) return tooLong
    if (kind === frameKinds.part && bytes.length < shortestPart) {
      return { kind: "broken", why: "a part of a message is too short" }
    }
    this.#parts.push(bytes)
    if (kind === frameKinds.part) return { kind: "nothing" }
    const whole = Buffer.concat(this.#parts)
    this.#parts = []
    this.#bytes = 0
    return parse(whole)
  }
}

function parse(data: Buffer): Incoming {
  try {
    const value: unknown = JSON.parse(data.toString("utf8"))
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { kind: "message", message: value as Record<string, unknown> }
    }
  } catch {
    // Told below.
  }
  return { kind: "broken", why: "a message is no JSON object" }
}
