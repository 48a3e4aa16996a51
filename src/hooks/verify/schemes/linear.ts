// Linear: `Linear-Signature: <hex>` over the body. The time is a field of the signed body, in milliseconds.
import { findSecret, hmac, normalHex, reasons } from "../compare.ts"
import { type Scheme, refused } from "../contract.ts"
import { deliveryId, textAt } from "../delivery-id.ts"

/** Linear asks receivers to refuse what is older than a minute; every attempt has a time of its own. */
const maxToleranceMs = 60_000

export const linear: Scheme = {
  headers: () => ["linear-signature", "linear-delivery"],
  verify({ header, json, now, rawBody, secrets, toleranceMs }) {
    const given = header("linear-signature")
    if (!given) return refused(reasons.missing)
    const secret = findSecret(secrets, [normalHex(given)], (key) => [hmac("sha256", key, [rawBody], "hex")])
    if (secret === undefined) return refused(reasons.wrong)
    const sentAt = Number(textAt(json(), "webhookTimestamp") ?? Number.NaN)
    // A comparison with NaN is false: a body without a time is refused.
    const recent = Math.abs(sentAt - now) <= Math.min(toleranceMs, maxToleranceMs)
    if (!recent) return refused(reasons.late)
    return { kind: "valid", secret, bodySigned: true, id: deliveryId(header("linear-delivery"), false) }
  },
}
