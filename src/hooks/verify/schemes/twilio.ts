// Twilio: `X-Twilio-Signature: <base64>`, an HMAC-SHA1 over the address as Twilio has it and the sorted form fields.
// A JSON body is covered by its hash in the address (`bodySHA256`). Names and values are signed without a separator:
// that is Twilio's own form, and the reason why the whole body's hash, not a field, tells most deliveries apart.
import { createHash } from "node:crypto"
import { equalText, findSecret, hmac, normalHex, reasons } from "../compare.ts"
import { type DeliveryId, type Scheme, type SchemeInput, refused } from "../contract.ts"
import { deliveryId } from "../delivery-id.ts"

export const twilio: Scheme = {
  headers: () => ["x-twilio-signature", "content-type", "i-twilio-idempotency-token"],
  verify(input) {
    const given = input.header("x-twilio-signature")
    if (!given) return refused(reasons.missing)
    const address = signedAddress(input.url, input.settings.publicUrl)
    const bodyHash = queryValue(address, "bodySHA256")
    const form = bodyHash === undefined ? readForm(input) : new URLSearchParams()
    const fields = sortedFields(form)
    const secret = findSecret(input.secrets, [given], (key) =>
      portVariants(address).map((url) => hmac("sha1", key, [url, fields], "base64")),
    )
    if (secret === undefined) return refused(reasons.wrong)
    if (!isBodyCovered(input, bodyHash)) return refused("the signature does not cover the body")
    return { kind: "valid", secret, bodySigned: true, id: idOf(input, form) }
  },
}

/** The address that the sender was given: `publicUrl` where a proxy stands between, with the query of this request. */
function signedAddress(url: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined) return url
  const [, path = "/", query = ""] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(url) ?? []
  const hasPath = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\/[^?#]/i.test(publicUrl)
  const base = hasPath ? publicUrl : `${publicUrl.replace(/\/$/, "")}${path}`
  return base.includes("?") ? base : `${base}${query}`
}

/** Twilio signs with the standard port at some times and without at others. */
function portVariants(url: string): string[] {
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^]*)/i.exec(url)
  if (!match) return [url]
  const [, scheme = "", authority = "", rest = ""] = match
  const bare = authority.replace(/:\d+$/, "")
  const standard = scheme.toLowerCase() === "https" ? 443 : 80
  const withPort = authority === bare ? `${bare}:${standard}` : authority
  return [`${scheme}://${bare}${rest}`, `${scheme}://${withPort}${rest}`]
}

function queryValue(url: string, name: string): string | undefined {
  return new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? "").get(name) ?? undefined
}

function isForm({ header }: SchemeInput): boolean {
  return header("content-type")?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false
}

function readForm(input: SchemeInput): URLSearchParams {
  return new URLSearchParams(isForm(input) ? input.rawBody.toString("utf8") : "")
}

function sortedFields(form: URLSearchParams): string {
  // By UTF-16 code units, as Twilio's own libraries sort; the values of a repeated name once each.
  const names = [...new Set(form.keys())].sort()
  return names.flatMap((name) => [...new Set(form.getAll(name))].sort().map((value) => `${name}${value}`)).join("")
}

function isBodyCovered(input: SchemeInput, bodyHash: string | undefined): boolean {
  if (bodyHash === undefined) return input.rawBody.length === 0 || isForm(input)
  return equalText(createHash("sha256").update(input.rawBody).digest("hex"), normalHex(bodyHash))
}

/**
 * A message that came in has an id of its own. Status callbacks and steps of a call repeat theirs, so for these the
 * token of the attempt is given, which is not signed: the body's hash decides.
 */
function idOf({ header }: SchemeInput, form: URLSearchParams): DeliveryId | undefined {
  const isIncoming = form.get("SmsStatus") === "received" && !form.has("MessageStatus")
  const sid = isIncoming ? form.get("MessageSid") : null
  if (sid !== null && sid !== "") return deliveryId(sid, true)
  return deliveryId(header("i-twilio-idempotency-token"), false)
}
