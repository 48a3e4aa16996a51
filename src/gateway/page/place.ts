// Whether a request for the page travels safely: on this machine alone, or through TLS that ends in front of us. Anything
// else could be read and changed on its way, and is refused unless the configuration says that it may be.
import type { IncomingMessage } from "node:http"
import { plainAddress } from "../../kernel/http/index.ts"
import { AppError } from "../../kernel/index.ts"

export interface PlaceRules {
  /** `gateway.page.publicUrl` */
  publicUrl?: string | undefined
  /** `gateway.page.allowHttp` */
  allowHttp: boolean
}

/** Throws `page-insecure`. */
export function placeOf(request: IncomingMessage, rules: PlaceRules): { isTls: boolean } {
  const forwarded = String(request.headers["x-forwarded-proto"] ?? "").split(",", 1)[0]
  if (forwarded?.trim().toLowerCase() === "https" || isPublicTls(request.headers.host, rules)) return { isTls: true }
  if (isFromHere(request) || rules.allowHttp) return { isTls: false }
  throw new AppError("page-insecure", "The page is not shown over plain HTTP from another machine", {
    hint: "Put TLS in front (docs/guides/page.md), use an SSH tunnel, or set gateway.page.allowHttp",
  })
}

function isPublicTls(host: string | undefined, { publicUrl }: PlaceRules): boolean {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return false
  const { protocol, host: wanted } = new URL(publicUrl)
  return protocol === "https:" && wanted === host?.toLowerCase()
}

/** From this machine, by one of its own addresses. What a proxy of this machine brings comes from elsewhere. */
function isFromHere({ headers, socket }: IncomingMessage): boolean {
  if (headers["x-forwarded-for"] !== undefined || headers.forwarded !== undefined) return false
  const peer = plainAddress(socket.remoteAddress ?? "")
  if ((peer === "::1" || peer.startsWith("127.")) && isLoopbackHost(headers.host ?? "")) return true
  return peer !== "" && peer === plainAddress(socket.localAddress ?? "") && !isLoopbackHost(headers.host ?? "")
}

function isLoopbackHost(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(host)
}
