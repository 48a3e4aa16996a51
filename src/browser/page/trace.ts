// A trace of a browser, in the form that the automation library's viewer opens: a film of the tabs, their network and console,
// and what we did to them. The library joins the browser as a second client for as long as the trace runs. It is kept
// from doing anything by itself: no focus, no downloads, and questions of pages are left to us.
import type { Browser, BrowserContext, Page } from "playwright-core"
import {
  AppError,
  type Background,
  type Clock,
  describeError,
  type Ids,
  type Log,
  runWithTimeout,
} from "../../kernel/index.ts"
import { type CdpConnection, type Endpoint, openPrivateDoor, type PrivateDoor } from "../cdp/index.ts"
import type { Tab } from "./tab.ts"
import type { Tabs } from "./tabs.ts"

export interface TraceContent {
  /** A film of the tabs. */
  screenshots: boolean
  /** The page as it was after each action. */
  snapshots: boolean
  /** The library's own sources, which nobody has asked for so far. */
  sources: boolean
}

export interface TraceOptions {
  connection: CdpConnection
  tabs: Tabs
  background: Background
  clock: Clock
  ids: Ids
  log: Log
}

const connectMs = 6_000
/** The library waits without end for each tab, and until a trace has started every action waits for it. */
const startMs = 10_000
const stopMs = 60_000
const answerMs = 1_500
/** What a picture of the page may add to an action. */
const noteMs = 2_000

export class Trace {
  readonly #browser: Browser
  readonly #context: BrowserContext
  readonly #log: Log
  readonly #snapshots: boolean
  readonly #pages = new WeakMap<Page, string>()
  readonly #ended = new AbortController()
  /** Actions are noted one after the other: the library knows one open group. */
  #line: Promise<unknown> = Promise.resolve()

  static async start(options: TraceOptions, content: TraceContent): Promise<Trace> {
    const { chromium } = await import("playwright-core")
    const { endpoint } = options.connection
    // The library connects to addresses only; a browser without one gets an address for this client alone.
    const door = endpoint ? undefined : await openPrivateDoor(options.connection, options.ids)
    const { url, headers }: Endpoint = endpoint ?? (door as PrivateDoor)
    let browser: Browser
    try {
      browser = await chromium.connectOverCDP(url, {
        ...(headers ? { headers } : {}),
        noDefaults: true,
        timeout: connectMs,
      })
    } catch (error) {
      door?.close()
      throw await explain(error, options.tabs)
    }
    browser.on("disconnected", () => door?.close())
    // A browser that we lose is lost to the trace too.
    options.background.run("browser trace", async () => {
      await options.connection.closed
      await browser.close()
    })
    try {
      const context = browser.contexts()[0]
      if (!context) throw new AppError("browser-lost", "The browser has no context to trace")
      // With a listener the library leaves questions open, which are then answered as always. Without one it would
      // dismiss them.
      context.on("dialog", () => {})
      const leaves: (() => void)[] = []
      const leave = options.tabs.onTab((tab) => void leaves.push(tab.stayAwake()))
      browser.on("disconnected", () => {
        leave()
        for (const each of leaves) each()
      })
      await startInTime(context, content, options)
      return new Trace(browser, context, content, options.log)
    } catch (error) {
      await browser.close()
      throw error
    }
  }

  private constructor(browser: Browser, context: BrowserContext, { snapshots }: TraceContent, log: Log) {
    this.#browser = browser
    this.#context = context
    this.#snapshots = snapshots
    this.#log = log
    browser.on("disconnected", () => this.#ended.abort())
  }

  /** Aborts when the trace is over: stopped, or lost with its browser. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  get isRunning(): boolean {
    return this.#browser.isConnected()
  }

  /** Writes what was traced to `path` and leaves the browser. */
  async stop(path: string): Promise<void> {
    try {
      await runWithTimeout(stopMs, "Writing the trace", () => this.#context.tracing.stop({ path }))
    } catch (error) {
      if (error instanceof AppError) throw error
      throw new AppError("internal", "The trace could not be written", { cause: error })
    } finally {
      await this.#browser.close()
    }
  }

  /** Shows an action in the trace. Whatever goes wrong with that never touches the action. */
  async around<Result>(tab: Tab, title: string, work: () => Promise<Result>): Promise<Result> {
    await this.#note(() => this.#context.tracing.group(title, { location: { file: "svc" } }))
    try {
      return await work()
    } finally {
      if (this.#snapshots && !tab.dialog && tab.isOpen) await this.#note(() => this.#look(tab))
      await this.#note(() => this.#context.tracing.groupEnd())
    }
  }

  /** A question that changes nothing: the library takes the page down with each that it is asked. */
  async #look(tab: Tab): Promise<void> {
    const page = await this.#pageOf(tab.targetId)
    await page?.isVisible("html")
  }

  async #pageOf(targetId: string): Promise<Page | undefined> {
    for (const page of this.#context.pages()) {
      if (!this.#pages.has(page)) {
        const session = await this.#context.newCDPSession(page)
        const { targetInfo } = await session.send("Target.getTargetInfo")
        await session.detach()
        this.#pages.set(page, targetInfo.targetId)
      }
      if (this.#pages.get(page) === targetId) return page
    }
    return undefined
  }

  async #note(work: () => Promise<unknown>): Promise<void> {
    const done = this.#line.then(() => runWithTimeout(noteMs, "The trace", work))
    this.#line = done.catch((error: unknown) => {
      this.#log.debug({ reason: describeError(error) }, "action not traced")
    })
    await this.#line
  }
}

async function startInTime(
  context: BrowserContext,
  content: TraceContent,
  { clock, tabs }: TraceOptions,
): Promise<void> {
  const started = new AbortController()
  const limit = clock.sleep(startMs, started.signal).then(async () => {
    throw await tooSlow(tabs, "The trace could not start in time")
  })
  try {
    await Promise.race([context.tracing.start(content), limit])
  } finally {
    started.abort()
  }
}

/** The library's own words hold the address of the browser, which may be a secret. */
async function explain(error: unknown, tabs: Tabs): Promise<AppError> {
  const timedOut = error instanceof Error && error.name === "TimeoutError"
  if (!timedOut) return new AppError("browser-lost", "The automation library could not connect to the browser")
  return tooSlow(tabs, "The automation library could not connect in time")
}

/** `what` is said where every tab answers. */
async function tooSlow(tabs: Tabs, what: string): Promise<AppError> {
  const asked = await Promise.all(tabs.list.map(async (tab) => ({ tab, answers: await answers(tab) })))
  const frozen = asked.filter(({ answers: alive }) => !alive).map(({ tab }) => tab.targetId)
  const hint = "Close the tabs that do not answer, then try again"
  if (frozen.length === 0) return new AppError("timeout", what, { hint })
  return new AppError("timeout", `The trace could not start: these tabs do not answer: ${frozen.join(", ")}`, { hint })
}

async function answers(tab: Tab): Promise<boolean> {
  try {
    await runWithTimeout(answerMs, "The tab", async () => {
      await tab.attach()
      await tab.session.send("Runtime.evaluate", { expression: "1" })
    })
    return true
  } catch (error) {
    if (error instanceof Error) return false
    throw error
  }
}
