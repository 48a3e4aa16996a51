// Slows down whoever guesses secrets: after `limit` failures in `windowMs` an address gets 429 until the window
// has passed. It is asked only after a check has failed, so a valid secret always passes.
import type { Clock } from "../clock.ts"

export interface FailureThrottle {
  /** Counts a failure of this address; the seconds to wait when it has used up its tries, else 0. */
  fail(address: string): number
}

/** Bounds the memory that a flood from many addresses can take. */
const maxAddresses = 10_000

export function createFailureThrottle(options: { clock: Clock; limit?: number; windowMs?: number }): FailureThrottle {
  const limit = options.limit ?? 20
  const windowMs = options.windowMs ?? 60_000
  const failures = new Map<string, { count: number; until: number }>()
  return {
    fail(address) {
      const now = options.clock.monotonic()
      const key = clientOf(address)
      let entry = failures.get(key)
      if (!entry || entry.until <= now) {
        entry = { count: 0, until: now + windowMs }
        failures.delete(key)
        if (failures.size >= maxAddresses) failures.delete(failures.keys().next().value as string)
        failures.set(key, entry)
      }
      entry.count += 1
      return entry.count > limit ? Math.max(1, Math.ceil((entry.until - now) / 1000)) : 0
    },
  }
}

/** `::ffff:127.0.0.1` and `127.0.0.1` are one client. */
export function plainAddress(address: string): string {
  return /^::ffff:[\d.]+$/i.test(address) ? address.slice(7) : address
}

/**
 * Who an address stands for: an IPv6 client has a whole network of 64 bits, and may use another address of it for
 * every request.
 */
export function clientOf(address: string): string {
  const plain = plainAddress(address.split("%", 1)[0] ?? "")
  if (!plain.includes(":")) return plain
  const [before = "", after] = plain.split("::", 2)
  const first = groups(before)
  const last = after === undefined ? [] : groups(after)
  const zeros = after === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  const all = [...first, ...Array<string>(zeros).fill("0"), ...last]
  return `${all.slice(0, 4).join(":")}::/64`
}

function groups(text: string): string[] {
  return text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16).toString(16))
}
