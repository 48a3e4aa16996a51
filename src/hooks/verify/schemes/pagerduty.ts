// PagerDuty (V3): `X-PagerDuty-Signature: v1=<hex>[,v1=<hex>]` over the body; the event's id is in the signed body.
import { findSecret, hmac, normalHex, reasons } from "../compare.ts"
import { type Scheme, refused } from "../contract.ts"
import { deliveryId, textAt } from "../delivery-id.ts"

const prefix = "v1="

export const pagerduty: Scheme = {
  headers: () => ["x-pagerduty-signature"],
  verify({ header, json, rawBody, secrets }) {
    const given = (header("x-pagerduty-signature") ?? "")
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part.startsWith(prefix))
      .map((part) => normalHex(part.slice(prefix.length)))
    if (given.length === 0) return refused(reasons.missing)
    const secret = findSecret(secrets, given, (key) => [hmac("sha256", key, [rawBody], "hex")])
    if (secret === undefined) return refused(reasons.wrong)
    return { kind: "valid", secret, bodySigned: true, id: deliveryId(textAt(json(), "event", "id"), true) }
  },
}
