// Any sender that puts the HMAC-SHA256 of the body into a header, as hex or base64, with or without `sha256=`.
import { trimEnd } from "../../../kernel/index.ts"
import { findSecret, hmac, normalHex, reasons } from "../compare.ts"
import { type Scheme, type VerifySettings, refused } from "../contract.ts"

const prefix = "sha256="
export const defaultSignatureHeader = "x-signature-256"

export const hmacSha256: Scheme = {
  headers: (settings) => [headerName(settings)],
  verify({ header, rawBody, secrets, settings }) {
    const value = header(headerName(settings))
    if (!value) return refused(reasons.missing)
    const given = value.startsWith(prefix) ? value.slice(prefix.length) : value
    const secret = findSecret(secrets, [normalHex(given)], (key) => {
      const hex = hmac("sha256", key, [rawBody], "hex")
      const base64 = Buffer.from(hex, "hex").toString("base64")
      return [hex, base64, trimEnd(base64, "=").replaceAll("+", "-").replaceAll("/", "_")]
    })
    if (secret === undefined) return refused(reasons.wrong)
    return { kind: "valid", secret, bodySigned: true }
  },
}

function headerName(settings: VerifySettings): string {
  return (settings.header ?? defaultSignatureHeader).toLowerCase()
}
