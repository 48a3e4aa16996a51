// Serves the chat page with headers that let it run nothing but its own script.
import { createHash } from "node:crypto"
import type { ServerResponse } from "node:http"
import { pageHtml, pageScript } from "./page.ts"

/** Answers the page's address; false for any other. */
export function servePage(response: ServerResponse, path: string): boolean {
  if (path !== "/") return false
  const scriptHash = createHash("sha256").update(pageScript).digest("base64")
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${scriptHash}'`,
    "style-src 'unsafe-inline'",
    "img-src blob:",
    "media-src blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ")
  const body = pageHtml()
  response.writeHead(200, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "Content-Security-Policy": policy,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  })
  response.end(body)
  return true
}
