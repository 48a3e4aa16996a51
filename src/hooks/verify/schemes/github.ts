// GitHub: `X-Hub-Signature-256: sha256=<hex>` over the body. The delivery's id is a header that is not signed.
import { findSecret, hmac, normalHex, reasons } from "../compare.ts"
import { type Scheme, refused } from "../contract.ts"
import { deliveryId } from "../delivery-id.ts"

const prefix = "sha256="

export const github: Scheme = {
  headers: () => ["x-hub-signature-256", "x-github-delivery"],
  verify({ header, rawBody, secrets }) {
    const given = header("x-hub-signature-256")
    if (!given?.startsWith(prefix)) return refused(reasons.missing)
    const signature = normalHex(given.slice(prefix.length))
    const secret = findSecret(secrets, [signature], (key) => [hmac("sha256", key, [rawBody], "hex")])
    if (secret === undefined) return refused(reasons.wrong)
    return { kind: "valid", secret, bodySigned: true, id: deliveryId(header("x-github-delivery"), false) }
  },
}
