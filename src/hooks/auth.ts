// Who may post: request -> the strongest token it carries -> constant-time comparison -> throttled refusal.
// A right token always passes, however many wrong ones came before; no token and no URL ever reaches the log.
import type { IncomingMessage } from "node:http"
import type { Clock, Log, Secret } from "../kernel/index.ts"
import { createFailureThrottle, plainAddress, refuse } from "../kernel/http/index.ts"

export interface HookAuth {
  /** Whether the request carries the right token. */
  accepts(request: IncomingMessage, query: string, token: Secret): boolean
  /** What the request carries in a header, where tokens of their own scope may stand. */
  carried(request: IncomingMessage): string | undefined
  /** Throws `unauthorized`, or `too-many-failures` with the seconds to wait. */
  refuse(request: IncomingMessage, reason: Refusal): never
}

/** `token`: none or a wrong one. `signature`: neither a right token nor a signature that holds. */
export type Refusal = "token" | "signature"

/** At most one line a minute about the same thing, however many requests cause it. */
const logEveryMs = 60_000

export function createHookAuth(options: { clock: Clock; log: Log }): HookAuth {
  const { clock, log } = options
  // Requests that cannot be deliveries have a budget of their own: they must not use up that of real senders,
  // and must not be a free way to guess.
  const deliveries = createFailureThrottle({ clock })
  const others = createFailureThrottle({ clock })
  const mayWarn = everySoOften(clock)
  const mayReport = everySoOften(clock)
  return {
    accepts(request, query, token) {
      const candidate = findToken(request, query)
      if (candidate === undefined || !token.matches(candidate.value)) return false
      if (candidate.from === "query" && mayWarn()) {
        log.warn(
          { hint: "send the header 'Authorization: Bearer <token>' instead" },
          "hook token in query deprecated: it will be refused in a future major release",
        )
      }
      return true
    },
    carried(request) {
      const candidate = findToken(request, "")
      return candidate?.value
    },
    refuse(request, reason) {
      const address = request.socket.remoteAddress ?? "unknown"
      if (mayReport()) log.warn({ address: plainAddress(address) }, `hook request refused: ${reason} missing or wrong`)
      refuse(request.method === "POST" ? deliveries : others, address, words[reason])
    },
  }
}

const words = {
  token: { message: "A token is needed", hint: "Send the header 'Authorization: Bearer <hooks.token>'" },
  signature: {
    message: "A signature or a token is needed",
    hint: "Sign with the secret of the mapping, or send the header 'Authorization: Bearer <hooks.token>'",
  },
}

interface Candidate {
  value: string
  from: "authorization" | "header" | "query"
}

/** `Authorization: Bearer`, else `x-svc-token`, else `?token=`: only the first that is present counts. */
function findToken(request: IncomingMessage, query: string): Candidate | undefined {
  const bearer = bearerValue(request.headers.authorization)
  if (bearer !== undefined) return { value: bearer, from: "authorization" }
  const header = request.headers["x-svc-token"]
  if (typeof header === "string" && header.trim() !== "") return { value: header.trim(), from: "header" }
  if (!query.includes("token=")) return undefined
  const value = new URLSearchParams(query).get("token")?.trim()
  return value ? { value, from: "query" } : undefined
}

export function bearerValue(authorization: string | undefined): string | undefined {
  if (authorization === undefined || authorization.slice(0, 7).toLowerCase() !== "bearer ") return undefined
  const value = authorization.slice(7).trim()
  return value === "" ? undefined : value
}

function everySoOften(clock: Clock): () => boolean {
  let nextAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = clock.monotonic()
    if (now < nextAt) return false
    nextAt = now + logEveryMs
    return true
  }
}
