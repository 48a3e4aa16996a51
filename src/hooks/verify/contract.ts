// What the verifier takes and answers, and what a scheme is: a pure function over raw bytes, headers and secrets.
import type { IncomingHttpHeaders } from "node:http"
import type { Json } from "../../kernel/index.ts"
import { verifySchemes } from "../config.ts"

export { verifySchemes }

export type VerifyScheme = (typeof verifySchemes)[number]

export interface VerifyRequest {
  /** The body exactly as it arrived, before any parsing. */
  rawBody: Buffer
  headers: IncomingHttpHeaders
  /** Node's list of names and values. With it every repeated header is seen; Node itself joins or drops most of them. */
  rawHeaders?: readonly string[] | undefined
  /** As the sender addressed it: `scheme://host/path?query`. */
  url: string
  method: string
}

export interface VerifySettings {
  scheme: VerifyScheme
  /** Shared secret, or the public key for `sendgrid`. Two at once while a secret is being rotated. */
  secret?: string | readonly string[] | undefined
  /** Seconds by which a signed time may differ from ours. */
  toleranceSeconds?: number | undefined
  /** Header of the signature, for `hmac-sha256`. */
  header?: string | undefined
  /** Expected audience, for `google-oidc`; `publicUrl` when unset. */
  audience?: string | undefined
  /** Expected service account, for `google-oidc`. */
  email?: string | undefined
  keySetUrl?: string | undefined
  keySetFile?: string | undefined
  /** The address that the sender was given, where a proxy changes it. Needed for `twilio`, which signs it. */
  publicUrl?: string | undefined
  /** `headers.<name>` or `payload.<path>`: where the delivery's id is, instead of the sender's usual place. */
  idFrom?: string | undefined
}

export interface VerifyReply {
  status: number
  body: string
  contentType: string
}

export type VerifyResult =
  | {
      ok: true
      /** Absent where the sender has none: then the body's hash tells deliveries apart. */
      deliveryId?: string
      /** Whether the id is part of what was signed. An unsigned id can be changed by whoever repeats a delivery. */
      signedId: boolean
      /** False where the signature says nothing about the body: `mailgun`, `google-oidc`, and GitLab's plain token. */
      bodySigned: boolean
      /** Names the secret that fitted without telling it, to keep the deliveries of two senders apart. */
      secretId: string
      /** What to answer at once, without running anything (a sender's check of the address). */
      respond?: VerifyReply
    }
  | {
      ok: false
      /** For the log. The sender is told no more than 401 (or 503 when `temporary`). */
      reason: string
      /** Ours is the fault, and the same delivery may pass later. */
      temporary?: true
    }

export interface DeliveryId {
  value: string
  signed: boolean
}

export interface SchemeInput {
  rawBody: Buffer
  /** The one value of a header that the scheme has declared. */
  header: (name: string) => string | undefined
  /** The body as JSON, undefined when it is none. Ask only after the signature has held. */
  json: () => Json | undefined
  url: string
  method: string
  secrets: readonly string[]
  toleranceMs: number
  /** Milliseconds since the epoch. */
  now: number
  settings: VerifySettings
}

export type SchemeVerdict =
  | { kind: "valid"; secret: string; bodySigned: boolean; id?: DeliveryId | undefined; respond?: VerifyReply }
  | { kind: "refused"; reason: string; temporary?: true }

export interface Scheme {
  /** Lower-case names of the headers that it reads; a request that repeats one of them is refused. */
  headers: (settings: VerifySettings) => readonly string[]
  verify: (input: SchemeInput) => SchemeVerdict | Promise<SchemeVerdict>
}

export function refused(reason: string): SchemeVerdict {
  return { kind: "refused", reason }
}
