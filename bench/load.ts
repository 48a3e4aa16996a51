// A load of HTTP posts from a process of its own: each connection sends, waits for the answer, sends again.
// Raw sockets, so that the sender costs as little as possible of the two cores it shares with the gateway.
// Reads its task as JSON from the command line; prints its result as JSON.
import { createHmac } from "node:crypto"
import { connect } from "node:net"
import { percentile } from "./statistics.ts"

export interface LoadTask {
  port: number
  path: string
  token: string
  connections: number
  /** Requests in all. */
  requests: number
  /** `{n}` is replaced by a running number. */
  body: string
  /** Signs each body with HMAC-SHA256 instead of sending the token: header name, what stands before the hex digits. */
  sign?: { header: string; prefix: string; secret: string }
}

export interface LoadResult {
  perSecond: number
  p50: number
  p99: number
  statuses: Record<string, number>
}

async function run(task: LoadTask): Promise<LoadResult> {
  const latencies: number[] = []
  const statuses: Record<string, number> = {}
  let sent = 0
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(task.port, "127.0.0.1")
      let startedAt = 0
      let received = ""
      const send = () => {
        if (sent >= task.requests) {
          socket.end()
          resolve()
          return
        }
        sent += 1
        const body = task.body.replace("{n}", String(sent))
        const proof = task.sign
          ? `${task.sign.header}: ${task.sign.prefix}${createHmac("sha256", task.sign.secret).update(body).digest("hex")}`
          : `Authorization: Bearer ${task.token}`
        startedAt = performance.now()
        socket.write(
          `POST ${task.path} HTTP/1.1\r\nHost: 127.0.0.1:${task.port}\r\n${proof}\r\n` +
            `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        )
      }
      socket.setNoDelay(true)
      socket.on("connect", send)
      socket.on("error", reject)
      socket.on("data", (chunk: Buffer) => {
        received += chunk.toString("latin1")
        const end = received.indexOf("\r\n\r\n")
        if (end === -1) return
        const length = Number(/content-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? 0)
        if (received.length < end + 4 + length) return
        latencies.push(performance.now() - startedAt)
        const status = received.slice(9, 12)
        statuses[status] = (statuses[status] ?? 0) + 1
        received = ""
        send()
      })
    })
  const begin = performance.now()
  await Promise.all(Array.from({ length: Math.min(task.connections, task.requests) }, one))
  const seconds = (performance.now() - begin) / 1000
  return {
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    statuses,
  }
}

if (import.meta.main) {
  const task = JSON.parse(process.argv[2] ?? "{}") as LoadTask
  process.stdout.write(JSON.stringify(await run(task)))
}
