// The long poll: batch -> one transaction (inbox, jobs, offset) -> only then the next poll, whose offset confirms it.
// A crash anywhere leaves every update either unconfirmed at the platform or in the store.
import type { Update } from "grammy/types"
import { type Clock, type CrashPoint, type Log, backoffMs, describeError } from "../../kernel/index.ts"
import type { Client } from "./client.ts"
import { type CallFailure, describeFailure, isTokenRefused } from "./failure.ts"
import { type Batch, readBatch } from "./updates/batch.ts"
import { allowedUpdates } from "./updates/kinds.ts"

export type PollState =
  | { kind: "running" }
  /** It goes on by itself. */
  | { kind: "waiting"; reason: string }
  /** It needs a person; it is tried again now and then all the same. */
  | { kind: "stopped"; reason: string }

export interface PollOptions {
  client: Client
  clock: Clock
  log: Log
  crashPoint: CrashPoint
  signal: AbortSignal
  /** The update to begin with; undefined takes what the platform holds. */
  offset: number | undefined
  /** An answer has come: the one sign that polling works. */
  onAnswer: () => void
  /** Durable when it resolves; `nameless` are entries that are no updates, which are set aside. */
  store: (updates: readonly Update[], nextOffset: number | undefined, nameless: readonly unknown[]) => Promise<void>
  onState: (state: PollState) => void
  timing: PollTiming
}

export interface PollTiming {
  /** How long the platform holds a poll open; it allows 50 s. */
  holdSeconds: number
  /** Beyond that a poll counts as stalled. */
  graceMs: number
  /** After another poller was seen: longer than that one's poll, so that two gateways do not kick each other out. */
  conflictMs: number
  storeRetryMs: number
  minBackoffMs: number
  maxBackoffMs: number
  /** Before the loop begins again after something unforeseen. */
  restartMs: number
  /** After the platform has refused the token: a server of one's own says that while it starts, a proxy while it is confused. */
  refusedMs: number
  /** A poll that has been on its way for so long has arrived; one call at the stop may take as long. */
  confirmMs: number
  /** Between two tries to become the one gateway of this machine that polls the bot. */
  lockRetryMs: number
  /** A poll that ends with nothing before that was not held open. */
  quickMs: number
  /** Between two looks whether the platform still has our webhook. */
  webhookCheckMs: number
}

export const defaultPollTiming: PollTiming = {
  holdSeconds: 30,
  graceMs: 10_000,
  conflictMs: 35_000,
  storeRetryMs: 2_000,
  minBackoffMs: 1_000,
  maxBackoffMs: 30_000,
  restartMs: 5_000,
  refusedMs: 60_000,
  confirmMs: 1_000,
  lockRetryMs: 5_000,
  quickMs: 500,
  webhookCheckMs: 300_000,
}

const batchSize = 100
/** Whatever the platform asks for: people wait for their answers meanwhile. */
const longestPauseMs = 5 * 60_000

/** Runs until the signal aborts. */
export async function pollUpdates(options: PollOptions): Promise<void> {
  const { clock, signal, crashPoint } = options
  let offset = options.offset
  /** When the poll that tells the platform of `offset` was begun; undefined while it does not have to be told. */
  let toldAt: number | undefined
  let doubted: number | undefined
  const trouble = new Trouble(options)
  await removeWebhook(options)
  while (!signal.aborted) {
    const begunAt = clock.monotonic()
    if (toldAt !== undefined) toldAt = begunAt
    const result = await poll(options, offset)
    if (signal.aborted) break
    if (!result.ok) {
      if (toldAt !== undefined) toldAt = Infinity
      await trouble.wait(result.failure)
      continue
    }
    options.onAnswer()
    toldAt = undefined
    const batch = readBatch(result.value, offset, doubted)
    doubted = batch.doubted
    if (batch.updates.length + batch.nameless.length === 0) {
      await trouble.rest(clock.monotonic() - begunAt)
      continue
    }
    crashPoint("poll.fetched")
    const next = batch.next ?? offset
    if (next !== offset) trouble.over()
    if (!(await storeUntilDone(options, batch, next))) return
    crashPoint("poll.committed")
    if (next === offset) {
      // Nothing that a poll could go on from: it would get the same answer at once, again and again.
      await trouble.wait({ kind: "lost", reason: "the updates of the answer have no ids to go on from" })
      continue
    }
    offset = next
    toldAt = Infinity
  }
  if (offset !== undefined && toldAt !== undefined) await confirm(options, offset, toldAt)
}

function poll({ client, signal, timing }: PollOptions, offset: number | undefined) {
  return client.call(
    "getUpdates",
    {
      limit: batchSize,
      timeout: timing.holdSeconds,
      allowed_updates: allowedUpdates,
      ...(offset === undefined ? {} : { offset }),
    },
    { timeoutMs: timing.holdSeconds * 1000 + timing.graceMs, signal },
  )
}

/**
 * A poll confirms what came before it as soon as it arrives. One that was given up right after it began may not have:
 * without this a gateway with another state folder that takes over would take in the last batch again.
 */
async function confirm({ client, clock, timing }: PollOptions, offset: number, toldAt: number): Promise<void> {
  const isTold = clock.monotonic() - toldAt >= timing.confirmMs
  if (isTold) return
  const poll = { offset, limit: 1, timeout: 0, allowed_updates: allowedUpdates }
  // Best effort: what is fetched here is not confirmed and comes again.
  await client.call("getUpdates", poll, { timeoutMs: timing.confirmMs })
}

/** The batch stays in memory and the offset where it is until the store takes it. False when stopped meanwhile. */
async function storeUntilDone(
  options: PollOptions,
  { updates, nameless }: Pick<Batch, "updates" | "nameless">,
  next: number | undefined,
): Promise<boolean> {
  for (let failures = 0; !options.signal.aborted; failures += 1) {
    try {
      await options.store(updates, next, nameless)
      if (failures > 0) options.onState({ kind: "running" })
      return true
    } catch (error) {
      const reason = describeError(error)
      if (failures === 0) options.log.error({ err: error, updates: updates.length }, "updates not stored, will retry")
      options.onState({ kind: "waiting", reason })
      await options.clock.sleep(options.timing.storeRetryMs, options.signal).catch(() => undefined)
    }
  }
  return false
}

/** A webhook left from elsewhere makes every poll fail; what waits at the platform is kept. */
async function removeWebhook({ client, signal, log }: PollOptions): Promise<void> {
  const limits = { timeoutMs: 10_000, signal }
  const info = await client.call("getWebhookInfo", {}, limits)
  if (!info.ok || !info.value.url) return
  const removed = await client.call("deleteWebhook", { drop_pending_updates: false }, limits)
  if (removed.ok) log.warn("webhook removed: this account polls")
}

/** Counts failures in a row and waits after each. */
class Trouble {
  readonly #options: PollOptions
  #failures = 0
  #conflicts = 0
  #refusals = 0
  /** Empty answers in a row for which the poll was not held open. */
  #quick = 0

  constructor(options: PollOptions) {
    this.#options = options
  }

  over(): void {
    if (this.#failures > 0) this.#options.log.info({ failures: this.#failures }, "polling recovered")
    this.#failures = 0
    this.#conflicts = 0
    this.#refusals = 0
    this.#quick = 0
    this.#options.onState({ kind: "running" })
  }

  /** After an empty answer: the next poll follows at once, unless something answers in the platform's place. */
  async rest(tookMs: number): Promise<void> {
    const { timing, clock, signal } = this.#options
    const isQuick = timing.holdSeconds > 0 && tookMs < timing.quickMs
    const quick = isQuick ? this.#quick + 1 : 0
    this.over()
    this.#quick = quick
    if (quick > 1) await clock.sleep(this.#backoffMs(quick), signal).catch(() => undefined)
  }

  /** Waits as long as this failure asks for. */
  async wait(failure: CallFailure): Promise<void> {
    const { clock, signal } = this.#options
    await clock.sleep(await this.#judge(failure), signal).catch(() => undefined)
  }

  /** The pause before the next poll. */
  async #judge(failure: CallFailure): Promise<number> {
    const { client, log, onState, timing } = this.#options
    const reason = describeFailure(failure)
    this.#failures += 1
    // Whatever went wrong, a connection that sleep or a dead peer left behind must not be met again.
    client.reset()
    if (failure.kind === "refused") {
      if (isTokenRefused(failure)) {
        const level = this.#refusals === 0 ? "error" : "debug"
        this.#refusals += 1
        log[level](
          { reason, retryMs: timing.refusedMs, hint: "Check the bot token and apiRoot" },
          "bot token refused, will ask again",
        )
        onState({ kind: "stopped", reason })
        return timing.refusedMs
      }
      if (failure.code === 409) return await this.#conflict(reason)
    }
    onState({ kind: "waiting", reason })
    const delayMs = this.#delay(failure)
    const level = this.#failures === 1 ? "warn" : "debug"
    log[level]({ reason, delayMs, failures: this.#failures }, "polling failed, will retry")
    return delayMs
  }

  #delay(failure: CallFailure): number {
    if (failure.kind === "refused" && failure.retryAfterSeconds !== undefined) {
      return Math.min(failure.retryAfterSeconds * 1000, longestPauseMs)
    }
    return this.#backoffMs(this.#failures)
  }

  #backoffMs(times: number): number {
    const { minBackoffMs, maxBackoffMs } = this.#options.timing
    const policy = { attempts: 0, minDelayMs: minBackoffMs, maxDelayMs: maxBackoffMs, jitter: 0.2 }
    return backoffMs(policy, Math.min(times, 10))
  }

  async #conflict(reason: string): Promise<number> {
    const { log, onState } = this.#options
    this.#conflicts += 1
    onState({ kind: "waiting", reason })
    if (/webhook/i.test(reason)) {
      await removeWebhook(this.#options)
      return this.#delay({ kind: "lost", reason })
    }
    if (this.#conflicts === 1) {
      const hint = "Another program polls with this token; stop it, or give each its own bot"
      log.warn({ reason, hint }, "polling conflict, will wait")
    }
    return Math.round(this.#options.timing.conflictMs * (1 + 0.2 * Math.random()))
  }
}
