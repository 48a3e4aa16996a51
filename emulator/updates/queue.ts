// The updates of one bot that it has not confirmed yet: numbered, filtered when they are made, forgotten when expired.
// Both ways of delivery, long polling and the webhook, read from here.
import type { Clock } from "../clock.ts"
import type { Random } from "../random.ts"
import { defaultKinds, lifetimeMs, updateKinds } from "./kinds.ts"

export interface QueuedUpdate {
  id: number
  kind: string
  /** The update as it goes over the wire. */
  json: string
  expiresAt: number
  /** Updates of one lane reach a webhook one after the other. */
  lane: string
}

export interface NewUpdate {
  kind: string
  payload: unknown
  lane: string
  /** Milliseconds since the epoch of what happened; the update expires a fixed time after it. Default: now. */
  happenedAt?: number
}

const maxPending = 200_000
const maxAnswerBytes = 4 * 1024 * 1024

export class UpdateQueue {
  readonly #clock: Clock
  readonly #random: Random
  readonly #onAdded = new Set<(update: QueuedUpdate) => void>()
  #updates: QueuedUpdate[] = []
  #nextId: number
  #lastAddedAt: number
  #allowed = defaultKinds()
  #isAllowedDefault = true
  #repeats = 0
  #replayed: QueuedUpdate[] = []

  constructor({ clock, random }: { clock: Clock; random: Random }) {
    this.#clock = clock
    this.#random = random
    this.#nextId = random.integer(100_000_000, 900_000_000)
    this.#lastAddedAt = clock.now()
  }

  /** Adds an update if the bot asked for its kind, and returns its id. */
  add({ kind, payload, lane, happenedAt }: NewUpdate): number | undefined {
    if (!this.#allowed.has(kind)) return undefined
    return this.addRaw({ kind, fields: { [kind]: payload }, lane, happenedAt: happenedAt ?? this.#clock.now() })
  }

  /** Adds an update whatever the bot asked for; its id may be given. */
  addRaw(update: { kind: string; fields: object; lane: string; happenedAt: number; id?: number }): number {
    const now = this.#clock.now()
    if (update.id !== undefined) this.#nextId = update.id
    else if (now - this.#lastAddedAt > 7 * 24 * 60 * 60 * 1000) this.jumpId()
    this.#lastAddedAt = now
    const id = this.#nextId++
    const json = JSON.stringify({ update_id: id, ...update.fields })
    const expiresAt = update.happenedAt + lifetimeMs(update.kind)
    const queued = { id, kind: update.kind, json, expiresAt, lane: update.lane }
    this.#updates.push(queued)
    if (this.#updates.length > maxPending) this.#updates.splice(0, this.#updates.length - maxPending)
    for (const listener of this.#onAdded) listener(queued)
    return id
  }

  /** Returns the function that ends the subscription. */
  onAdded(listener: (update: QueuedUpdate) => void): () => void {
    this.#onAdded.add(listener)
    return () => {
      this.#onAdded.delete(listener)
    }
  }

  /** All updates that wait, oldest first. */
  pending(): readonly QueuedUpdate[] {
    this.#dropExpired()
    return this.#updates
  }

  /**
   * What getUpdates with this offset returns; it forgets what the offset confirms. A positive offset beyond the ids
   * that the queue gave out starts from the oldest, as the platform does after a jump of the ids.
   */
  take(offset: number, limit: number): QueuedUpdate[] {
    this.#dropExpired()
    if (offset < 0) this.#forget(Math.max(0, this.#updates.length + offset))
    else if (offset > 0 && offset <= this.#nextId) this.#forget(this.#countBefore(offset))
    const taken = cap([...this.#replayed, ...this.#updates.slice(0, limit)], limit)
    this.#replayed = this.#replayed.slice(taken.length)
    return taken
  }

  /** A webhook delivered it, or it expired: forgets this one. */
  remove(update: QueuedUpdate): void {
    const index = this.#updates.indexOf(update)
    if (index >= 0) this.#updates.splice(index, 1)
  }

  clear(): void {
    this.#updates = []
    this.#replayed = []
  }

  jumpId(to?: number): void {
    this.#nextId = to ?? this.#random.integer(100_000_000, 900_000_000)
  }

  /** The next `count` updates that are confirmed come once more, as after a failure of the platform's own store. */
  repeatConfirmed(count: number): void {
    this.#repeats += count
  }

  /** Whether the update just delivered by webhook is to be sent again. */
  takeRepeat(): boolean {
    if (this.#repeats <= 0) return false
    this.#repeats -= 1
    return true
  }

  /** `undefined` keeps what was set before; an empty list is the default set. Unknown names are ignored. */
  allow(kinds: readonly string[] | undefined): void {
    if (kinds === undefined) return
    const known = kinds
      .map((kind) => kind.toLowerCase())
      .filter((kind) => (updateKinds as readonly string[]).includes(kind))
    this.#isAllowedDefault = known.length === 0
    this.#allowed = known.length === 0 ? defaultKinds() : new Set(known)
  }

  /** The kinds the bot asked for, or undefined while it has the default set. */
  allowed(): string[] | undefined {
    return this.#isAllowedDefault ? undefined : [...this.#allowed]
  }

  #countBefore(offset: number): number {
    const first = this.#updates.findIndex((update) => update.id >= offset)
    if (first >= 0) return first
    return this.#updates.length
  }

  #forget(count: number): void {
    const forgotten = this.#updates.splice(0, count)
    const repeats = Math.min(this.#repeats, forgotten.length)
    this.#repeats -= repeats
    if (repeats > 0) this.#replayed.push(...forgotten.slice(-repeats))
  }

  #dropExpired(): void {
    const now = this.#clock.now()
    if (this.#updates.some((update) => update.expiresAt <= now)) {
      this.#updates = this.#updates.filter((update) => update.expiresAt > now)
    }
  }
}

/** At most `limit` updates, and about 4 MiB of them; the first one always. */
function cap(updates: QueuedUpdate[], limit: number): QueuedUpdate[] {
  let bytes = 0
  const answer: QueuedUpdate[] = []
  for (const update of updates) {
    bytes += update.json.length
    if (answer.length >= limit || (answer.length > 0 && bytes > maxAnswerBytes)) break
    answer.push(update)
  }
  return answer
}
