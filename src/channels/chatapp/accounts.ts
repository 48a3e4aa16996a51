// The accounts of the channel as a whole: which there are, and that a change of the configuration starts and stops only
// those that it touches.
import { defaultAccountId } from "../../config/index.ts"
import { AppError, type Log, runWithTimeout } from "../../kernel/index.ts"
import type { Account } from "./account.ts"
import type { Settings } from "./settings.ts"

export interface AccountsOptions {
  settings: Settings
  /** The environment has a token for the default account. */
  hasEnvironmentToken: boolean
  create: (accountId: string) => Account
  log: Log
}

export class Accounts {
  readonly #options: AccountsOptions
  readonly #ready = new Gate()
  #accounts = new Map<string, Account>()
  /** A change that comes while the gateway stops starts nothing any more. */
  #isStopped = true
  /** One change at a time. */
  #last: Promise<void> = Promise.resolve()

  constructor(options: AccountsOptions) {
    this.#options = options
  }

  get byId(): ReadonlyMap<string, Account> {
    return this.#accounts
  }

  get(accountId: string): Account | undefined {
    return this.#accounts.get(accountId)
  }

  all(): Account[] {
    return [...this.#accounts.values()]
  }

  /** Resolves when no change is under way, at the latest after `ms`. */
  async settled(ms: number, signal: AbortSignal): Promise<void> {
    await this.#ready.passed(ms, signal)
  }

  /** Rejects with what keeps a webhook from listening: a gateway that cannot listen where it is told to does not run half. */
  start(): Promise<void> {
    this.#isStopped = false
    return this.#after(async () => {
      const failure = await this.#bringUpToDate()
      if (failure) throw failure
    })
  }

  /** The configuration has changed. What cannot be started says so in its status; the others run on. */
  apply(): Promise<void> {
    return this.#after(async () => {
      if (!this.#isStopped) await this.#bringUpToDate()
    })
  }

  stop(): Promise<void> {
    this.#isStopped = true
    return this.#after(async () => {
      await Promise.all(this.all().map((account) => account.stop()))
    })
  }

  #after(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => undefined)
    return next
  }

  async #bringUpToDate(): Promise<AppError | undefined> {
    this.#ready.close()
    try {
      const wanted = this.configured()
      const kept = new Map([...this.#accounts].filter(([id, account]) => wanted.includes(id) && account.isCurrent()))
      const ended = this.all().filter((account) => !kept.has(account.id))
      await Promise.all(ended.map((account) => account.stop()))
      for (const account of ended) account.dispose()
      this.#accounts = new Map(wanted.map((id) => [id, kept.get(id) ?? this.#options.create(id)]))
      return await this.#startNew(kept)
    } finally {
      this.#ready.open()
    }
  }

  async #startNew(kept: ReadonlyMap<string, Account>): Promise<AppError | undefined> {
    const bots = new Map<string, string>()
    for (const { botId, id } of kept.values()) if (botId !== undefined) bots.set(botId, id)
    let failure: AppError | undefined
    for (const account of this.#accounts.values()) {
      if (kept.has(account.id)) continue
      try {
        await account.start(bots)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        failure ??= error
      }
      if (account.botId !== undefined) bots.set(account.botId, account.id)
    }
    return failure
  }

  /** The default account is also there when only the environment has a token for it. */
  configured(): string[] {
    const configured = this.#options.settings.accounts()
    if (!this.#options.hasEnvironmentToken || configured.includes(defaultAccountId)) return configured
    return [defaultAccountId, ...configured]
  }
}

/** Holds back sends while accounts are being made. */
class Gate {
  #waiting = Promise.withResolvers<void>()

  close(): void {
    this.#waiting.resolve()
    this.#waiting = Promise.withResolvers<void>()
  }

  open(): void {
    this.#waiting.resolve()
  }

  /** Resolves when it is open, at the latest after `ms` or when the signal aborts. */
  async passed(ms: number, signal: AbortSignal): Promise<void> {
    const { promise } = this.#waiting
    await runWithTimeout(ms, "the start of the channel", () => promise, signal).catch(() => undefined)
  }
}
