// All tabs of one browser, kept up to date by its events. Tabs are found by id, never by being the last.
import { AppError, type Background, type Clock, describeError, type Log } from "../../kernel/index.ts"
import type { CdpConnection } from "../cdp/index.ts"
import { RefBook } from "./refs.ts"
import { Rest, type RestOptions } from "./rest.ts"
import { Tab, type TargetInfo } from "./tab.ts"

export interface TabsOptions {
  connection: CdpConnection
  background: Background
  clock: Clock
  log: Log
  /** True for browsers of our own: tabs are attached to as they appear and act as if they had the focus. */
  owned: boolean
  headless: boolean
  /** Requests are held up in one place for all: each tab has one session, which everybody shares. */
  sharedSession?: boolean
  /** Lets windows rest that nobody uses. Only where no other program works in them. */
  rests?: false | Pick<RestOptions, "afterMs">
  /** Of the connection before this one to the same profile. */
  memory?: TabsMemory | undefined
}

/** What callers may still use of a connection that has ended: refs, which are stale now, and the tab used last. */
export interface TabsMemory {
  /** Numbers below it were given, from `firstRef` on. */
  nextRef: number
  firstRef: number
  lastTargetId: string | undefined
  /** Tabs as they were: their settings go on. Left out when the connection was ended on purpose. */
  tabs?: ReadonlyMap<string, Tab>
}

export class Tabs {
  readonly #options: Omit<TabsOptions, "memory">
  readonly #tabs = new Map<string, Tab>()
  readonly #waiting = new Map<string, (tab: Tab) => void>()
  /** Closed, and not yet destroyed: what is still told of them must not bring them back. */
  readonly #closing = new Set<string>()
  readonly refs: RefBook
  /** Contexts apart from the browser's own, whose tabs only those are given who name them; and the tab used last there. */
  readonly #spaces = new Map<string, string | undefined>()
  readonly #onTab = new Set<(tab: Tab) => void>()
  /** The tabs of the connection before this one. */
  #earlier: ReadonlyMap<string, Tab> | undefined
  /** The tabs at the end of the connection. */
  #ended: ReadonlyMap<string, Tab> | undefined
  #lastId: string | undefined
  #keys = 0
  readonly #rest: Rest | undefined

  constructor(options: TabsOptions) {
    const { memory, ...rest } = options
    this.#options = rest
    const { rests = false, connection, background, clock } = options
    if (rests) this.#rest = new Rest({ connection, background, clock, tabs: () => this.list, ...rests })
    this.refs = new RefBook(memory?.nextRef, memory?.firstRef)
    this.#lastId = memory?.lastTargetId
    this.#earlier = memory?.tabs
  }

  async start(signal?: AbortSignal): Promise<void> {
    const { root, closed } = this.#options.connection
    root.on("Target.targetCreated", (event: { targetInfo: TargetInfo }) => this.#changed(event.targetInfo))
    root.on("Target.targetInfoChanged", (event: { targetInfo: TargetInfo }) => this.#changed(event.targetInfo))
    root.on("Target.targetDestroyed", ({ targetId }: { targetId: string }) => {
      this.#closing.delete(targetId)
      this.#gone(targetId)
    })
    root.on("Target.targetCrashed", (event: { targetId: string }) => this.#tabs.get(event.targetId)?.crash())
    void closed.then((reason) => {
      for (const tab of this.#tabs.values()) tab.close(reason)
      this.#ended = new Map(this.#tabs)
      this.#earlier = undefined
      this.#tabs.clear()
    })
    await root.send("Target.setDiscoverTargets", { discover: true, filter: [{ type: "page" }] }, { signal })
  }

  get memory(): TabsMemory {
    const tabs = this.#ended ?? this.#tabs
    return { nextRef: this.refs.next, firstRef: this.refs.first, lastTargetId: this.#lastId, tabs: new Map(tabs) }
  }

  get list(): Tab[] {
    return [...this.#tabs.values()]
  }

  /** Sets a context of the browser apart. */
  addSpace(contextId: string): void {
    this.#spaces.set(contextId, undefined)
  }

  /** Forgets a context that is gone; not while there are tabs of it, and says so. */
  removeSpace(contextId: string): boolean {
    return this.listIn(contextId).length === 0 && this.#spaces.delete(contextId)
  }

  /** The context of a tab that is set apart; undefined for the browser's own. */
  spaceOf(tab: Tab): string | undefined {
    const { browserContextId } = tab.info
    return browserContextId !== undefined && this.#spaces.has(browserContextId) ? browserContextId : undefined
  }

  /** The tabs that a caller may see: of its own space only, or all when it has none. */
  listIn(space: string | undefined): Tab[] {
    return space === undefined ? this.list : this.list.filter((tab) => this.spaceOf(tab) === space)
  }

  /** Tells of every tab, those that are there and those to come. */
  onTab(listener: (tab: Tab) => void): () => void {
    this.#onTab.add(listener)
    for (const tab of this.#tabs.values()) listener(tab)
    return () => this.#onTab.delete(listener)
  }

  /** The tab of an exact id or a unique prefix, whatever the case. Throws `tab-not-found` or `tab-ambiguous`. */
  find(idOrPrefix: string, space?: string): Tab {
    const seen = this.listIn(space)
    const exact = seen.find((tab) => tab.targetId === idOrPrefix)
    if (exact) return exact
    const prefix = idOrPrefix.toLowerCase()
    const matches = seen.filter((tab) => tab.targetId.toLowerCase().startsWith(prefix))
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
  async pick(targetId: string | undefined, space?: string): Promise<Tab> {
    const tab =
      targetId === undefined
        ? (this.#last(space) ?? this.#first(space) ?? (await this.create(space)))
        : this.find(targetId, space)
    this.#use(tab)
    return tab
  }

  /** What is done in a space never changes which tab is the usual one outside. */
  #use(tab: Tab): void {
    const space = this.spaceOf(tab)
    if (space === undefined) this.#lastId = tab.targetId
    else this.#spaces.set(space, tab.targetId)
  }

  #last(space: string | undefined): Tab | undefined {
    const id = space === undefined ? this.#lastId : this.#spaces.get(space)
    return id === undefined ? undefined : this.#tabs.get(id)
  }

  #first(space: string | undefined): Tab | undefined {
    return this.list.find((tab) => this.spaceOf(tab) === space)
  }

  /**
   * A blank tab, in the background: nothing on the screen changes. Where there is no screen it gets a window of its own:
   * a tab behind another one is drawn no frames, and what opens by an animation never comes.
   */
  async create(space?: string): Promise<Tab> {
    const { root } = this.#options.connection
    const { targetId } = await root.send<{ targetId: string }>("Target.createTarget", {
      url: "about:blank",
      ...(this.#options.headless ? { newWindow: true } : { background: true }),
      ...(space === undefined ? {} : { browserContextId: space }),
    })
    const tab = this.#tabs.get(targetId) ?? (await this.#appearance(targetId))
    this.#use(tab)
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
    this.#use(tab)
  }

  async close(tab: Tab): Promise<void> {
    const { targetId } = tab
    this.#closing.add(targetId)
    try {
      await this.#options.connection.root.send("Target.closeTarget", { targetId })
    } catch (error) {
      this.#closing.delete(targetId)
      throw error
    }
    this.#gone(targetId)
  }

  #changed(info: TargetInfo): void {
    if (info.type !== "page" || info.url.startsWith("devtools://") || this.#closing.has(info.targetId)) return
    const known = this.#tabs.get(info.targetId)
    if (known) {
      known.info = info
      return
    }
    const { connection, background, clock, owned, headless, log, sharedSession = false } = this.#options
    const nextKey = () => String(++this.#keys)
    const tab = new Tab({
      connection,
      info,
      refs: this.refs,
      background,
      clock,
      emulateFocus: owned,
      headless,
      sharedSession,
      rest: this.#rest,
      nextKey,
      opener: info.openerId === undefined ? undefined : this.#tabs.get(info.openerId),
      earlier: this.#earlier?.get(info.targetId),
    })
    this.#tabs.set(info.targetId, tab)
    this.#rest?.add(tab)
    for (const listener of this.#onTab) listener(tab)
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
