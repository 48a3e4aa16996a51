// A client of the model server without manners: sends a body as it is and reads back bytes, frames and events.
import { once } from "node:events"
import { request, type IncomingHttpHeaders, type IncomingMessage } from "node:http"
import { crc32 } from "node:zlib"
import type { Json, JsonObject } from "../../../src/kernel/index.ts"
import type { ModelServer } from "./index.ts"

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  bytes: Buffer
  /** How many pieces the body arrived in. */
  pieces: number
}

/** `path` begins behind the port. */
export async function post(
  server: ModelServer,
  path: string,
  body: JsonObject,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = request(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer key", ...headers },
    signal: AbortSignal.timeout(10_000),
  })
  sent.end(JSON.stringify(body))
  const [response] = (await once(sent, "response")) as [IncomingMessage]
  const chunks: Buffer[] = []
  response.on("data", (chunk: Buffer) => void chunks.push(chunk))
  await once(response, "end")
  const bytes = Buffer.concat(chunks)
  const status = response.statusCode ?? 0
  return { status, headers: response.headers, text: bytes.toString(), bytes, pieces: chunks.length }
}

/** The data of server-sent events, without the mark of the end. */
export function eventsOf(text: string): JsonObject[] {
  const lines = text.split("\n").filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
  return lines.map((line) => JSON.parse(line.slice(6)) as JsonObject)
}

/** Amazon's binary frames, with both sums proven. */
export function framesOf(bytes: Buffer): { headers: Record<string, string>; payload: Json }[] {
  const frames = []
  for (let start = 0; start < bytes.length; start += bytes.readUInt32BE(start)) {
    const total = bytes.readUInt32BE(start)
    const headerLength = bytes.readUInt32BE(start + 4)
    const isWhole = crc32(bytes.subarray(start, start + total - 4)) === bytes.readUInt32BE(start + total - 4)
    if (!isWhole || crc32(bytes.subarray(start, start + 8)) !== bytes.readUInt32BE(start + 8)) {
      throw new Error(`The frame at ${start} is broken`)
    }
    const headers = headersOf(bytes.subarray(start + 12, start + 12 + headerLength))
    const payload = JSON.parse(bytes.toString("utf8", start + 12 + headerLength, start + total - 4)) as Json
    frames.push({ headers, payload })
  }
  return frames
}

function headersOf(bytes: Buffer): Record<string, string> {
  const headers: Record<string, string> = {}
  let at = 0
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at)
    const valueEnd = nameEnd + 3 + bytes.readUInt16BE(nameEnd + 1)
    headers[bytes.toString("utf8", at + 1, nameEnd)] = bytes.toString("utf8", nameEnd + 3, valueEnd)
    at = valueEnd
  }
  return headers
}
