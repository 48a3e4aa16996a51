// Slows down whoever guesses pairing codes: ten wrong ones a minute and account, however they come in and also after a
// restart. Forty bits are not guessed with that.
import { AppError, type Clock } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"

const maxWrong = 10
const windowMs = 60_000

interface Tries {
  count: number
  /** Milliseconds since the epoch. */
  since: number
}

export class WrongCodes {
  readonly #store: Store
  readonly #clock: Clock
  readonly #tries = new Map<string, Tries>()

  constructor(options: { store: Store; clock: Clock }) {
    this.#store = options.store
    this.#clock = options.clock
  }

  /** Throws `too-many-failures` while the account's tries are used up. */
  async check(channel: string, account: string): Promise<void> {
    const { count, since } = await this.#read(channel, account)
    if (count < maxWrong) return
    const seconds = Math.max(1, Math.ceil((since + windowMs - this.#clock.now()) / 1000))
    throw new AppError("too-many-failures", "Too many wrong pairing codes", {
      retryAfterSeconds: seconds,
      hint: `Wait ${seconds} seconds and try again`,
    })
  }

  async count(channel: string, account: string): Promise<void> {
    const tries = await this.#read(channel, account)
    tries.count += 1
    this.#tries.set(keyOf(channel, account), tries)
    await this.#store.meta.set(keyOf(channel, account), { ...tries })
  }

  async #read(channel: string, account: string): Promise<Tries> {
    const key = keyOf(channel, account)
    const known = this.#tries.get(key) ?? ((await this.#store.meta.get(key)) as unknown as Tries | undefined)
    const age = known === undefined ? Infinity : this.#clock.now() - known.since
    // A clock that was set back must not lock the account for as long as that.
    return known !== undefined && age >= 0 && age < windowMs ? known : { count: 0, since: this.#clock.now() }
  }
}

function keyOf(channel: string, account: string): string {
  return `pairing.wrong.${channel}.${account}`
}
