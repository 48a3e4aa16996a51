// The first thing every surface does with a request: refuse web pages and foreign host names (DNS rebinding,
// cross-site requests), on loopback too. Runs before routing, authentication and the body.
import type { IncomingHttpHeaders } from "node:http"
import { AppError } from "../errors.ts"

export interface GuardRules {
  /** Port that the Host header must name; undefined where a proxy may stand in front and Host is not checked. */
  port: number | undefined
  /** Host names accepted besides loopback names, lower-case, without port. */
  extraHosts?: readonly string[]
}

const loopbackHosts = new Set(["127.0.0.1", "localhost", "[::1]"])

/** Throws AppError `forbidden-origin` when the request comes from a web page or under a foreign host name. */
export function checkOrigin(headers: IncomingHttpHeaders, rules: GuardRules): void {
  if (rules.port !== undefined && !isAllowedHost(headers.host, rules)) {
    throw new AppError("forbidden-origin", "The Host header does not name this service", {
      hint: `Use http://127.0.0.1:${rules.port}/`,
    })
  }
  const site = headers["sec-fetch-site"]
  if (site !== undefined && site !== "none" && site !== "same-origin") {
    throw new AppError("forbidden-origin", "Requests from web pages are refused")
  }
  for (const source of [headers.origin, headers.referer]) {
    if (source !== undefined && !isOwnOrigin(source, headers.host, rules)) {
      throw new AppError("forbidden-origin", "Requests from web pages are refused")
    }
  }
}

function isAllowedHost(host: string | undefined, rules: GuardRules): boolean {
  if (host === undefined) return false
  const match = /^(\[[0-9a-f:]+\]|[^:]+)(?::(\d+))?$/i.exec(host)
  if (!match) return false
  const name = (match[1] as string).toLowerCase()
  if (rules.extraHosts?.includes(name)) return true
  return loopbackHosts.has(name) && Number(match[2] ?? 80) === rules.port
}

/** Our own pages (the dashboard) may call us; nothing else that has an origin may. */
function isOwnOrigin(source: string, host: string | undefined, rules: GuardRules): boolean {
  if (rules.port === undefined || !URL.canParse(source)) return false
  return new URL(source).host === host
}
