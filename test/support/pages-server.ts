// Serves a folder of pages on 127.0.0.1, keeps a basket for the shop, and remembers what was asked for: what a browser
// did can be proven here, not only seen in the page.
import { readFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { extname, join, normalize } from "node:path"

export interface PageRequest {
  method: string
  /** Path and query. */
  url: string
  body: string
}

export interface BasketItem {
  product: string
  note: string
}

export interface PagesServer {
  /** `http://127.0.0.1:<port>`, without a slash at its end. */
  url: string
  port: number
  requests: PageRequest[]
  /** What was put into the shop's basket, by `POST /basket`. */
  basket: BasketItem[]
  /** Sends the second half of every `/slow-file`, and every `/held-file`, that was asked for. */
  finishFiles(): void
  stop(): Promise<void>
}

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}

export async function startPagesServer(options: { folder: string; port?: number }): Promise<PagesServer> {
  const requests: PageRequest[] = []
  const basket: BasketItem[] = []
  const halves: ServerResponse[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request
    let body = ""
    for await (const chunk of request) body += String(chunk)
    requests.push({ method, url, body })
    const path = decodeURIComponent(new URL(url, "http://pages").pathname)
    if (path === "/basket") {
      if (method === "POST") basket.push(toItem(JSON.parse(body)))
      if (method === "DELETE") basket.length = 0
      return json(response, { items: basket })
    }
    if (path === "/slow-file") return void halves.push(sendHalf(response))
    if (path === "/held-file") return void halves.push(response)
    if (special(path, response)) return
    await file(path, response)
  }

  async function file(path: string, response: ServerResponse): Promise<void> {
    const relative = normalize(path.endsWith("/") ? `${path}index.html` : path)
    try {
      const content = await readFile(join(options.folder, relative))
      const type = types[extname(relative)] ?? "application/octet-stream"
      const text = type.startsWith("text/") ? String(content).replaceAll("{PORT}", String(port)) : content
      response.writeHead(200, { "content-type": type, "cache-control": "no-store" }).end(text)
    } catch {
      response.writeHead(404, { "content-type": "text/plain" }).end("no such page")
    }
  }

  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: options.port ?? 0 }, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    basket,
    finishFiles: () => halves.splice(0).forEach((response) => response.end(halfFile)),
    async stop() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function toItem(value: unknown): BasketItem {
  const { product, note } = value as Partial<BasketItem>
  return { product: String(product), note: String(note ?? "") }
}

function json(response: ServerResponse, value: unknown): void {
  response
    .writeHead(200, { "content-type": "application/json", "cache-control": "no-store" })
    .end(JSON.stringify(value))
}

const halfFile = Buffer.alloc(1_000_000, "x")

function sendHalf(response: ServerResponse): ServerResponse {
  const disposition = 'attachment; filename="big.bin"'
  const headers = { "content-type": "application/octet-stream", "content-disposition": disposition }
  response.writeHead(200, { ...headers, "content-length": 2 * halfFile.length }).write(halfFile)
  return response
}

/** Answers that are no pages: what a browser meets besides them. */
function special(path: string, response: ServerResponse): boolean {
  switch (path) {
    case "/empty":
      response.writeHead(204).end()
      return true
    case "/file":
      response
        .writeHead(200, { "content-type": "application/zip", "content-disposition": "attachment; filename=a.zip" })
        .end("PK")
      return true
    case "/evil-file":
      response
        .writeHead(200, {
          "content-type": "application/octet-stream",
          "content-disposition": "attachment; filename=\"..%2F..%2F.bashrc\"; filename*=UTF-8''..%2F..%2F.bashrc",
        })
        .end("evil")
      return true
    case "/hang":
      // Never answered: the client has to give up.
      return true
    case "/metadata":
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end()
      return true
    case "/hit":
      response.writeHead(200, { "content-type": "text/plain" }).end("hit")
      return true
    default:
      return false
  }
}
