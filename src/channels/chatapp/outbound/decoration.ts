// Decoration: reactions of ours, the ack taken back behind a reply. Rows of the outbox, so that a restart does not forget
// them, but in a lane of their own beside their chat's: no reply ever waits for one. They have limits of their own, few
// places and short calls, and are given up without a word to anybody but the debug log and a counter.
import type { Pace, SendOutcome } from "../../../delivery/contract.ts"
import type { Clock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { NewOutbox, OutboxRow, Store } from "../../../store/index.ts"
import { addressOf } from "./address.ts"

const suffix = ":decoration"
/** Under way at once, of all accounts: the outbox has 32 places, and replies want nearly all of them. */
const maxUnderWay = 4
const maxAttempts = 3
const retryMs = 1_000
/** A pause that the platform asks for is waited for no longer than that: nobody looks at the message by then. */
const longestPauseMs = 60_000
/** Between two looks whether the reply has gone. */
const lookMs = { first: 100, most: 30_000 }
/** How long a place is waited for. */
const placeMs = 100

/** Of a row that is decoration. */
export function decorationOf(route: Route): ReturnType<typeof addressOf> {
  const address = addressOf(route)
  return { ...address, laneKey: decorationLane(address.laneKey) }
}

export function decorationLane(laneKey: string): string {
  return `${laneKey}${suffix}`
}

export function isDecorationLane(laneKey: string): boolean {
  return laneKey.endsWith(suffix)
}

export function isDecoration(row: Pick<OutboxRow, "kind">): boolean {
  return row.kind === "react"
}

/** A reaction; `afterReply` is set on one that must not come before what its turn has written. */
export interface ReactRow {
  messageId: string
  emoji: string | null
  afterReply?: true
}

export function reactRow(route: Route, { messageId, emoji, afterReply }: ReactRow): NewOutbox {
  const payload = { messageId, emoji, ...(afterReply ? { afterReply } : {}) }
  return { ...decorationOf(route), kind: "react", payload }
}

/** The places of decoration, and the pauses that the platform has asked for. One of a channel. */
export class DecorationPlaces {
  readonly #store: Store
  readonly #clock: Clock
  readonly #underWay = new Set<number>()
  /** By account, monotonic. */
  readonly #pausedUntil = new Map<string, number>()

  constructor({ store, clock }: { store: Store; clock: Clock }) {
    this.#store = store
    this.#clock = clock
  }

  /** `go` takes a place, until `ended`. */
  take(row: OutboxRow): Pace {
    // Asked again without an end: it was not sent.
    this.#underWay.delete(row.id)
    const pauseMs = (this.#pausedUntil.get(row.account) ?? 0) - this.#clock.monotonic()
    if (pauseMs > 0) return { kind: "chat", delayMs: Math.ceil(pauseMs) }
    if (this.#isReplyOpen(row)) {
      const age = Math.max(0, this.#clock.now() - row.created_at)
      return { kind: "chat", delayMs: Math.round(Math.min(lookMs.first + age / 4, lookMs.most)) }
    }
    if (this.#underWay.size >= maxUnderWay) return { kind: "chat", delayMs: placeMs }
    this.#underWay.add(row.id)
    return { kind: "go" }
  }

  ended(row: OutboxRow): void {
    this.#underWay.delete(row.id)
  }

  /** The platform has answered 429: the account's other decoration waits too, its replies do not. */
  pause(account: string, ms: number): void {
    this.#pausedUntil.set(account, this.#clock.monotonic() + Math.min(ms, longestPauseMs))
  }

  #isReplyOpen({ id, lane_key: lane, payload }: OutboxRow): boolean {
    if (!isDecorationLane(lane) || !(JSON.parse(payload) as ReactRow).afterReply) return false
    const row = this.#store.handle
      .prepare("select 1 from outbox where lane_key = ? and state in ('new', 'sending') and id < ? limit 1")
      .get(lane.slice(0, -suffix.length), id)
    return row !== undefined
  }
}

/** A few quick tries, then nothing more of it. */
export function judgeDecoration(outcome: SendOutcome, row: OutboxRow): SendOutcome {
  if (outcome.kind === "sent" || outcome.kind === "replace") return outcome
  const { error } = outcome
  const isWorthIt = outcome.kind === "retry" && row.attempts < maxAttempts && outcome.delayMs <= longestPauseMs
  return isWorthIt ? { ...outcome, delayMs: Math.max(outcome.delayMs, retryMs) } : { kind: "dropped", error }
}
