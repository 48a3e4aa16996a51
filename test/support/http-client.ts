// One HTTP request on a connection of its own, whose whole answer is read: for tests that must see status, headers and
// body just as they come, and send what `fetch` would not.
import { type IncomingMessage, type OutgoingHttpHeaders, request as httpRequest } from "node:http"

export interface Answer {
  status: number
  headers: IncomingMessage["headers"]
  text: string
  // Tests read whatever shape they expect.
  // oxlint-disable-next-line typescript/no-explicit-any
  json: any
}

export interface SendOptions {
  /** Default: POST with a body, else GET. */
  method?: string
  headers?: OutgoingHttpHeaders
  body?: string | Buffer
  address?: string
}

export function send(port: number, path: string, options: SendOptions = {}): Promise<Answer> {
  const { headers = {}, body, address = "127.0.0.1" } = options
  const method = options.method ?? (body === undefined ? "GET" : "POST")
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: address, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = text !== "" && response.headers["content-type"]?.startsWith("application/json")
        const json = isJson ? JSON.parse(text) : null
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
      })
    })
    request.on("error", reject)
    request.end(body)
  })
}
