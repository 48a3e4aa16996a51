// Sentry: `Sentry-Hook-Signature: <hex>` over the body (older integrations: `Sentry-App-Signature`). Its time and its
// request id are headers that nobody signs, so the time is not looked at: it would only seem to protect.
import { findSecret, hmac, normalHex, reasons } from "../compare.ts"
import { type Scheme, refused } from "../contract.ts"
import { deliveryId } from "../delivery-id.ts"

export const sentry: Scheme = {
  headers: () => ["sentry-hook-signature", "sentry-app-signature", "request-id"],
  verify({ header, rawBody, secrets }) {
    const given = header("sentry-hook-signature") ?? header("sentry-app-signature")
    if (!given) return refused(reasons.missing)
    const secret = findSecret(secrets, [normalHex(given)], (key) => [hmac("sha256", key, [rawBody], "hex")])
    if (secret === undefined) return refused(reasons.wrong)
    return { kind: "valid", secret, bodySigned: true, id: deliveryId(header("request-id"), false) }
  },
}
