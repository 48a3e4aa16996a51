// Identifiers as injected values, so that tests are exact.
import { randomBytes, randomInt, randomUUID } from "node:crypto"

export interface Ids {
  /** Ordered by time (RFC 9562, version 7): as a key it keeps an index dense, where random ids would touch a page each. */
  uuid(): string
  /** A secret of `bytes` random bytes, base64url. */
  token(bytes: number): string
  /** A whole number in [0, max). */
  below(max: number): number
}

export const systemIds: Ids = {
  uuid: () => timeOrdered(randomUUID(), Date.now()),
  token: (bytes) => randomBytes(bytes).toString("base64url"),
  below: (max) => randomInt(max),
}

/** Version 7 out of a version 4: the first 48 bits become milliseconds, the version digit follows. */
function timeOrdered(random: string, now: number): string {
  const time = now.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${random.slice(15)}`
}
