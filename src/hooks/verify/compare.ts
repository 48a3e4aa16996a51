// Comparing signatures without telling by the time it takes how much of a guess was right, and checking signed times.
import { createHash, createHmac, timingSafeEqual } from "node:crypto"

export type Encoding = "hex" | "base64"
type Bytes = string | Buffer

/** More than any sender puts into one header (one for each of its active secrets). */
const maxSignatures = 20

/** HMAC over the parts, one after the other. */
export function hmac(algorithm: "sha1" | "sha256", key: Bytes, parts: readonly Bytes[], encoding: Encoding): string {
  const mac = createHmac(algorithm, key)
  for (const part of parts) mac.update(part)
  return mac.digest(encoding)
}

/** Both sides are hashed first, so that neither length nor content shows in the time taken. */
export function equalText(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right))
}

/**
 * The secret by which one of the given signatures was made. Every secret is tried against every signature, also after
 * one has fitted: the time taken tells only how many there are.
 */
export function findSecret(
  secrets: readonly string[],
  given: readonly string[],
  expected: (secret: string) => readonly string[],
): string | undefined {
  const candidates = given.slice(0, maxSignatures)
  let found: string | undefined
  for (const secret of secrets) {
    for (const wanted of expected(secret)) {
      for (const candidate of candidates) {
        if (equalText(wanted, candidate)) found ??= secret
      }
    }
  }
  return found
}

/** Hex digits may be written in either case; anything that is not hex stays as it is and fits nothing. */
export function normalHex(text: string): string {
  return /^[0-9a-f]+$/i.test(text) ? text.toLowerCase() : text
}

/** Whether a time in Unix seconds (as text) is a time at all, and near enough to `now` on both sides. */
export function isRecent(seconds: string, now: number, toleranceMs: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) * 1000 - now) <= toleranceMs
}

export const reasons = {
  missing: "the signature is missing",
  wrong: "the signature does not fit",
  late: "the signed time is too far from ours",
} as const

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}
