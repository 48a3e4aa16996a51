// One HTTP request over a plain socket. `fetch` would cost the program 40 ms and node:http 5 ms of every start;
// the gateway is on the same machine and speaks plain HTTP/1.1 (docs/decisions/cli-http-client.md).
import { connect } from "node:net"
import { AppError, describeError } from "../../src/kernel/errors.ts"
import { ResponseReader, type HttpResponse } from "./response-reader.ts"

export interface HttpRequest {
  host: string
  port: number
  method: string
  /** With its query, already encoded. */
  path: string
  token: string
  body?: unknown
  timeoutMs: number
  signal: AbortSignal
}

/** A timer of more would fire at once. */
const longestTimerMs = 2_147_483_647
const maxBodyBytes = 64 * 1024 * 1024

/** Throws `gateway-unreachable`, `timeout` or `aborted`; an answer of any status is returned. */
export function sendRequest(request: HttpRequest): Promise<HttpResponse> {
  const { host, port, timeoutMs, signal } = request
  const where = `${host.includes(":") ? `[${host}]` : host}:${port}`
  const head = composeRequest(request, where)
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new AppError("aborted", "Stopped"))
    const reader = new ResponseReader(maxBodyBytes)
    const socket = connect({ host, port })
    const settle = (finish: () => void) => {
      clearTimeout(timer)
      signal.removeEventListener("abort", onAbort)
      socket.destroy()
      finish()
    }
    const fail = (error: AppError) => settle(() => reject(error))
    const onAbort = () => fail(new AppError("aborted", "Stopped"))
    const timer = setTimeout(
      () => {
        const hint = "look at the gateway's log (svc logs), or give it more time with --timeout <ms>"
        fail(new AppError("timeout", `The gateway at ${where} did not answer within ${timeoutMs} ms`, { hint }))
      },
      Math.min(timeoutMs, longestTimerMs),
    )
    signal.addEventListener("abort", onAbort, { once: true })
    const read = (take: () => HttpResponse | undefined) => {
      try {
        const response = take()
        if (response) settle(() => resolve(response))
        return response !== undefined
      } catch (error) {
        fail(unreachable(`What listens at ${where} is not the gateway: ${describeError(error)}`, error))
        return true
      }
    }
    socket.on("data", (bytes: Buffer) => read(() => reader.push(bytes)))
    socket.on("end", () => {
      if (!read(() => reader.end()))
        fail(unreachable(`The gateway at ${where} closed the connection without an answer`))
    })
    socket.on("error", (error: NodeJS.ErrnoException) => {
      const refused = error.code === "ECONNREFUSED" ? "nothing listens there" : describeError(error)
      fail(unreachable(`The gateway cannot be reached at ${where}: ${refused}`, error))
    })
    socket.write(head)
  })
}

function composeRequest(request: HttpRequest, where: string): string {
  if (!/^\/[\x21-\x7e]*$/.test(request.path)) {
    throw new AppError("bad-request", `"${request.path}" is not a path`)
  }
  const body = request.body === undefined ? undefined : JSON.stringify(request.body)
  const lines = [
    `${request.method} ${request.path} HTTP/1.1`,
    `Host: ${where}`,
    `Authorization: Bearer ${request.token}`,
    "Accept: application/json",
    "User-Agent: svc",
    "Connection: close",
  ]
  if (body !== undefined) lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join("\r\n")}\r\n\r\n${body ?? ""}`
}

function unreachable(message: string, cause?: unknown): AppError {
  return new AppError("gateway-unreachable", message, {
    hint: "is it running? see: svc logs; start it with: svc gateway",
    cause,
  })
}
