// Standard Webhooks: `webhook-signature` holds one or more `v1,<base64>` with spaces between, each an HMAC-SHA256 over
// `<id>.<timestamp>.<body>`. Used by many senders, GitLab's signing token among them. Svix, whose form it was first, and
// those who send through it name the same three headers `svix-...`.
import { findSecret, hmac, isRecent, reasons } from "../compare.ts"
import { type Scheme, type SchemeInput, type SchemeVerdict, refused } from "../contract.ts"
import { secretPrefix } from "../../signing-secret.ts"
import { deliveryId } from "../delivery-id.ts"

export const standardWebhookHeaders = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const

const svixHeaders = ["svix-id", "svix-timestamp", "svix-signature"] as const

export const standardWebhooks: Scheme = {
  headers: () => [...standardWebhookHeaders, ...svixHeaders],
  verify(input) {
    const isSvix = standardWebhookHeaders.every((name) => input.header(name) === undefined)
    return verifyStandardWebhook(input, isSvix ? svixHeaders : standardWebhookHeaders)
  },
}

export function verifyStandardWebhook(
  input: SchemeInput,
  names: typeof standardWebhookHeaders | typeof svixHeaders = standardWebhookHeaders,
): SchemeVerdict {
  const [id, timestamp, header] = names.map((name) => input.header(name))
  if (!id || !timestamp || !header) return refused(reasons.missing)
  const given = header
    .split(" ")
    .filter((part) => part.startsWith("v1,"))
    .map((part) => part.slice(3))
  const signed = [`${id}.${timestamp}.`, input.rawBody]
  const secret = findSecret(input.secrets, given, (candidate) =>
    keysOf(candidate).map((key) => hmac("sha256", key, signed, "base64")),
  )
  if (secret === undefined) return refused(reasons.wrong)
  if (!isRecent(timestamp, input.now, input.toleranceMs)) return refused(reasons.late)
  return { kind: "valid", secret, bodySigned: true, id: deliveryId(id, true) }
}

/** `whsec_` marks base64. Without it senders differ: some mean the characters themselves, some base64 all the same. */
function keysOf(secret: string): Buffer[] {
  if (secret.startsWith(secretPrefix)) return [Buffer.from(secret.slice(secretPrefix.length), "base64")]
  const decoded = Buffer.from(secret, "base64")
  const isBase64 = decoded.length >= 16 && decoded.toString("base64") === secret
  return isBase64 ? [Buffer.from(secret), decoded] : [Buffer.from(secret)]
}
