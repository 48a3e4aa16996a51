// A stream as a provider sends it, read from test/fixtures/model-streams: a head of `name: value` lines, a line `---`, and
// the exact bytes. Streams of Bedrock are kept as one line a frame and are put into frames here.
import { readFileSync } from "node:fs"
import { crc32 } from "node:zlib"
import type { ProviderSettings } from "../../../src/models/index.ts"

export interface Recording {
  name: string
  provider: string
  model: string
  interface: "Chat Completions" | "Responses" | "Messages" | "Gemini" | "Converse"
  special: string
  /** Without address and key. */
  settings: ProviderSettings
  headers: Record<string, string>
  bytes: Buffer
}

const folder = new URL("../../fixtures/model-streams/", import.meta.url)

/** `name` is `interface/file` without its ending. */
export function readRecording(name: string): Recording {
  const file = readFileSync(new URL(`${name}.txt`, folder))
  const end = file.indexOf("\n---\n")
  const head = Object.fromEntries(
    file
      .subarray(0, end)
      .toString()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)] as const),
  )
  const bytes = file.subarray(end + 5)
  const isFramed = head["interface"] === "Converse"
  return {
    name,
    provider: head["provider"] ?? "",
    model: head["model"] ?? "",
    interface: head["interface"] as Recording["interface"],
    special: head["special"] ?? "",
    settings: JSON.parse(head["settings"] ?? "") as ProviderSettings,
    headers: JSON.parse(
      head["headers"] ?? '{"content-type":"text/event-stream; charset=utf-8"}',
    ) as Recording["headers"],
    bytes: isFramed ? toFrames(bytes.toString()) : bytes,
  }
}

/** A line is `event {payload}`, or `!exception {payload}`. */
export function toFrames(text: string): Buffer {
  const lines = text.split("\n").filter((line) => line !== "")
  return Buffer.concat(
    lines.map((line) => {
      const space = line.indexOf(" ")
      const name = line.slice(0, space)
      const payload = Buffer.from(line.slice(space + 1))
      return name.startsWith("!")
        ? frame(
            { ":exception-type": name.slice(1), ":content-type": "application/json", ":message-type": "exception" },
            payload,
          )
        : frame({ ":event-type": name, ":content-type": "application/json", ":message-type": "event" }, payload)
    }),
  )
}

/** Length, length of the headers, checksum of both, headers, payload, checksum of all. */
function frame(headers: Readonly<Record<string, string>>, payload: Buffer): Buffer {
  const block = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(value))
      return Buffer.concat([
        Buffer.from([name.length]),
        Buffer.from(name),
        Buffer.from([7]),
        length,
        Buffer.from(value),
      ])
    }),
  )
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + block.length + payload.length, 0)
  prelude.writeUInt32BE(block.length, 4)
  const body = Buffer.concat([prelude, checksum(prelude), block, payload])
  return Buffer.concat([body, checksum(body)])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum
}
