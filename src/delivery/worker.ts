// The outbox worker: due rows -> pace -> claim -> the one call -> what came of it.
// Chats do not wait for each other; inside a chat order holds, whatever fails. What has to wait for its turn is not
// claimed: a chat's next row is put off in the store, an account that is at its limit is left out for a moment. What the
// disk does not take of a call that was made is kept until it does: what was sent is not sent again.
import { type Background, type Clock, type CrashPoint, type Ids, type Log } from "../kernel/index.ts"
import { describeError, isDiskFailure, isOutOfHandles, raceAbort } from "../kernel/index.ts"
import type { Route } from "../sessions/route.ts"
import {
  ClaimLoop,
  KeptWrites,
  type OutboxRow,
  type Store,
  type Write,
  isStorageFailure,
  markAgain,
  markDead,
  markDropped,
  markSent,
  markUncertain,
  replacePayload,
} from "../store/index.ts"
import type { DeliveryConfig } from "./config.ts"
import type { ChannelSender, SendOutcome } from "./contract.ts"
import { type DoubtOptions, tellDoubt } from "./doubt.ts"
import type { FlightLog } from "./flight-log.ts"
import { recoverSending } from "./recover.ts"
import { claimRows, dueHeads, nextDueWithout, putOff, rowsById } from "./store.ts"

export interface OutboxWorkerOptions {
  store: Store
  senders: () => ReadonlyMap<string, ChannelSender>
  clock: Clock
  log: Log
  background: Background
  crashPoint: CrashPoint
  ids: Ids
  /** `delivery.onUncertain`. */
  onUncertain: () => DeliveryConfig["onUncertain"]
  canShowButtons: (route: Route) => boolean
  /** Who is told of a row that is given up, in the transaction that does it; without it nobody is. */
  tellLost?: (write: Write, row: OutboxRow, error: string) => void
  /** Without it every row that a crash leaves in `sending` is in doubt. */
  flights?: FlightLog
  /** Shared with whoever else writes ends; default: its own. */
  kept?: KeptWrites
}

/** Sends under way at once, over all chats. */
const maxConcurrent = 32
/**
 * A row that cannot have arrived is given up after so many tries in so much time that has really passed since the first
 * of them (measured, not read from a clock), so that its chat is not blocked for ever.
 */
const giveUpAfter = { tries: 8, waitedMs: 6 * 60 * 60 * 1000 }
/** A row that its sender cannot even make a call of. */
const maxFaults = 3
const faultDelayMs = 2_000
/** Of a stop: for results that the disk does not take. */
const lastWriteMs = 1_000
/** How long to wait is the channel's decision; this only keeps a hasty one from a loop. */
const minRetryMs = 50
/** Between two tries of what may arrive twice, and of which nobody knows whether it has. */
const longestRepeatMs = 60_000

export class OutboxWorker {
  readonly #options: OutboxWorkerOptions
  readonly #sending = new Map<number, Promise<void>>()
  readonly #abort = new AbortController()
  readonly #kept: KeptWrites
  readonly #doubts: DoubtOptions
  /** No result is waited for any longer. */
  readonly #noMore = new AbortController()
  /** Accounts (`channel:account`) at their limit, until when by the monotonic clock. */
  readonly #pausedUntil = new Map<string, number>()
  /** Since when rows that were tried wait for another try, by the monotonic clock. At most one a chat. */
  readonly #waitingSince = new Map<number, number>()
  readonly #watchers = new Set<() => void>()
  readonly #loop: ClaimLoop

  constructor(options: OutboxWorkerOptions) {
    this.#options = options
    this.#kept = options.kept ?? new KeptWrites(options)
    this.#doubts = { ...options, policy: options.onUncertain }
    this.#loop = new ClaimLoop({
      name: "outbox",
      background: options.background,
      claim: () => this.#claim(),
      untilDue: () => this.#untilDue(),
    })
    this.#kept.onRecovered(() => this.#loop.wake())
    options.store.onAdded(({ outbox }) => {
      if (outbox) this.#loop.wake()
    })
  }

  /** Takes over what a dead process was sending, then begins. */
  async start(): Promise<void> {
    await recoverSending(this.#options)
    this.#options.flights?.clear()
    this.#loop.start()
  }

  /** Looks again for rows that may go. */
  wake(): void {
    this.#loop.wake()
  }

  /**
   * Claims nothing new: a claim under way is waited for, and its rows go like those under way, except when there is no
   * time left for them. After `graceMs` calls are cut: those that had begun stay in doubt, the others are given back.
   */
  async stop(graceMs: number): Promise<void> {
    const cut = () => this.#abort.abort(new Error("the gateway is stopping"))
    const timer = setTimeout(cut, graceMs)
    await this.#loop.stop()
    const { promise: over, resolve } = Promise.withResolvers<void>()
    this.#abort.signal.addEventListener("abort", () => resolve())
    await Promise.race([over, Promise.all(this.#sending.values())])
    const last = setTimeout(() => this.#noMore.abort(new Error("the gateway is stopping")), lastWriteMs)
    await Promise.all(this.#sending.values())
    clearTimeout(timer)
    clearTimeout(last)
    this.#options.flights?.close()
  }

  /** The rows once all of them have ended, or as they are when the time is over or the signal aborts. */
  async waitFor(ids: readonly number[], limits: { timeoutMs: number; signal: AbortSignal }): Promise<OutboxRow[]> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const rows = () => rowsById(this.#options.store, ids)
    const check = () => {
      try {
        if (rows().every((row) => row.state !== "new" && row.state !== "sending")) resolve()
      } catch (error) {
        // Looked at again with the next one that is sent: that cannot be read is no fault of whoever sends.
        if (!isStorageFailure(error)) throw error
      }
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

  async #claim(): Promise<void> {
    for (;;) {
      const free = maxConcurrent - this.#sending.size
      if (free <= 0 || this.#loop.isStopped) return
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
      // Put back, it may be sent anew before the disk has told this call so.
      if (this.#sending.get(row.id) === sending) this.#sending.delete(row.id)
      this.#loop.wake()
    })
    this.#sending.set(row.id, sending)
  }

  #pace(due: readonly OutboxRow[]): { ready: number[]; late: { id: number; delayMs: number }[] } {
    const ready: number[] = []
    const late: { id: number; delayMs: number }[] = []
    const now = this.#options.clock.monotonic()
    for (const row of due) {
      const account = accountOf(row)
      if (this.#pausedUntil.has(account)) continue
      const pace = this.#options.senders().get(row.channel)?.pace?.(row) ?? { kind: "go" }
      if (pace.kind === "go") ready.push(row.id)
      else if (pace.kind === "chat") late.push({ id: row.id, delayMs: pace.delayMs })
      else this.#pausedUntil.set(account, now + pace.delayMs)
    }
    return { ready, late }
  }

  #paused(): string[] {
    const now = this.#options.clock.monotonic()
    for (const [account, until] of this.#pausedUntil) if (until <= now) this.#pausedUntil.delete(account)
    return [...this.#pausedUntil.keys()]
  }

  #untilDue(): number {
    // With every place taken, the next send that ends begins the next one.
    if (this.#sending.size >= maxConcurrent) return Infinity
    const { store, clock } = this.#options
    const untilRow = (nextDueWithout(store, this.#paused()) ?? Infinity) - store.clock.now()
    const untilAccount = Math.min(...this.#pausedUntil.values()) - clock.monotonic()
    return Math.min(untilRow, untilAccount)
  }

  async #send(row: OutboxRow): Promise<void> {
    const { crashPoint, flights, log, clock } = this.#options
    crashPoint("outbox.sending")
    const call: Call = { isBegun: false, waitedMs: this.#waited(row), startedAt: clock.monotonic() }
    const outcome = await this.#call(row, call)
    call.waitedMs += clock.monotonic() - call.startedAt
    crashPoint("outbox.answered")
    if (call.isBegun) flights?.end(row, endOf(outcome))
    crashPoint("outbox.sent")
    try {
      await this.#kept.write(() => this.#record(row, outcome, call), this.#noMore.signal)
      // Of one that is not, the next start has to find what was noted.
      if (call.isBegun) flights?.recorded()
    } catch (error) {
      // Left as `sending`: the next start looks at what is known of it. Better than a second copy now.
      log.error({ ...ids(row), err: error }, "delivery not recorded")
    }
    crashPoint("outbox.recorded")
    for (const check of this.#watchers) check()
  }

  async #call(row: OutboxRow, call: Call): Promise<SendOutcome> {
    const { senders, flights, log } = this.#options
    const { signal } = this.#abort
    const begin = () => {
      signal.throwIfAborted()
      flights?.begin(row)
      call.isBegun = true
    }
    try {
      const sender = senders().get(row.channel)
      if (!sender) return { kind: "retry", delayMs: 30_000, error: `channel ${row.channel} is not running` }
      // A stop that has no time left for this row.
      signal.throwIfAborted()
      return await raceAbort(sender.send(row, signal, begin), signal)
    } catch (error) {
      const message = describeError(error)
      if (!signal.aborted) log.error({ ...ids(row), err: error }, "delivery failed unexpectedly")
      // Senders answer with outcomes; what they throw is a fault of ours, and the call may have been made.
      if (call.isBegun) return { kind: "uncertain", error: message }
      if (signal.aborted) return { kind: "retry", delayMs: 0, error: message }
      if (row.attempts >= maxFaults && !isStorageLike(error)) return { kind: "rejected", error: message }
      return { kind: "retry", delayMs: faultDelayMs, error: message }
    }
  }

  /** Time that has passed since its first try, as far as it was measured. */
  #waited(row: OutboxRow): number {
    const since = this.#waitingSince.get(row.id)
    this.#waitingSince.delete(row.id)
    return row.waited_ms + (since === undefined ? 0 : this.#options.clock.monotonic() - since)
  }

  async #record(row: OutboxRow, outcome: SendOutcome, call: Call): Promise<void> {
    const { store, clock, log } = this.#options
    const isOver = row.attempts >= giveUpAfter.tries && call.waitedMs >= giveUpAfter.waitedMs
    if (outcome.kind === "sent") {
      await markSent(store, row, outcome.remoteId)
      log.debug({ ...ids(row), remote: outcome.remoteId }, "delivery sent")
    } else if (outcome.kind === "replace") {
      await replacePayload(store, row, JSON.stringify(outcome.payload), outcome.error)
      log.info({ ...ids(row), reason: outcome.error }, "delivery refused in this form, sent in another")
    } else if (outcome.kind === "retry" && !isOver) {
      await this.#putOff(row, outcome, call)
      this.#waitingSince.set(row.id, clock.monotonic())
    } else if (outcome.kind === "uncertain" && this.#mayArriveTwice(row) && !isOver) {
      const delayMs = Math.min(minRetryMs * 2 ** (row.attempts - 1), longestRepeatMs)
      await markAgain(store, row, { delayMs, error: outcome.error, resent: true, waitedMs: call.waitedMs })
      this.#waitingSince.set(row.id, clock.monotonic())
      log.warn({ ...ids(row), delayMs, reason: outcome.error }, "delivery in doubt: sent once more")
    } else if (outcome.kind === "uncertain" && !this.#mayArriveTwice(row)) {
      await this.#doubt(row, outcome.error)
    } else if (outcome.kind === "dropped") {
      await markDropped(store, row, outcome.error)
      log.debug({ ...ids(row), reason: outcome.error }, "delivery dropped")
    } else {
      const { tellLost } = this.#options
      await markDead(store, row, outcome.error, (write) => tellLost?.(write, row, outcome.error))
      log.warn({ ...ids(row), reason: outcome.error }, "delivery given up")
    }
  }

  async #putOff(row: OutboxRow, { delayMs, error }: { delayMs: number; error: string }, call: Call): Promise<void> {
    const { store, log } = this.#options
    if (!call.isBegun && this.#abort.signal.aborted) {
      await markAgain(store, row, { delayMs: 0, error: row.error, isUntried: true })
      log.info(ids(row), "delivery given back by a stop")
      return
    }
    const waitMs = Math.max(delayMs, minRetryMs)
    await markAgain(store, row, { delayMs: waitMs, error, waitedMs: call.waitedMs })
    log.info({ ...ids(row), delayMs: waitMs, reason: error }, "delivery put off")
  }

  #mayArriveTwice(row: OutboxRow): boolean {
    return this.#options.senders().get(row.channel)?.isRepeatable?.(row) ?? false
  }

  async #doubt(row: OutboxRow, error: string): Promise<void> {
    const { store, log, onUncertain } = this.#options
    if (onUncertain() === "resend" && row.resent === 0) {
      await markAgain(store, row, { delayMs: minRetryMs, error, resent: true })
      log.warn({ ...ids(row), reason: error }, "delivery in doubt: sent once more")
      return
    }
    await markUncertain(store, row, error, (write) => tellDoubt(this.#doubts, write, row))
    log.warn({ ...ids(row), reason: error }, "delivery in doubt: not repeated")
  }
}

interface Call {
  /** The request may have left. */
  isBegun: boolean
  /** Since the first try of its row. */
  waitedMs: number
  startedAt: number
}

function endOf(outcome: SendOutcome): Parameters<FlightLog["end"]>[1] {
  if (outcome.kind === "sent") return { kind: "sent", remoteId: outcome.remoteId }
  return { kind: outcome.kind === "uncertain" ? "in-doubt" : "not-sent" }
}

/** Files that cannot be written or opened just now: no fault of the row. */
function isStorageLike(error: unknown): boolean {
  return isStorageFailure(error) || isOutOfHandles(error) || isDiskFailure(error)
}

function ids(row: OutboxRow) {
  return { delivery: row.id, chat: row.chat_id, kind: row.kind }
}

function accountOf(row: OutboxRow): string {
  return `${row.channel}:${row.account}`
}
