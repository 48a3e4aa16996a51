// Verifies the signature of one webhook delivery: settings usable -> headers once each -> scheme over the raw bytes ->
// the delivery's id. Never parses a body whose signature has not held, unless the signature is inside it (Mailgun).
import { createHash } from "node:crypto"
import { AppError, type Clock, type Json, type Log, parseJson } from "../../kernel/index.ts"
import { decodeUtf8 } from "../../kernel/http/index.ts"
import type {
  DeliveryId,
  Scheme,
  SchemeInput,
  SchemeVerdict,
  VerifyRequest,
  VerifyResult,
  VerifyScheme,
  VerifySettings,
} from "./contract.ts"
import { deliveryId, parseIdSource, textAt } from "./delivery-id.ts"
import { createKeySets } from "./key-set.ts"
import { github } from "./schemes/github.ts"
import { gitlab } from "./schemes/gitlab.ts"
import { createGoogleOidc } from "./schemes/google-oidc.ts"
import { hmacSha256 } from "./schemes/hmac-sha256.ts"
import { linear } from "./schemes/linear.ts"
import { mailgun } from "./schemes/mailgun.ts"
import { pagerduty } from "./schemes/pagerduty.ts"
import { sendgrid } from "./schemes/sendgrid.ts"
import { sentry } from "./schemes/sentry.ts"
import { shopify } from "./schemes/shopify.ts"
import { slack } from "./schemes/slack.ts"
import { standardWebhooks } from "./schemes/standard-webhooks.ts"
import { stripe } from "./schemes/stripe.ts"
import { twilio } from "./schemes/twilio.ts"
import { requireUsable, secretsOf } from "./settings.ts"

export interface VerifierOptions {
  clock: Clock
  log: Log
  /** For key sets; the platform's own when unset. */
  fetch?: typeof fetch
}

export interface Verifier {
  /** Throws AppError `config-invalid` (500) when the settings cannot be used; a bad signature is a result. */
  verifySignature(request: VerifyRequest, settings: VerifySettings): Promise<VerifyResult>
}

const defaultToleranceSeconds = 300

export function createVerifier(options: VerifierOptions): Verifier {
  const keySets = createKeySets({ ...options, fetch: options.fetch ?? fetch })
  const schemes: Record<VerifyScheme, Scheme> = {
    "standard-webhooks": standardWebhooks,
    github,
    gitlab,
    stripe,
    slack,
    linear,
    shopify,
    twilio,
    sendgrid,
    mailgun,
    "google-oidc": createGoogleOidc(keySets),
    sentry,
    pagerduty,
    "hmac-sha256": hmacSha256,
  }
  return {
    async verifySignature(request, settings) {
      requireUsable(settings)
      const scheme = schemes[settings.scheme]
      const source = settings.idFrom === undefined ? undefined : parseIdSource(settings.idFrom)
      const names = [...scheme.headers(settings), ...(source?.kind === "header" ? [source.name] : [])]
      const repeated = names.find((name) => isRepeated(request, name))
      if (repeated !== undefined) return { ok: false, reason: `the header ${repeated} is sent twice` }
      const input = schemeInput(request, settings, options.clock.now())
      const verdict = await scheme.verify(input)
      if (verdict.kind === "refused") {
        const { reason, temporary } = verdict
        return temporary ? { ok: false, reason, temporary } : { ok: false, reason }
      }
      return accepted(verdict, source === undefined ? verdict.id : chosenId(source, input, verdict))
    },
  }
}

function schemeInput(request: VerifyRequest, settings: VerifySettings, now: number): SchemeInput {
  let parsed: { value: Json | undefined } | undefined
  return {
    rawBody: request.rawBody,
    header(name) {
      const value = request.headers[name]
      return typeof value === "string" ? value.trim() : undefined
    },
    json: () => (parsed ??= { value: tryJson(request.rawBody) }).value,
    url: request.url,
    method: request.method,
    secrets: secretsOf(settings),
    toleranceMs: (settings.toleranceSeconds ?? defaultToleranceSeconds) * 1000,
    now,
    settings,
  }
}

/** A signed body need not be JSON; it only has no id then. */
function tryJson(body: Buffer): Json | undefined {
  try {
    return parseJson(decodeUtf8(body), { bigIntegers: "text" })
  } catch (error) {
    if (error instanceof AppError && error.code === "bad-json") return undefined
    throw error
  }
}

function isRepeated(request: VerifyRequest, name: string): boolean {
  if (Array.isArray(request.headers[name])) return true
  const raw = request.rawHeaders ?? []
  let count = 0
  for (let index = 0; index < raw.length; index += 2) if (raw[index]?.toLowerCase() === name) count += 1
  return count > 1
}

function chosenId(
  source: NonNullable<ReturnType<typeof parseIdSource>>,
  input: SchemeInput,
  verdict: SchemeVerdict & { kind: "valid" },
): DeliveryId | undefined {
  if (source.kind === "payload") return deliveryId(textAt(input.json(), ...source.path), verdict.bodySigned)
  const value = input.header(source.name)
  // The one header that is itself signed keeps being so when it is named.
  return deliveryId(value, verdict.id?.signed === true && verdict.id.value === value)
}

function accepted(verdict: SchemeVerdict & { kind: "valid" }, id: DeliveryId | undefined): VerifyResult {
  return {
    ok: true,
    ...(id ? { deliveryId: id.value } : {}),
    signedId: id?.signed ?? false,
    bodySigned: verdict.bodySigned,
    secretId: createHash("sha256").update(verdict.secret).digest("hex").slice(0, 16),
    ...(verdict.respond ? { respond: verdict.respond } : {}),
  }
}
