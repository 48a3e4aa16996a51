// A request to a webhook endpoint, read and proven: what everything behind the door works on. Made from a live
// request, or from a kept one that is replayed. Carries no secret: no token, no signature, no cookie.
import type { IncomingHttpHeaders } from "node:http"
import { type Json, isSecretName } from "../kernel/index.ts"

/** How the sender has shown that it may post here. */
export type Proof =
  /** `tokenId`: not the hook token itself, but one with the scope for it. */
  | { kind: "token"; tokenId?: string }
  | {
      kind: "signature"
      /** Which settings it fits: a mapping with others is not open to it. */
      verifyKey: string
      deliveryId?: string
      signedId: boolean
      bodySigned: boolean
      secretId: string
    }

export interface Delivery {
  receivedAt: number
  /** Monotonic, for timing. */
  beganAt: number
  /** Who takes it: `wake`, `agent`, the id of a mapping; empty until that is known. */
  mapping: string
  /** Below the base path. */
  path: string
  method: string
  headers: Record<string, string>
  query: Record<string, string>
  body: Buffer
  payload: Json
  proof: Proof
  idempotencyKey?: string | undefined
  /** A person wants this kept delivery done once more. */
  replayOf?: number
}

/** Named like credentials: Bitbucket tells by it what has happened. */
const harmless: ReadonlySet<string> = new Set(["x-event-key"])

function isHidden(name: string, hidden: ReadonlySet<string>): boolean {
  if (name === "__proto__" || (isSecretName(name) && !harmless.has(name))) return true
  return hidden.has(name.toLowerCase()) || /^x-twilio-email-event-webhook/i.test(name)
}

const none: ReadonlySet<string> = new Set()

/** Lower-case names; whatever could be a secret or a signature is left out, and what mappings name (`hidden`). */
export function publicHeaders(headers: IncomingHttpHeaders, hidden = none): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name in headers) {
    if (isHidden(name, hidden)) continue
    const value = headers[name]
    if (value !== undefined) kept[name] = typeof value === "string" ? value : value.join(", ")
  }
  return kept
}

export function publicQuery(query: string, hidden = none): Record<string, string> {
  if (query === "") return {}
  const kept: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (!isHidden(name, hidden)) kept[name] ??= value
  }
  return kept
}
