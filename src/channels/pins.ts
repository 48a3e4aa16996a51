// A listed @name is worth as much as the id it stands for, and names can change hands: sender -> first id seen under the
// name -> pinned for as long as the name is listed. Another id under the same name is a stranger. Memory follows the
// table: a pin is made here, written by `flush` in the transaction of its message, and undone by `reload` when it fails.
import type { Log } from "../kernel/index.ts"
import type { Store, Write } from "../store/index.ts"
import type { Sender } from "./access.ts"
import { type NamePin, deletePin, markShutOut, readPins, savePin } from "./store.ts"

/** What the decision who may write asks. Names are lower-case, without the `@`. */
export interface PinBook {
  /** The names that count as this id's. */
  namesOf(senderId: string): readonly string[]
  /** A sender is about to be judged: called before the decision, for every sender. */
  see(sender: Sender): void
}

export interface NamePinsOptions {
  store: Store
  channel: string
  account: string
  /** The names that the account's lists hold; asked each time, because the configuration changes under a running gateway. */
  listed: () => ReadonlySet<string>
  now: () => number
  log: Log
}

/** Somebody under a name that is another's may try as often as they like: one line each time would fill the log. */
const warnAgainMs = 60 * 60 * 1000
const maxWarned = 1000

export class NamePins implements PinBook {
  readonly #options: NamePinsOptions
  #pins = new Map<string, NamePin>()
  /** The same by id, made when it is asked for. */
  #namesOf: Map<string, string[]> | undefined
  #listed: ReadonlySet<string> | undefined
  readonly #changed = new Set<string>()
  /** As they were written; what changes until that is on the disk is of the next `flush`. */
  readonly #flushed = new Map<string, NamePin | undefined>()
  readonly #warned = new Map<string, number>()
  /** Senders that were refused because their name is pinned to another id. */
  refused = 0

  constructor(options: NamePinsOptions) {
    this.#options = options
    this.reload()
  }

  /** The id that counts as this name; undefined while nobody has written under it. */
  idOf(name: string): string | undefined {
    this.#forgetUnlisted()
    return this.#pins.get(name)?.senderId
  }

  namesOf(senderId: string): readonly string[] {
    this.#forgetUnlisted()
    this.#namesOf ??= Map.groupBy(this.#pins.keys(), (name) => this.#pins.get(name)?.senderId ?? "")
    return this.#namesOf.get(senderId) ?? []
  }

  see({ id, username, isBot }: Sender): void {
    if (username === undefined || isBot) return
    this.#forgetUnlisted()
    const name = username.toLowerCase()
    if (!this.#listed?.has(name)) return
    const pin = this.#pins.get(name)
    if (!pin) {
      this.#pins.set(name, { name, senderId: id, pinnedAt: this.#options.now() })
      this.#namesOf = undefined
      this.#changed.add(name)
    } else if (pin.senderId !== id) this.#refuse(pin, id)
  }

  list(): NamePin[] {
    this.#forgetUnlisted()
    return [...this.#pins.values()]
  }

  /** Writes what changed since the last call. */
  flush(write: Write): void {
    const { channel, account } = this.#options
    for (const name of this.#changed) {
      const pin = this.#pins.get(name)
      if (pin) savePin(write, channel, account, pin)
      else deletePin(write, channel, account, name)
      this.#flushed.set(name, pin)
    }
    this.#changed.clear()
  }

  /** The transaction of `flush` is on the disk. */
  settle(): void {
    for (const [name, pin] of this.#flushed) {
      if (pin) this.#options.log.info({ name: `@${name}`, sender: pin.senderId }, "name pinned to id")
      else this.#options.log.info({ name: `@${name}` }, "name no longer listed: pin removed")
    }
    this.#flushed.clear()
  }

  /** The transaction of `flush` failed, or the process starts: the table says how things stand. */
  reload(): void {
    const { store, channel, account } = this.#options
    this.#changed.clear()
    this.#flushed.clear()
    this.#listed = undefined
    this.#pins = new Map(readPins(store, channel, account).map((pin) => [pin.name, pin]))
  }

  /** The next sender under this name is pinned anew. False when nothing was pinned. */
  async unpin(name: string): Promise<boolean> {
    const { store, channel, account, log } = this.#options
    const pin = this.#pins.get(name)
    if (!pin) return false
    const { senderId } = pin
    try {
      await store.write(async (write) => {
        deletePin(write, channel, account, name)
        markShutOut(write, { channel, account, senderId })
        // In step with the table: what is written next must not bring the pin back.
        this.#pins.delete(name)
        this.#namesOf = undefined
        this.#changed.delete(name)
      })
    } catch (error) {
      if (!this.#pins.has(name)) this.#pins.set(name, pin)
      this.#changed.add(name)
      this.#namesOf = undefined
      throw error
    }
    log.info({ name: `@${name}` }, "name unpinned")
    return true
  }

  /** Who takes a name off the list and puts it there again means whoever has it then. */
  #forgetUnlisted(): void {
    const listed = this.#options.listed()
    if (listed === this.#listed) return
    this.#listed = listed
    this.#namesOf = undefined
    for (const name of this.#pins.keys()) {
      if (listed.has(name)) continue
      this.#pins.delete(name)
      this.#changed.add(name)
    }
  }

  #refuse(pin: NamePin, id: string): void {
    this.refused += 1
    const { now, log, channel } = this.#options
    const key = `${pin.name} ${id}`
    const last = this.#warned.get(key)
    if (last !== undefined && now() - last < warnAgainMs) return
    if (this.#warned.size >= maxWarned) this.#warned.clear()
    this.#warned.set(key, now())
    const name = `@${pin.name}`
    const hint = `If the person has a new account: svc channels unpin ${channel} ${name}; better, list the numeric id`
    log.warn(
      { name, sender: id, pinned: pin.senderId, hint },
      "name belongs to another id: sender not recognised by it",
    )
  }
}
