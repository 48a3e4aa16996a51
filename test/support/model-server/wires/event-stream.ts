// The binary frames of Amazon's event streams: two lengths, a sum over them, headers, the payload, a sum over all.
// "Event stream encoding" in the documentation of Amazon's services.
import { crc32 } from "node:zlib"
import type { Json } from "../../../../src/kernel/index.ts"

const stringType = 7

function header(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name)
  const valueBytes = Buffer.from(value)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(valueBytes.length)
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([stringType]), length, valueBytes])
}

function frame(headers: readonly (readonly [string, string])[], payload: Json): Buffer {
  const head = Buffer.concat(headers.map(([name, value]) => header(name, value)))
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
  const message = Buffer.concat([prelude, head, body])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(message))
  return Buffer.concat([message, sum])
}

export function eventFrame(type: string, payload: Json): Buffer {
  const headers = [
    [":event-type", type],
    [":content-type", "application/json"],
    [":message-type", "event"],
  ] as const
  return frame(headers, payload)
}

export function exceptionFrame(type: string, payload: Json): Buffer {
  const headers = [
    [":exception-type", type],
    [":content-type", "application/json"],
    [":message-type", "exception"],
  ] as const
  return frame(headers, payload)
}
