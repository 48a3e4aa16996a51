// Places for turns that act on words of others: for each session a context of the browser without the owner's cookies,
// logins and tabs, whose way to the network is the guard proxy. The one used longest ago is closed when there are too many.
import { AppError, type Background, type Log } from "../../kernel/index.ts"
import { type CdpConnection, CdpError } from "../cdp/index.ts"
import { greet } from "./policy/greeting.ts"
import type { GuardProxy } from "./policy/guard-proxy.ts"
import type { Tabs } from "./tabs.ts"

export interface GuestsOptions {
  connection: CdpConnection
  tabs: Tabs
  /** Undefined for a browser elsewhere, which cannot reach it. */
  proxy: GuardProxy | undefined
  log: Log
  background: Background
  /** Told of each place that is gone. */
  onGone(space: string): void
  /** Monotonic milliseconds. */
  now(): number
  /** How many keep their places. */
  max?: number | undefined
}

/** Each is a window's worth of memory once it has a page. */
const maxSpaces = 8
/** A turn that is asked again later finds its pages; one that is not leaves nothing behind. */
const idleMs = 20 * 60_000

export class Guests {
  readonly #options: GuestsOptions
  /** By the key of the guest, the one used last at the end. */
  readonly #spaces = new Map<string, Promise<string>>()
  readonly #known = new Map<string, string>()
  readonly #usedAt = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: GuestsOptions) {
    this.#options = options
    void options.connection.closed.then(() => {
      clearTimeout(this.#timer)
      for (const space of this.#known.values()) options.onGone(space)
    })
  }

  get hasProxy(): boolean {
    return this.#options.proxy !== undefined
  }

  get isEmpty(): boolean {
    return this.#spaces.size === 0
  }

  /** The context of a guest that has one. */
  find(key: string): string | undefined {
    return this.#known.get(key)
  }

  /** The context of a guest, made at its first use. */
  async spaceFor(key: string): Promise<string> {
    const space = this.#spaces.get(key) ?? this.#make(key)
    this.#spaces.delete(key)
    this.#spaces.set(key, space)
    this.#usedAt.set(key, this.#options.now())
    this.#sweepLater()
    const { max = maxSpaces } = this.#options
    for (const [oldest, old] of this.#spaces) {
      if (this.#spaces.size <= max) break
      // One that is being made is in use: whoever waits for it would be given a place that is gone.
      if (this.#known.has(oldest)) await this.#close(oldest, old)
    }
    return space
  }

  /** Closes the places that nobody has used for long. */
  async sweep(): Promise<void> {
    const until = this.#options.now() - idleMs
    const idle = [...this.#spaces].filter(([key]) => (this.#usedAt.get(key) ?? 0) < until)
    await Promise.all(idle.map(([key, space]) => this.#close(key, space)))
  }

  /** Also when nobody uses the browser any more, and so nobody else would look. */
  #sweepLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#options.background.run("guest spaces", () => this.sweep()), idleMs + 1_000)
    this.#timer.unref()
  }

  async #close(key: string, space: Promise<string>): Promise<void> {
    this.#forget(key)
    // One that could not be made has been told to who asked for it.
    const made = await space.catch(() => undefined)
    if (made !== undefined) await this.#dispose(made)
  }

  #make(key: string): Promise<string> {
    const made = this.#create().then((space) => {
      this.#known.set(key, space)
      return space
    })
    made.catch(() => this.#forget(key))
    return made
  }

  #forget(key: string): void {
    this.#spaces.delete(key)
    this.#known.delete(key)
    this.#usedAt.delete(key)
  }

  async #create(): Promise<string> {
    const { connection, tabs, proxy, log } = this.#options
    const way = proxy ? { proxyServer: await proxy.url(), proxyBypassList: "<-loopback>" } : {}
    const { root } = connection
    let space: string
    try {
      const made = await root.send<{ browserContextId: string }>("Target.createBrowserContext", {
        disposeOnDetach: true,
        ...way,
      })
      space = made.browserContextId
    } catch (error) {
      if (!(error instanceof CdpError)) throw error
      throw new AppError(
        "profile-unsupported",
        "This browser has no room apart for a turn that acts on words of others",
        {
          cause: error,
          hint: "Use a managed profile",
        },
      )
    }
    tabs.addSpace(space)
    try {
      await root.send("Browser.setDownloadBehavior", {
        behavior: "deny",
        browserContextId: space,
        eventsEnabled: true,
      })
      if (proxy) await greet(connection, proxy, { space })
    } catch (error) {
      await this.#dispose(space)
      throw error
    }
    log.info({ space, proxied: proxy !== undefined }, "guest space made")
    return space
  }

  async #dispose(space: string): Promise<void> {
    try {
      await this.#options.connection.root.send("Target.disposeBrowserContext", { browserContextId: space })
    } catch (error) {
      // Gone already, or with the browser.
      if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
    }
    // A tab of it that is still there stays what it is.
    if (this.#options.tabs.removeSpace(space)) this.#options.onGone(space)
  }
}
