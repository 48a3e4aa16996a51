// Slack: `X-Slack-Signature: v0=<hex>` over `v0:<timestamp>:<body>`. A new address is checked with a signed challenge
// that has to be answered at once; an address without this check gets it too, with the hook token.
import type { Json } from "../../../kernel/index.ts"
import { findSecret, hmac, isRecent, normalHex, reasons } from "../compare.ts"
import { type Scheme, type VerifyReply, refused } from "../contract.ts"
import { deliveryId, textAt } from "../delivery-id.ts"

const prefix = "v0="
/** Theirs have some fifty characters. */
const maxChallengeCharacters = 1_000

export const slack: Scheme = {
  headers: () => ["x-slack-signature", "x-slack-request-timestamp"],
  verify({ header, json, now, rawBody, secrets, toleranceMs }) {
    const given = header("x-slack-signature")
    const timestamp = header("x-slack-request-timestamp")
    if (!given?.startsWith(prefix) || !timestamp) return refused(reasons.missing)
    const secret = findSecret(secrets, [normalHex(given.slice(prefix.length))], (key) => [
      hmac("sha256", key, [`v0:${timestamp}:`, rawBody], "hex"),
    ])
    if (secret === undefined) return refused(reasons.wrong)
    if (!isRecent(timestamp, now, toleranceMs)) return refused(reasons.late)
    const payload = json()
    const respond = challengeReply(payload)
    return {
      kind: "valid",
      secret,
      bodySigned: true,
      id: deliveryId(textAt(payload, "event_id"), true),
      ...(respond ? { respond } : {}),
    }
  },
}

export function challengeReply(payload: Json | undefined): VerifyReply | undefined {
  if (textAt(payload, "type") !== "url_verification") return undefined
  const challenge = textAt(payload, "challenge")
  if (challenge === undefined || challenge.length > maxChallengeCharacters) return undefined
  return { status: 200, body: challenge, contentType: "text/plain; charset=utf-8" }
}
