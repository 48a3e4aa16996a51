// Stripe: `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>]` over `<t>.<body>`; other versions are not looked at.
import { findSecret, hmac, isRecent, normalHex, reasons } from "../compare.ts"
import { type Scheme, refused } from "../contract.ts"
import { deliveryId, textAt } from "../delivery-id.ts"

export const stripe: Scheme = {
  headers: () => ["stripe-signature"],
  verify({ header, json, now, rawBody, secrets, toleranceMs }) {
    const fields = (header("stripe-signature") ?? "").split(",").map((field) => splitField(field))
    const times = fields.filter(([name]) => name === "t").map(([, value]) => value)
    const given = fields.filter(([name]) => name === "v1").map(([, value]) => normalHex(value))
    const [time] = times
    if (time === undefined || times.length > 1 || given.length === 0) return refused(reasons.missing)
    const secret = findSecret(secrets, given, (key) => [hmac("sha256", key, [`${time}.`, rawBody], "hex")])
    if (secret === undefined) return refused(reasons.wrong)
    if (!isRecent(time, now, toleranceMs)) return refused(reasons.late)
    return { kind: "valid", secret, bodySigned: true, id: deliveryId(textAt(json(), "id"), true) }
  },
}

function splitField(field: string): [string, string] {
  const at = field.indexOf("=")
  return at < 0 ? [field, ""] : [field.slice(0, at), field.slice(at + 1)]
}
