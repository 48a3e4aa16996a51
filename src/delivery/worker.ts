// The outbox worker: due rows -> pace -> claim -> the one call -> what came of it.
// Chats do not wait for each other; inside a chat order holds, whatever fails. What has to wait for its turn is not
// claimed: a chat's next row is put off in the store, an account that is at its limit is left out for a moment.
import { type Background, type Clock, type CrashPoint, type Log, describeError, raceAbort } from "../kernel/index.ts"
import {
  type OutboxRow,
  type Store,
  markAgain,
  markDead,
  markDropped,
  markSent,
  markUncertain,
  recoverOutbox,
  replacePayload,
} from "../store/index.ts"
import type { ChannelSender, SendOutcome } from "./contract.ts"
import { claimRows, dueHeads, nextDueWithout, putOff, rowsById } from "./store.ts"

export interface OutboxWorkerOptions {
  store: Store
  senders: () => ReadonlyMap<string, ChannelSender>
  clock: Clock
  log: Log
  background: Background
  crashPoint: CrashPoint
}

/** Sends under way at once, over all chats. */
const maxConcurrent = 32
/** A row that cannot have arrived is tried for this long, then given up so that its chat is not blocked for ever. */
const giveUpAfterMs = 6 * 60 * 60 * 1000
/** How long to wait is the channel's decision; this only keeps a hasty one from a loop. */
const minRetryMs = 50

export class OutboxWorker {
  readonly #options: OutboxWorkerOptions
  readonly #sending = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  /** Accounts (`channel:account`) at their limit, until when. */
  readonly #pausedUntil = new Map<string, number>()
  readonly #watchers = new Set<() => void>()
  #stopped = true
  #working = false
  #again = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: OutboxWorkerOptions) {
    this.#options = options
    options.store.onAdded(({ outbox }) => {
      if (outbox) this.#work()
    })
  }

  /** Takes over what a dead process was sending, then begins. */
  async start(): Promise<void> {
    const { resend, uncertain } = await recoverOutbox(this.#options.store)
    for (const row of resend) this.#options.log.warn(ids(row), "delivery in doubt after a crash: sent once more")
    for (const row of uncertain) this.#options.log.warn(ids(row), "delivery in doubt after a crash: not repeated")
    this.#stopped = false
    this.#work()
  }

  /** Begins no new call and waits for those under way; after `graceMs` they are cut and stay in doubt. */
  async stop(graceMs: number): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const timer = setTimeout(() => this.#abort.abort(new Error("the gateway is stopping")), graceMs)
    await Promise.all(this.#sending.values())
    clearTimeout(timer)
  }

  /** The rows once all of them have ended, or as they are when the time is over or the signal aborts. */
  async waitFor(ids: readonly number[], limits: { timeoutMs: number; signal: AbortSignal }): Promise<OutboxRow[]> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const rows = () => rowsById(this.#options.store, ids)
    const check = () => {
      if (rows().every((row) => row.state !== "new" && row.state !== "sending")) resolve()
    }
    const timer = setTimeout(resolve, limits.timeoutMs)
    const onAbort = () => resolve()
    limits.signal.addEventListener("abort", onAbort)
    this.#watchers.add(check)
    check()
    if (limits.signal.aborted) resolve()
    await promise
    clearTimeout(timer)
    limits.signal.removeEventListener("abort", onAbort)
    this.#watchers.delete(check)
    return rows()
  }

  #work(): void {
    if (this.#stopped) return
    if (this.#working) {
      this.#again = true
      return
    }
    this.#working = true
    this.#options.background.run("outbox", async () => {
      try {
        do {
          this.#again = false
          await this.#claim()
        } while (this.#again)
      } finally {
        this.#working = false
        this.#schedule()
      }
    })
  }

  async #claim(): Promise<void> {
    for (;;) {
      const free = maxConcurrent - this.#sending.size
      if (free <= 0 || this.#stopped) return
      const due = dueHeads(this.#options.store, free, this.#paused())
      const { ready, late } = this.#pace(due)
      if (late.length > 0) await putOff(this.#options.store, late)
      const rows = ready.length > 0 ? await claimRows(this.#options.store, ready) : []
      for (const row of rows) this.#begin(row)
      // Others may stand behind those that have to wait.
      if (ready.length === due.length) return
    }
  }

  #begin(row: OutboxRow): void {
    const sending = this.#send(row).finally(() => {
      this.#sending.delete(row.id)
      this.#work()
    })
    this.#sending.set(row.id, sending)
  }

  #pace(due: readonly OutboxRow[]): { ready: number[]; late: { id: number; runAt: number }[] } {
    const ready: number[] = []
    const late: { id: number; runAt: number }[] = []
    const now = this.#options.clock.now()
    for (const row of due) {
      const account = accountOf(row)
      if (this.#pausedUntil.has(account)) continue
      const pace = this.#options.senders().get(row.channel)?.pace?.(row) ?? { kind: "go" }
      if (pace.kind === "go") ready.push(row.id)
      else if (pace.kind === "chat") late.push({ id: row.id, runAt: now + pace.delayMs })
      else this.#pausedUntil.set(account, now + pace.delayMs)
    }
    return { ready, late }
  }

  #paused(): string[] {
    const now = this.#options.clock.now()
    for (const [account, until] of this.#pausedUntil) if (until <= now) this.#pausedUntil.delete(account)
    return [...this.#pausedUntil.keys()]
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    // With every place taken, the next send that ends begins the next one.
    if (this.#stopped || this.#sending.size >= maxConcurrent) return
    const paused = this.#paused()
    const due = Math.min(nextDueWithout(this.#options.store, paused) ?? Infinity, ...this.#pausedUntil.values())
    if (due === Infinity) return
    const wait = Math.min(Math.max(due - this.#options.clock.now(), 1), 60_000)
    this.#timer = setTimeout(() => this.#work(), wait)
    this.#timer.unref()
  }

  async #send(row: OutboxRow): Promise<void> {
    const { crashPoint, senders, log } = this.#options
    crashPoint("outbox.sending")
    let outcome: SendOutcome
    try {
      const sender = senders().get(row.channel)
      outcome = sender
        ? await raceAbort(sender.send(row, this.#abort.signal), this.#abort.signal)
        : { kind: "retry", delayMs: 30_000, error: `channel ${row.channel} is not running` }
    } catch (error) {
      // Senders answer with outcomes; what they throw is a fault of ours, and the call may have been made.
      if (!this.#abort.signal.aborted) log.error({ ...ids(row), err: error }, "delivery failed unexpectedly")
      outcome = { kind: "uncertain", error: describeError(error) }
    }
    crashPoint("outbox.sent")
    try {
      await this.#record(row, outcome)
    } catch (error) {
      // Left as `sending`: the next start finds it in doubt. Better than a second copy now.
      log.error({ ...ids(row), err: error }, "delivery not recorded")
    }
    crashPoint("outbox.recorded")
    for (const check of this.#watchers) check()
  }

  async #record(row: OutboxRow, outcome: SendOutcome): Promise<void> {
    const { store, clock, log } = this.#options
    const age = clock.now() - row.created_at
    if (outcome.kind === "sent") {
      await markSent(store, row, outcome.remoteId)
      log.debug({ ...ids(row), remote: outcome.remoteId }, "delivery sent")
    } else if (outcome.kind === "replace") {
      await replacePayload(store, row, JSON.stringify(outcome.payload), outcome.error)
      log.info({ ...ids(row), reason: outcome.error }, "delivery refused in this form, sent in another")
    } else if (outcome.kind === "retry" && age < giveUpAfterMs) {
      const delayMs = Math.max(outcome.delayMs, minRetryMs)
      await markAgain(store, row, { runAt: clock.now() + delayMs, error: outcome.error })
      log.info({ ...ids(row), delayMs, reason: outcome.error }, "delivery put off")
    } else if (outcome.kind === "uncertain") {
      // Only a crash allows a repeat: here a second copy would be our own doing.
      await markUncertain(store, row, outcome.error)
      log.warn({ ...ids(row), reason: outcome.error }, "delivery in doubt: not repeated")
    } else if (outcome.kind === "dropped") {
      await markDropped(store, row, outcome.error)
      log.debug({ ...ids(row), reason: outcome.error }, "decoration given up")
    } else {
      await markDead(store, row, outcome.error)
      log.warn({ ...ids(row), reason: outcome.error }, "delivery given up")
    }
  }
}

function ids(row: OutboxRow) {
  return { delivery: row.id, chat: row.chat_id, kind: row.kind }
}

function accountOf(row: OutboxRow): string {
  return `${row.channel}:${row.account}`
}
