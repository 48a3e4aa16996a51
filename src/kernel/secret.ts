// A secret that cannot be printed by accident: every way of turning it into text gives `***`.
import { createHash, timingSafeEqual } from "node:crypto"
import { inspect } from "node:util"

export class Secret {
  readonly #value: string
  readonly #digests: readonly Buffer[]

  /** `others` are as good as the value: they match too, and are never revealed here. */
  constructor(value: string, others: readonly string[] = []) {
    this.#value = value
    this.#digests = [value, ...others].map(digest)
  }

  /** The only way to the value; call it where the value leaves the process. */
  reveal(): string {
    return this.#value
  }

  /** Constant-time for any length and any characters: both sides are hashed, ours once. */
  matches(candidate: string): boolean {
    const given = digest(candidate)
    // All of them, so that the time says nothing about which.
    return this.#digests.filter((known) => timingSafeEqual(given, known)).length > 0
  }

  toString(): string {
    return "***"
  }

  toJSON(): string {
    return "***"
  }

  [inspect.custom](): string {
    return "***"
  }
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}

/** What keeps a secret from being guessed by anybody who may try as often as the throttle lets them. */
export const leastSecretCharacters = 24
/** Letters of a word or a row of the same are guessed early, however long. */
const leastDifferent = 8
/** What guides and examples put in the place of a secret. */
const placeholder = /^<[^<>]*>$|^\$\{|\.\.\.|change[-_ ]?me|your[-_ ]|placeholder|example/i

/** Why a secret that callers send in a header is weak, as `is ...` or `has ...`; undefined when it is not. */
export function secretWeakness(secret: string): string | undefined {
  const plain = secret.trim()
  if (plain === "") return "is blank"
  if (!/^[\x21-\x7e]+$/.test(plain)) {
    return "has characters that cannot be sent in a header; use letters, digits and signs of ASCII without spaces"
  }
  if (plain !== secret) return "has spaces at its ends, which no caller can send"
  if (plain.length < leastSecretCharacters) return `is shorter than ${leastSecretCharacters} characters`
  if (placeholder.test(plain)) return "looks like a placeholder"
  if (new Set(plain).size < leastDifferent) return `has fewer than ${leastDifferent} different characters`
  return undefined
}
