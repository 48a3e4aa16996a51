// Flood limits of one bot: buckets that refill, per chat and for the whole bot. The platform publishes no exact values,
// so all of them can be set; whoever ignores a 429 waits twice as long.
import { BoundedMap } from "./bounded-map.ts"
import type { Clock } from "./clock.ts"
import { tooManyRequests } from "./errors.ts"

export interface Rate {
  /** Calls that are allowed at once. */
  burst: number
  /** Calls that refill in a second. */
  perSecond: number
}

export interface FloodLimits {
  /** Messages and edits in one private chat. */
  privateChat: Rate
  /** Messages and edits in one group or channel. */
  group: Rate
  /** Messages and edits of the bot in all chats. */
  global: Rate
  /** Chat actions and drafts in one chat. */
  ephemeral: Rate
}

export const defaultFloodLimits: FloodLimits = {
  privateChat: { burst: 5, perSecond: 1 },
  group: { burst: 20, perSecond: 20 / 60 },
  global: { burst: 30, perSecond: 30 },
  ephemeral: { burst: 20, perSecond: 5 },
}

interface Bucket {
  tokens: number
  filledAt: number
  /** Until then every call is refused, and lengthens the wait. */
  blockedUntil: number
  penaltySeconds: number
}

export class Flood {
  readonly #clock: Clock
  readonly #limits: FloodLimits | undefined
  readonly #buckets = new BoundedMap<string, Bucket>(20_000)

  constructor({ clock, limits }: { clock: Clock; limits: FloodLimits | undefined }) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Counts a message or an edit; an album counts each of its items. Throws 429 when the limit is reached. */
  countMessage(chatId: number, isPrivate: boolean, messages = 1): void {
    if (!this.#limits) return
    const chatRate = isPrivate ? this.#limits.privateChat : this.#limits.group
    this.#take(`chat:${chatId}`, chatRate, messages)
    this.#take("global", this.#limits.global, messages)
  }

  /** Counts a chat action or a draft. */
  countEphemeral(chatId: number): void {
    if (this.#limits) this.#take(`ephemeral:${chatId}`, this.#limits.ephemeral, 1)
  }

  #take(key: string, rate: Rate, count: number): void {
    const now = this.#clock.now()
    const bucket = this.#buckets.get(key) ?? { tokens: rate.burst, filledAt: now, blockedUntil: 0, penaltySeconds: 0 }
    this.#buckets.set(key, bucket)
    bucket.tokens = Math.min(rate.burst, bucket.tokens + ((now - bucket.filledAt) / 1000) * rate.perSecond)
    bucket.filledAt = now
    if (now < bucket.blockedUntil) {
      bucket.penaltySeconds = Math.min(bucket.penaltySeconds * 2, 3600)
      bucket.blockedUntil = now + bucket.penaltySeconds * 1000
      throw tooManyRequests(bucket.penaltySeconds)
    }
    const needed = Math.min(count, rate.burst)
    if (bucket.tokens >= needed) {
      bucket.tokens -= needed
      return
    }
    bucket.penaltySeconds = Math.max(1, Math.ceil((needed - bucket.tokens) / rate.perSecond))
    bucket.blockedUntil = now + bucket.penaltySeconds * 1000
    throw tooManyRequests(bucket.penaltySeconds)
  }
}
