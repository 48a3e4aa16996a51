// Mailgun: the signature is a part of the body, hex over `<timestamp><token>`. It says nothing about the rest of the
// body, which the verdict tells; the token is used once, so that a captured signature cannot carry another body.
import { type Json, isJsonObject } from "../../../kernel/index.ts"
import { findSecret, hmac, isRecent, normalHex, reasons } from "../compare.ts"
import { type Scheme, type SchemeInput, refused } from "../contract.ts"
import { deliveryId, textAt } from "../delivery-id.ts"

export const mailgun: Scheme = {
  headers: () => ["content-type"],
  verify(input) {
    const { timestamp, token, signature } = readSignature(input)
    if (!timestamp || !token || !signature) return refused(reasons.missing)
    const secret = findSecret(input.secrets, [normalHex(signature)], (key) => [
      hmac("sha256", key, [timestamp, token], "hex"),
    ])
    if (secret === undefined) return refused(reasons.wrong)
    if (!isRecent(timestamp, input.now, input.toleranceMs)) return refused(reasons.late)
    return { kind: "valid", secret, bodySigned: false, id: deliveryId(token, true) }
  },
}

/** Events are JSON with a `signature` object; mails that a route forwards are forms with three fields. */
function readSignature({ header, json, rawBody }: SchemeInput) {
  if (header("content-type")?.toLowerCase().startsWith("application/x-www-form-urlencoded")) {
    const form = new URLSearchParams(rawBody.toString("utf8"))
    const single = (name: string) => (form.getAll(name).length === 1 ? form.get(name) : undefined)
    return { timestamp: single("timestamp"), token: single("token"), signature: single("signature") }
  }
  const payload = json()
  const part: Json | undefined =
    isJsonObject(payload) && Object.hasOwn(payload, "signature") ? payload["signature"] : undefined
  return {
    timestamp: textAt(part, "timestamp"),
    token: textAt(part, "token"),
    signature: textAt(part, "signature"),
  }
}
