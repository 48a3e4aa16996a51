// Shopify: `X-Shopify-Hmac-SHA256: <base64>` over the body. The delivery's id is a header that is not signed.
import { findSecret, hmac, reasons } from "../compare.ts"
import { type Scheme, refused } from "../contract.ts"
import { deliveryId } from "../delivery-id.ts"

export const shopify: Scheme = {
  headers: () => ["x-shopify-hmac-sha256", "x-shopify-webhook-id"],
  verify({ header, rawBody, secrets }) {
    const given = header("x-shopify-hmac-sha256")
    if (!given) return refused(reasons.missing)
    const secret = findSecret(secrets, [given], (key) => [hmac("sha256", key, [rawBody], "base64")])
    if (secret === undefined) return refused(reasons.wrong)
    return { kind: "valid", secret, bodySigned: true, id: deliveryId(header("x-shopify-webhook-id"), false) }
  },
}
