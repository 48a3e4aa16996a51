// getUpdates of one bot: offsets, penalties for calling too often, and the one long poll that may wait at a time.
import type { Clock, CancelTimer } from "../clock.ts"
import { ApiError } from "../errors.ts"
import type { QueuedUpdate, UpdateQueue } from "./queue.ts"

export interface PollRequest {
  offset: number
  limit: number
  timeoutSeconds: number
  /** Aborted when the client closed the connection. */
  signal: AbortSignal
}

interface WaitingPoll {
  fail: (error: Error) => void
  finish: () => void
}

const conflictPauseMs = 3000
const otherPollMessage =
  "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

export class UpdatePoll {
  readonly #clock: Clock
  readonly #queue: UpdateQueue
  #waiting: WaitingPoll | undefined
  #previousOffset: number | undefined
  #previousStartedAt = 0
  #nextConflictAt = 0

  constructor({ clock, queue }: { clock: Clock; queue: UpdateQueue }) {
    this.#clock = clock
    this.#queue = queue
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined
  }

  async getUpdates(request: PollRequest): Promise<QueuedUpdate[]> {
    const { offset, limit, timeoutSeconds } = this.#punish(request)
    const ready = this.#queue.take(offset, limit)
    if (ready.length > 0 || timeoutSeconds === 0) return ready
    this.terminate(otherPollMessage)
    return this.#wait({ ...request, offset, limit, timeoutSeconds })
  }

  /** Ends the waiting poll with 409: at once, or three seconds late when another conflict has just been answered. */
  terminate(message: string): void {
    const waiting = this.#waiting
    if (!waiting) return
    waiting.finish()
    this.conflict(message).catch(waiting.fail)
  }

  /** Ends the waiting poll with any other error (restart, revoked token). */
  interrupt(error: Error): void {
    const waiting = this.#waiting
    waiting?.finish()
    waiting?.fail(error)
  }

  /** Always rejects, with the 409 that the caller is to get. */
  async conflict(message: string): Promise<never> {
    const now = this.#clock.now()
    if (now < this.#nextConflictAt) {
      await new Promise<void>((resolve) => this.#clock.after(conflictPauseMs, resolve))
    } else {
      this.#nextConflictAt = now + conflictPauseMs
    }
    throw new ApiError(409, message)
  }

  /** A bot that asks for the same offset again within moments is made to wait, then gets one update at a time. */
  #punish({ offset, limit, timeoutSeconds }: PollRequest): Omit<PollRequest, "signal"> {
    const now = this.#clock.now()
    const repeated = offset === this.#previousOffset
    const sinceMs = now - this.#previousStartedAt
    this.#previousOffset = offset
    this.#previousStartedAt = now
    return {
      offset,
      limit: repeated && sinceMs < 500 ? 1 : limit,
      timeoutSeconds: repeated && sinceMs < 3000 && timeoutSeconds < 3 ? 3 : timeoutSeconds,
    }
  }

  #wait(request: PollRequest): Promise<QueuedUpdate[]> {
    return new Promise((resolve, reject) => {
      let collect: CancelTimer | undefined
      const answerNow = () => {
        waiting.finish()
        resolve(this.#queue.take(request.offset, request.limit))
      }
      const cancelTimeout = this.#clock.after(request.timeoutSeconds * 1000, answerNow)
      // The platform gathers what arrives within a millisecond, so that a burst is one answer.
      const unsubscribe = this.#queue.onAdded(() => {
        collect ??= this.#clock.after(1, answerNow)
      })
      const abandon = () => {
        waiting.finish()
        resolve([])
      }
      const finish = () => {
        cancelTimeout()
        collect?.()
        unsubscribe()
        request.signal.removeEventListener("abort", abandon)
        if (this.#waiting === waiting) this.#waiting = undefined
      }
      const waiting: WaitingPoll = { fail: reject, finish }
      this.#waiting = waiting
      request.signal.addEventListener("abort", abandon, { once: true })
      if (request.signal.aborted) abandon()
    })
  }
}
