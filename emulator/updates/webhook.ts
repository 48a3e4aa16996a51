// Delivery of one bot's updates to its webhook: one update at a time in each lane (chat or user), lanes side by side,
// retries with growing pauses until the other side answers 2xx or the update expires.
import type { CancelTimer, Clock } from "../clock.ts"
import type { Random } from "../random.ts"
import type { Arguments } from "../wire/arguments.ts"
import type { QueuedUpdate, UpdateQueue } from "./queue.ts"
import { WebhookConnection, type WebhookAnswer } from "./webhook-connection.ts"

export interface WebhookSettings {
  url: string
  secretToken: string
  maxConnections: number
  ipAddress: string
  /** A self-signed certificate that the bot uploaded. */
  certificate: Buffer | undefined
}

interface Lane {
  updates: QueuedUpdate[]
  isBusy: boolean
  failures: number
  cancelRetry: CancelTimer | undefined
}

export interface WebhookError {
  at: number
  message: string
}

export interface WebhookParts {
  clock: Clock
  random: Random
  queue: UpdateQueue
  /** Runs the method call that a webhook gave as its answer. */
  execute: (call: Arguments) => void
  report: (updateId: number, status: number, error: string | undefined) => void
}

/** The platform gives a webhook up that says "gone" for this long. */
const goneLimitMs = 23 * 60 * 60 * 1000
const longestPauseSeconds = { minimum: 60, maximum: 120 }
const longestRetryAfterSeconds = 3600

export class WebhookSender {
  readonly #parts: WebhookParts
  #settings: WebhookSettings | undefined
  #connection: WebhookConnection | undefined
  #lanes = new Map<string, Lane>()
  #inFlight = 0
  #goneSince: number | undefined
  #unsubscribe: (() => void) | undefined
  lastError: WebhookError | undefined

  constructor(parts: WebhookParts) {
    this.#parts = parts
  }

  get settings(): WebhookSettings | undefined {
    return this.#settings
  }

  start(settings: WebhookSettings): void {
    this.stop()
    this.#settings = settings
    this.#connection = new WebhookConnection(settings)
    this.lastError = undefined
    this.#goneSince = undefined
    for (const update of this.#parts.queue.pending()) this.#enqueue(update)
    this.#unsubscribe = this.#parts.queue.onAdded((update) => {
      this.#enqueue(update)
      this.#pump()
    })
    this.#pump()
  }

  /** Ends delivery; what is not delivered stays in the queue. */
  stop(): void {
    this.#unsubscribe?.()
    this.#connection?.stop()
    for (const lane of this.#lanes.values()) lane.cancelRetry?.()
    this.#settings = undefined
    this.#connection = undefined
    this.#lanes = new Map()
    this.#inFlight = 0
  }

  #enqueue(update: QueuedUpdate): void {
    const lane = this.#lanes.get(update.lane) ?? { updates: [], isBusy: false, failures: 0, cancelRetry: undefined }
    lane.updates.push(update)
    this.#lanes.set(update.lane, lane)
  }

  #pump(): void {
    const settings = this.#settings
    if (!settings) return
    for (const [name, lane] of this.#lanes) {
      if (this.#inFlight >= settings.maxConnections) return
      if (!lane.isBusy && !lane.cancelRetry) this.#deliverNext(name, lane)
    }
  }

  #deliverNext(name: string, lane: Lane): void {
    const connection = this.#connection
    const update = lane.updates[0]
    if (!update || !connection) {
      this.#lanes.delete(name)
      return
    }
    if (update.expiresAt <= this.#parts.clock.now()) {
      this.#finish(lane, update)
      this.#deliverNext(name, lane)
      return
    }
    lane.isBusy = true
    this.#inFlight += 1
    void connection.post(update.json).then((answer) => {
      if (connection !== this.#connection) return
      this.#inFlight -= 1
      lane.isBusy = false
      this.#handle(lane, update, answer)
      this.#pump()
    })
  }

  #handle(lane: Lane, update: QueuedUpdate, answer: WebhookAnswer): void {
    const { clock, queue } = this.#parts
    this.#parts.report(update.id, answer.status, answer.error)
    if (answer.error === undefined) {
      this.#goneSince = undefined
      lane.failures = 0
      if (answer.call) this.#parts.execute(answer.call)
      if (!queue.takeRepeat()) this.#finish(lane, update)
      return
    }
    this.lastError = { at: clock.seconds(), message: answer.error }
    if (this.#isGone(answer.status)) {
      this.stop()
      return
    }
    lane.failures += 1
    const pauseSeconds = this.#pauseSeconds(lane.failures, answer.retryAfterSeconds)
    lane.cancelRetry = clock.after(pauseSeconds * 1000, () => {
      lane.cancelRetry = undefined
      this.#pump()
    })
  }

  #finish(lane: Lane, update: QueuedUpdate): void {
    lane.updates.shift()
    lane.failures = 0
    this.#parts.queue.remove(update)
  }

  #isGone(status: number): boolean {
    const now = this.#parts.clock.now()
    if (status !== 410) this.#goneSince = undefined
    else this.#goneSince ??= now
    return this.#goneSince !== undefined && now - this.#goneSince >= goneLimitMs
  }

  /** The first failure is retried at once, later ones after 2, 4, 8 ... seconds. */
  #pauseSeconds(failures: number, retryAfterSeconds: number | undefined): number {
    if (retryAfterSeconds !== undefined) return Math.min(retryAfterSeconds, longestRetryAfterSeconds)
    if (failures === 1) return 0
    const cap = this.#parts.random.integer(longestPauseSeconds.minimum, longestPauseSeconds.maximum)
    return Math.min(2 ** Math.min(failures - 1, 10), cap)
  }
}
