// A loopback server that answers with given bytes in given pieces. Each piece is a chunk of its own on the wire, so that
// the client gets it by itself, without any waiting between the pieces.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import type { JsonObject } from "../../../src/kernel/index.ts"

export interface Answer {
  status?: number
  headers?: Readonly<Record<string, string>>
  pieces: readonly Uint8Array[]
  /** Closes the connection behind the last piece, before the body is complete. */
  breaks?: boolean
}

export interface AskedRequest {
  path: string
  headers: IncomingHttpHeaders
  body: JsonObject
  at: number
}

export interface ReplayServer {
  url: string
  /** Since the answers were set. */
  requests: AskedRequest[]
  /** The first request gets the first answer and so on; the last answer is for all that follow. */
  answerWith(...answers: readonly Answer[]): void
  stop(): Promise<void>
}

/** What the gateway asks servers of one's own about themselves is none of the tests' business. */
const isAboutServer = (method: string, path: string) => method === "GET" || path.endsWith("/api/show")

export async function startReplayServer(): Promise<ReplayServer> {
  let answers: readonly Answer[] = []
  const requests: AskedRequest[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ""
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      if (isAboutServer(request.method ?? "", path)) {
        response.writeHead(404).end()
        return
      }
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject
      const answer = answers[Math.min(requests.length, answers.length - 1)]
      requests.push({ path, headers: request.headers, body, at: performance.now() })
      send(response, answer ?? { status: 500, pieces: [Buffer.from("no answer was set")] })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answerWith(...next) {
      requests.length = 0
      answers = next
    },
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function send(response: ServerResponse, { status = 200, headers, pieces, breaks }: Answer): void {
  response.writeHead(status, { "content-type": "text/event-stream", ...headers })
  response.socket?.cork()
  for (const piece of pieces) if (piece.length > 0) response.write(piece)
  if (breaks) response.write("", () => response.destroy())
  else response.end()
  response.socket?.uncork()
}

/** Pieces that end at these offsets. */
export function cutAt(bytes: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  return [0, ...offsets].map((from, index) => bytes.subarray(from, offsets[index] ?? bytes.length))
}

/** The same numbers in every run, from 0 up to and without `limit`. */
export function createSeededNumbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    // A linear congruential generator with the constants of Numerical Recipes.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}
