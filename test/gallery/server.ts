// Serves the built pages, and a small API for those that call one.
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { built } from "./build.ts"

const types: Record<string, string> = { js: "text/javascript", mjs: "text/javascript", css: "text/css" }

export async function servePages(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname
    if (path.startsWith("/api/"))
      return void response.setHeader("content-type", "application/json").end('{"name":"Rex"}')
    const page = /^\/page\/([\w-]+)$/.exec(path)?.[1]
    if (page) return void response.setHeader("content-type", "text/html; charset=utf-8").end(html(page))
    const file = /^\/((?:files\/)?[\w.-]+)$/.exec(path)?.[1]
    if (!file || file.includes("..") || !existsSync(join(built, file))) return void response.writeHead(404).end()
    response.setHeader("content-type", types[file.split(".").at(-1) ?? ""] ?? "application/octet-stream")
    response.end(readFileSync(join(built, file)))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

function html(page: string): string {
  const style = existsSync(join(built, `${page}.css`)) ? `<link rel=stylesheet href="/${page}.css">` : ""
  return `<!doctype html><html lang=en><meta charset=utf-8><title>${page}</title>${style}<body><div id=root></div><script type=module src="/${page}.js"></script>`
}
