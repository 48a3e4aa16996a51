// All tabs of one browser, kept up to date by its events. Tabs are found by id, never by being the last.
import { AppError, type Background, type Clock, describeError, type Log } from "../../kernel/index.ts"
import type { CdpConnection } from "../cdp/index.ts"
import { RefBook } from "./refs.ts"
import { Tab, type TargetInfo } from "./tab.ts"

export interface TabsOptions {
  connection: CdpConnection
  background: Background
  clock: Clock
  log: Log
  /** True for browsers of our own: tabs are attached to as they appear and act as if they had the focus. */
  owned: boolean
  headless: boolean
  /** Of the connection before this one to the same profile. */
  memory?: TabsMemory | undefined
}

/** What callers may still use of a connection that has ended: refs, which are stale now, and the tab used last. */
export interface TabsMemory {
  /** Numbers below it were given, from `firstRef` on. */
  nextRef: number
  firstRef: number
  lastTargetId: string | undefined
}

export class Tabs {
  readonly #options: TabsOptions
  readonly #tabs = new Map<string, Tab>()
  readonly #waiting = new Map<string, (tab: Tab) => void>()
  readonly refs: RefBook
  #lastId: string | undefined
  #keys = 0

  constructor(options: TabsOptions) {
    this.#options = options
    this.refs = new RefBook(options.memory?.nextRef, options.memory?.firstRef)
    this.#lastId = options.memory?.lastTargetId
  }

  async start(signal?: AbortSignal): Promise<void> {
    const { root, closed } = this.#options.connection
    root.on("Target.targetCreated", (event: { targetInfo: TargetInfo }) => this.#changed(event.targetInfo))
    root.on("Target.targetInfoChanged", (event: { targetInfo: TargetInfo }) => this.#changed(event.targetInfo))
    root.on("Target.targetDestroyed", (event: { targetId: string }) => this.#gone(event.targetId))
    root.on("Target.targetCrashed", (event: { targetId: string }) => this.#tabs.get(event.targetId)?.crash())
    void closed.then((reason) => {
      for (const tab of this.#tabs.values()) tab.close(reason)
      this.#tabs.clear()
    })
    await root.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, { signal })
  }

  get memory(): TabsMemory {
    return { nextRef: this.refs.next, firstRef: this.refs.first, lastTargetId: this.#lastId }
  }

  get list(): Tab[] {
    return [...this.#tabs.values()]
  }

  /** The tab of an exact id or a unique prefix, whatever the case. Throws `tab-not-found` or `tab-ambiguous`. */
  find(idOrPrefix: string): Tab {
    const exact = this.#tabs.get(idOrPrefix)
    if (exact) return exact
    const prefix = idOrPrefix.toLowerCase()
    const matches = this.list.filter((tab) => tab.targetId.toLowerCase().startsWith(prefix))
    if (matches.length === 1) return matches[0] as Tab
    if (matches.length === 0) {
      throw new AppError("tab-not-found", `No tab has the targetId ${idOrPrefix.slice(0, 64)}`, {
        hint: "List the tabs for their ids",
      })
    }
    throw new AppError(
      "tab-ambiguous",
      `${matches.length} tabs have a targetId that begins with ${idOrPrefix.slice(0, 64)}`,
      {
        hint: "Give more of the id",
      },
    )
  }

  /** The tab for a caller that names none: the one used last, else the first; a new blank one when there is none. */
  async pick(targetId: string | undefined): Promise<Tab> {
    const tab = targetId === undefined ? (this.#last() ?? this.list[0] ?? (await this.create())) : this.find(targetId)
    this.#lastId = tab.targetId
    return tab
  }

  #last(): Tab | undefined {
    return this.#lastId === undefined ? undefined : this.#tabs.get(this.#lastId)
  }

  /** A blank tab, in the background: nothing on the screen changes. */
  async create(): Promise<Tab> {
    const { root } = this.#options.connection
    const { targetId } = await root.send<{ targetId: string }>("Target.createTarget", {
      url: "about:blank",
      background: true,
    })
    const tab = this.#tabs.get(targetId) ?? (await this.#appearance(targetId))
    this.#lastId = targetId
    return tab
  }

  #appearance(targetId: string): Promise<Tab> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(targetId)
        reject(new AppError("timeout", "The new tab did not appear"))
      }, 5_000)
      this.#waiting.set(targetId, (tab) => {
        clearTimeout(timer)
        this.#waiting.delete(targetId)
        resolve(tab)
      })
    })
  }

  async focus(tab: Tab): Promise<void> {
    await this.#options.connection.root.send("Target.activateTarget", { targetId: tab.targetId })
    this.#lastId = tab.targetId
  }

  async close(tab: Tab): Promise<void> {
    await this.#options.connection.root.send("Target.closeTarget", { targetId: tab.targetId })
    this.#gone(tab.targetId)
  }

  #changed(info: TargetInfo): void {
    if (info.type !== "page" || info.url.startsWith("devtools://")) return
    const known = this.#tabs.get(info.targetId)
    if (known) {
      known.info = info
      return
    }
    const { connection, background, clock, owned, headless, log } = this.#options
    const nextKey = () => String(++this.#keys)
    const tab = new Tab({
      connection,
      info,
      refs: this.refs,
      background,
      clock,
      emulateFocus: owned,
      headless,
      nextKey,
    })
    this.#tabs.set(info.targetId, tab)
    this.#waiting.get(info.targetId)?.(tab)
    if (!owned) return
    // Attached at once, so that no dialog can open unseen. A tab that cannot be is tried again when it is used.
    background.run("browser attach", async () => {
      try {
        await tab.attach()
      } catch (error) {
        log.debug({ targetId: tab.targetId, reason: describeError(error) }, "tab not attached")
      }
    })
  }

  #gone(targetId: string): void {
    const tab = this.#tabs.get(targetId)
    if (!tab) return
    this.#tabs.delete(targetId)
    tab.close(new AppError("tab-not-found", "The tab was closed"))
  }
}
