// When the next message of an account may go: one bucket a chat and one for the whole bot, by the limits that the
// platform names, and slower where it has answered 429. Typing and drafts have a budget of their own (typing.ts).
//
// The platform counts a message when it arrives, which is some time between its call's begin and end. A place is taken at
// the begin and refills only from the end on: so each bucket holds at most what the platform's does, however late calls
// and timers are, and calls that jam on the way and arrive together are no more than it takes at once.
import type { Pace } from "../../../delivery/contract.ts"
import type { Clock } from "../../../kernel/index.ts"

interface Rate {
  /** Messages at once. */
  burst: number
  /** The same after a 429. */
  smallBurst: number
  perSecond: number
}

/** About 30 a second to all chats; a little less, because its clock and ours are not one. */
const botRate: Rate = { burst: 28, smallBurst: 5, perSecond: 29.4 }
/**
 * One a second to a person, short bursts allowed; how short, the platform does not say. A lively talk must not wait, so
 * the burst is a minute's worth, and a chat in which it was too much is held back for a while.
 */
const privateRate: Rate = { burst: 60, smallBurst: 1, perSecond: 0.95 }
/** Twenty a minute to a group, in whichever minute one looks: 8 at once and 12 that refill. */
const groupRate: Rate = { burst: 8, smallBurst: 1, perSecond: 0.2 }

/** After a 429 only small bursts for this long. */
const cautionMs = 60_000
/** The platform does not say whose limit was met: so many chats within this time mean that it is the bot's. */
const sharedBy = { chats: 3, withinMs: 1_000 }
/** Beyond this, chats whose bucket is full again are forgotten. */
const maxChats = 5_000

interface Bucket {
  tokens: number
  /** Of calls that have not ended: gone, but not refilling yet. */
  underWay: number
  filledAt: number
  blockedUntil: number
  cautiousUntil: number
}

/** A row that is to be sent. */
export interface PacedRow {
  id: number
  chatId: string
  /** What it counts for the platform: an album each of its items, a reaction nothing. */
  messages: number
}

/** One per account. Times are the clock's monotonic milliseconds. */
export class SendPacer {
  readonly #clock: Clock
  readonly #bot: Bucket
  readonly #chats = new Map<string, Bucket>()
  /** By row. */
  readonly #underWay = new Map<number, PacedRow & { chat: Bucket; rate: Rate }>()
  #refusals: { chatId: string; at: number }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
    this.#bot = newBucket(botRate, clock.monotonic())
  }

  /** Takes the row's place when it may go now, until `ended` or `refused`; else says how long, and for whom, to wait. */
  take(row: PacedRow): Pace {
    // Asked again without an end: it was not sent.
    this.#release(row.id)
    const now = this.#clock.monotonic()
    const { chatId, messages } = row
    const rate = chatId.startsWith("-") || chatId.startsWith("@") ? groupRate : privateRate
    const chat = this.#chat(chatId, rate, now)
    const chatWait = waitMs(chat, rate, messages, now)
    if (chatWait > 0) return { kind: "chat", delayMs: chatWait }
    const botWait = waitMs(this.#bot, botRate, messages, now)
    if (botWait > 0) return { kind: "account", delayMs: botWait }
    chat.underWay += messages
    this.#bot.underWay += messages
    this.#underWay.set(row.id, { ...row, chat, rate })
    return { kind: "go" }
  }

  /** Its call is over: by now the platform has counted it. */
  ended(id: number): void {
    const row = this.#release(id)
    if (!row) return
    const now = this.#clock.monotonic()
    spend(row.chat, row.rate, row.messages, now)
    spend(this.#bot, botRate, row.messages, now)
  }

  /** The platform has not taken it, and asks to wait. */
  refused(id: number, retryAfterMs: number): void {
    const row = this.#release(id)
    if (!row) return
    const { chatId, chat } = row
    const now = this.#clock.monotonic()
    hold(chat, now, retryAfterMs)
    const recent = this.#refusals.filter((other) => other.chatId !== chatId && now - other.at < sharedBy.withinMs)
    this.#refusals = [...recent, { chatId, at: now }]
    if (this.#refusals.length >= sharedBy.chats) hold(this.#bot, now, retryAfterMs)
  }

  #release(id: number) {
    const row = this.#underWay.get(id)
    if (!row) return undefined
    this.#underWay.delete(id)
    row.chat.underWay -= row.messages
    this.#bot.underWay -= row.messages
    return row
  }

  #chat(chatId: string, rate: Rate, now: number): Bucket {
    const known = this.#chats.get(chatId)
    if (known) return known
    if (this.#chats.size >= maxChats) this.#forget(now)
    const bucket = newBucket(rate, now)
    this.#chats.set(chatId, bucket)
    return bucket
  }

  #forget(now: number): void {
    for (const [chatId, bucket] of this.#chats) {
      const rested = now - bucket.filledAt > 2 * cautionMs
      if (rested && now > bucket.blockedUntil) this.#chats.delete(chatId)
    }
  }
}

function newBucket({ burst }: Rate, now: number): Bucket {
  return { tokens: burst, underWay: 0, filledAt: now, blockedUntil: 0, cautiousUntil: 0 }
}

function capacity(bucket: Bucket, { burst, smallBurst }: Rate, now: number): number {
  return now < bucket.cautiousUntil ? smallBurst : burst
}

function refill(bucket: Bucket, rate: Rate, now: number): void {
  const elapsedMs = Math.max(0, now - bucket.filledAt)
  bucket.tokens = Math.min(capacity(bucket, rate, now), bucket.tokens + (elapsedMs / 1000) * rate.perSecond)
  bucket.filledAt = Math.max(bucket.filledAt, now)
}

/** 0 when so many may go now. More than the bucket ever holds may go when it is full. */
function waitMs(bucket: Bucket, rate: Rate, messages: number, now: number): number {
  // Whole milliseconds: the store keeps no parts of them.
  if (now < bucket.blockedUntil) return Math.ceil(bucket.blockedUntil - now)
  refill(bucket, rate, now)
  const missing = Math.min(messages, capacity(bucket, rate, now)) - (bucket.tokens - bucket.underWay)
  return missing <= 1e-9 ? 0 : Math.ceil((missing / rate.perSecond) * 1000)
}

function spend(bucket: Bucket, rate: Rate, messages: number, now: number): void {
  refill(bucket, rate, now)
  bucket.tokens -= Math.min(messages, capacity(bucket, rate, now))
}

function hold(bucket: Bucket, now: number, retryAfterMs: number): void {
  bucket.blockedUntil = Math.max(bucket.blockedUntil, now + retryAfterMs)
  bucket.cautiousUntil = bucket.blockedUntil + cautionMs
  bucket.tokens = 1
  bucket.filledAt = bucket.blockedUntil
}
