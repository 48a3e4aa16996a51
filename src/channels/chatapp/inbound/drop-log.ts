// One line for each message that is dropped, with all that `svc channels explain` asks for. Only when the same happens
// more than a few times a minute the rest is counted, and told with the first line of the next minute.
import type { Clock, Log } from "../../../kernel/index.ts"

const windowMs = 60_000
/** Enough for somebody who tries out why they are not answered. */
const linesPerWindow = 10
/** Beyond this many chats and reasons the oldest is forgotten. */
const maxKeys = 2_000

export interface Drop {
  update: string
  chat: string
  topic?: string | undefined
  sender?: string | undefined
  reason: string
}

interface Told {
  since: number
  lines: number
  unseen: number
}

export class DropLog {
  readonly #log: Log
  readonly #clock: Clock
  readonly #told = new Map<string, Told>()

  constructor(options: { log: Log; clock: Clock }) {
    this.#log = options.log
    this.#clock = options.clock
  }

  note(drop: Drop): void {
    const isGroup = drop.chat.startsWith("-")
    // Every stranger has a private chat of their own: a flood of them is one thing, not many.
    const told = this.#windowOf(isGroup ? `${drop.chat} ${drop.reason}` : drop.reason)
    if (told.lines >= linesPerWindow) {
      told.unseen += 1
      return
    }
    told.lines += 1
    const alsoSkipped = told.unseen
    told.unseen = 0
    this.#log.info(
      { ...drop, ...(alsoSkipped > 0 ? { alsoSkipped } : {}) },
      isGroup ? "skipping group message" : "skipping direct message",
    )
  }

  #windowOf(key: string): Told {
    const now = this.#clock.now()
    const known = this.#told.get(key)
    if (known && Math.abs(now - known.since) < windowMs) return known
    this.#told.delete(key)
    if (this.#told.size >= maxKeys) this.#told.delete(this.#told.keys().next().value as string)
    const fresh = { since: now, lines: 0, unseen: known?.unseen ?? 0 }
    this.#told.set(key, fresh)
    return fresh
  }
}
