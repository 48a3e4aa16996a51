// One line for each thing that was not answered in a group, unless the same happens again and again: then one line a
// minute, with how often.
import type { Clock, Log } from "../../../kernel/index.ts"

const againMs = 60_000
/** Beyond this many chats and reasons the oldest is forgotten, and told of at once when it happens again. */
const maxKeys = 2_000

interface Told {
  at: number
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

  note(drop: { update: string; chat: string | undefined; reason: string }): void {
    const key = `${drop.chat} ${drop.reason}`
    const now = this.#clock.now()
    const told = this.#told.get(key)
    if (told && now - told.at < againMs) {
      told.unseen += 1
      return
    }
    const unseen = told?.unseen ?? 0
    this.#told.delete(key)
    if (this.#told.size >= maxKeys) this.#told.delete(this.#told.keys().next().value as string)
    this.#told.set(key, { at: now, unseen: 0 })
    this.#log.info({ ...drop, ...(unseen > 0 ? { alsoSkipped: unseen } : {}) }, "skipping group message")
  }
}
