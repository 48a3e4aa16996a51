// A value under the key: AES-256-GCM with a nonce of its own. What the secret is bound to is part of the proof, so that a
// row whose origins somebody has changed opens no more.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

export function seal(key: Buffer, boundTo: string, value: string): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(boundTo))
  const body = Buffer.concat([cipher.update(value, "utf8"), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64")
}

/** Undefined where the key is another, or anything was changed. */
export function unseal(key: Buffer, boundTo: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64")
  if (bytes.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decipher.setAAD(Buffer.from(boundTo)).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString("utf8")
  } catch {
    // The only error there is: it does not fit.
    return undefined
  }
}
