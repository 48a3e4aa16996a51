// The traces that run: one at a time in a browser.
import { AppError } from "../kernel/index.ts"
import type { Tab } from "./page/tab.ts"
import type { Trace } from "./page/trace.ts"
import type { LiveBrowser } from "./profiles/contract.ts"

/** The traces that run, by browser. */
export class Traces {
  readonly #running = new WeakMap<LiveBrowser, Promise<Trace>>()
  /** Starts one after the other: two of them must not both find that there is none. */
  readonly #starts = new WeakMap<LiveBrowser, Promise<unknown>>()

  /** Throws `conflict` while there is one. */
  start(live: LiveBrowser, begin: () => Promise<Trace>): Promise<Trace> {
    const started = (this.#starts.get(live) ?? Promise.resolve()).then(() => this.#start(live, begin))
    this.#starts.set(
      live,
      started.catch(() => undefined),
    )
    return started
  }

  async #start(live: LiveBrowser, begin: () => Promise<Trace>): Promise<Trace> {
    if (await this.of(live)) {
      throw new AppError("conflict", "A trace of this browser is running already", { hint: "Stop it first" })
    }
    const starting = begin()
    this.#running.set(live, starting)
    try {
      return await starting
    } catch (error) {
      this.#running.delete(live)
      throw error
    }
  }

  /** Takes the running trace; throws `not-found` when there is none. */
  async take(live: LiveBrowser): Promise<Trace> {
    const running = this.#running.get(live)
    // Of two who take at once, one gets it.
    this.#running.delete(live)
    const trace = await running?.catch(() => undefined)
    if (trace?.isRunning) return trace
    throw noTrace()
  }

  /** Does the work, shown in the trace when there is one. */
  async around<Result>(
    live: LiveBrowser | undefined,
    tab: Tab,
    title: string,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const trace = live && this.#running.has(live) ? await this.of(live) : undefined
    return trace ? trace.around(tab, title, work) : work()
  }

  /** One that ended with its browser is none; neither is one that could not start. */
  async of(live: LiveBrowser): Promise<Trace | undefined> {
    const trace = await this.#running.get(live)?.catch(() => undefined)
    return trace?.isRunning ? trace : undefined
  }
}

export function noTrace(): AppError {
  return new AppError("not-found", "No trace of this browser is running", { hint: "Start one first (trace start)" })
}
