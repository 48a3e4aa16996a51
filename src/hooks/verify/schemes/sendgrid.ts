// SendGrid's event webhook: ECDSA (P-256, SHA-256) over `<timestamp><body>`. The secret is their public key, so that
// nothing here is worth stealing.
import { type KeyObject, createHash, createPublicKey, verify } from "node:crypto"
import type { Json } from "../../../kernel/index.ts"
import { isRecent, reasons } from "../compare.ts"
import { type DeliveryId, type Scheme, refused } from "../contract.ts"
import { deliveryId, textAt } from "../delivery-id.ts"

const signatureHeader = "x-twilio-email-event-webhook-signature"
const timestampHeader = "x-twilio-email-event-webhook-timestamp"

export const sendgrid: Scheme = {
  headers: () => [signatureHeader, timestampHeader],
  verify({ header, json, now, rawBody, secrets, toleranceMs }) {
    const signature = header(signatureHeader)
    const timestamp = header(timestampHeader)
    if (!signature || !timestamp) return refused(reasons.missing)
    const signed = Buffer.concat([Buffer.from(timestamp), rawBody])
    const bytes = Buffer.from(signature, "base64")
    const fitting = secrets.filter((secret) => {
      const key = readPublicKey(secret)
      return key !== undefined && verify("sha256", signed, key, bytes)
    })
    const [secret] = fitting
    if (secret === undefined) return refused(reasons.wrong)
    if (!isRecent(timestamp, now, toleranceMs)) return refused(reasons.late)
    return { kind: "valid", secret, bodySigned: true, id: batchId(json()) }
  },
}

/** PEM, or the base64 of the DER form as SendGrid shows it; undefined when it is no P-256 key. */
export function readPublicKey(text: string): KeyObject | undefined {
  try {
    const key = text.includes("-----BEGIN")
      ? createPublicKey(text)
      : createPublicKey({ key: Buffer.from(text, "base64"), format: "der", type: "spki" })
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined
  } catch {
    // Node has no code for "this is not a key": whatever OpenSSL says, the answer is that there is none.
    return undefined
  }
}

/** The events of a batch have ids, the batch has none: it is the same batch when it has the same events. */
function batchId(payload: Json | undefined): DeliveryId | undefined {
  if (!Array.isArray(payload) || payload.length === 0) return undefined
  const ids = payload.map((event) => textAt(event, "sg_event_id"))
  if (ids.includes(undefined)) return undefined
  if (ids.length === 1) return deliveryId(ids[0], true)
  return deliveryId(createHash("sha256").update(JSON.stringify(ids)).digest("hex"), true)
}
