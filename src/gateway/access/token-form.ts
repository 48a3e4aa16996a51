// The form of a token with scopes: `svct_<id>_<secret>`. The prefix lets scanners and our own redactor know it; the id is
// public and finds the row; the secret has 256 random bits, and only its SHA-256 is kept.
import { createHash, timingSafeEqual } from "node:crypto"
import type { Ids } from "../../kernel/index.ts"

const secretBytes = 32
const idCharacters = 10
const idAlphabet = "abcdefghjkmnpqrstuvwxyz23456789"

export interface NewToken {
  id: string
  /** The whole, as its holder sends it. */
  text: string
  hash: string
}

export function makeToken(ids: Ids): NewToken {
  const id = Array.from({ length: idCharacters }, () => idAlphabet[ids.below(idAlphabet.length)]).join("")
  const secret = ids.token(secretBytes)
  return { id, text: `svct_${id}_${secret}`, hash: hashOf(secret) }
}

/** Undefined for what has not the form at all, such as the gateway's own token. */
export function parseToken(text: string): { id: string; secret: string } | undefined {
  const match = /^svct_([a-z0-9]{10})_([A-Za-z0-9_-]{43})$/.exec(text)
  return match ? { id: match[1] as string, secret: match[2] as string } : undefined
}

/** A random secret of this length needs no salt and no slow hash: there is nothing to guess. */
export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex")
}

/** Constant-time; without a hash it works as long and is false. */
export function fits(secret: string, hash: string | undefined): boolean {
  const given = Buffer.from(hashOf(secret), "hex")
  const kept = hash === undefined ? Buffer.alloc(given.length) : Buffer.from(hash, "hex")
  return timingSafeEqual(given, kept) && hash !== undefined
}
