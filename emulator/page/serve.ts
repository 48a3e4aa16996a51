// Serves the chat page with headers that let it run nothing but its own script.
import type { ServerResponse } from "node:http"
import { loadPage } from "./page.ts"

/** Answers the page's address; false for any other. */
export async function servePage(response: ServerResponse, path: string): Promise<boolean> {
  if (path !== "/") return false
  const { html, policy } = await loadPage()
  response.writeHead(200, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(html),
    "Content-Security-Policy": policy,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  })
  response.end(html)
  return true
}
