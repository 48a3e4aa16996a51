// A secret that cannot be printed by accident: every way of turning it into text gives `***`.
import { createHash, timingSafeEqual } from "node:crypto"
import { inspect } from "node:util"

export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The only way to the value; call it where the value leaves the process. */
  reveal(): string {
    return this.#value
  }

  /** Constant-time for any length and any characters: both sides are hashed first. */
  matches(candidate: string): boolean {
    return timingSafeEqual(digest(candidate), digest(this.#value))
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
