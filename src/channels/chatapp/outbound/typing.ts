// The typing indicator of a turn: shown while people begin to wait and kept up until the turn ends. It is decoration: it
// has a budget of its own, never waits for anything, and falls silent where the platform does not want it.
import type { TurnObserver } from "../../../agent/turn-input.ts"
import type { Background, Clock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { Client } from "../client.ts"

const callTimeoutMs = 4_000
/** An answer that is there sooner needs none, and the question to the model goes out first. */
const firstAfterMs = 30

/** Actions of one account per second: far below what the platform allows for everything together. */
const maxPerSecond = 10

/** Decides whether one more action may be sent now. One per account. */
export class ActionBudget {
  readonly #clock: Clock
  #windowStart = 0
  #used = 0
  #pausedUntil = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  take(): boolean {
    const now = this.#clock.monotonic()
    if (now < this.#pausedUntil) return false
    if (now - this.#windowStart >= 1000) {
      this.#windowStart = now
      this.#used = 0
    }
    this.#used += 1
    return this.#used <= maxPerSecond
  }

  pause(ms: number): void {
    this.#pausedUntil = this.#clock.monotonic() + ms
  }
}

export function startTyping(options: {
  client: () => Client | undefined
  route: Route
  budget: ActionBudget
  /** The platform shows an action for five seconds at most. */
  everyMs: number
  clock: Clock
  background: Background
  /** It was not shown. */
  onDropped: () => void
}): TurnObserver {
  const { client, route, budget, everyMs, clock, background, onDropped } = options
  const ended = new AbortController()
  const show = async (): Promise<boolean> => {
    const current = client()
    if (!current || !budget.take()) return true
    const result = await current.call(
      "sendChatAction",
      {
        chat_id: route.chatId,
        action: "typing",
        // Unlike messages, actions name the general topic.
        ...(route.threadId === undefined ? {} : { message_thread_id: Number(route.threadId) }),
      },
      { timeoutMs: callTimeoutMs, signal: ended.signal },
    )
    if (!result.ok && !ended.signal.aborted) onDropped()
    if (result.ok || result.failure.kind !== "refused") return true
    if (result.failure.retryAfterSeconds !== undefined) budget.pause(result.failure.retryAfterSeconds * 1000)
    return result.failure.code === 429 || result.failure.code >= 500
  }
  const pause = (ms: number) => clock.sleep(ms, ended.signal).catch(() => undefined)
  background.run("typing", async () => {
    await pause(firstAfterMs)
    while (!ended.signal.aborted && (await show())) await pause(everyMs)
  })
  return { end: () => ended.abort() }
}
