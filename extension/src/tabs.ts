// All attached tabs. The person attaches by the button; commands may add a tab only beside one that the person has attached,
// and close only what commands have opened. What is attached outlives the worker, never the browser.
import type { RelayChild, RelayTab } from "../../src/browser/relay/contract.ts"
import { checkBrowserCommand, isPageAddress, Refused } from "./allowed.ts"
import { Attachment, Gone, type Kept, type Links, type Told } from "./attachment.ts"
import { chrome } from "./chrome.ts"

type Json = Record<string, unknown>

export interface TabsOptions {
  tell(event: Told): void
  attached(tab: RelayTab): void
  changed(tab: RelayTab): void
  detached(tab: RelayTab, tabId: number, reason: string): void
  /** Nothing is attached any more, and nothing is on its way to be. */
  emptied(): void
  /** Whether commands may open tabs, as the person and the gateway have it. */
  mayOpen(): boolean
  /** The run of the gateway that is connected. */
  boot(): string
}

export class AttachedTabs {
  readonly #options: TabsOptions
  readonly #tabs = new Map<number, Attachment>()
  /** Of those that are being attached: a second press waits for the first. */
  readonly #making = new Map<number, Promise<Attachment>>()
  /** Of those whose debugger is there already: the scripts of the page are told of once, while it is set up. */
  readonly #beginning = new Map<number, Attachment>()

  readonly #links: Links

  constructor(options: TabsOptions) {
    this.#options = options
    this.#links = {
      tell: options.tell,
      save: () => void this.keep(),
      begins: (attachment) => void this.#beginning.set(attachment.kept.tabId, attachment),
    }
  }

  /** What is being attached counts: whoever lets go of the last other tab must not take its connection away. */
  get isEmpty(): boolean {
    return this.#tabs.size === 0 && this.#making.size === 0
  }

  get ids(): number[] {
    return [...this.#tabs.keys()]
  }

  get list(): { tabs: RelayTab[]; children: RelayChild[] } {
    const all = [...this.#tabs.values()]
    return { tabs: all.map(({ tab }) => tab), children: all.flatMap(({ kept }) => kept.children) }
  }

  has(tabId: number): boolean {
    return this.#tabs.has(tabId)
  }

  urlOf(tabId: number): string | undefined {
    return this.#tabs.get(tabId)?.url
  }

  /** Takes up what was attached before the worker slept; what the debugger has left meanwhile is gone. */
  async restore(): Promise<void> {
    const { attached } = await chrome.storage.session.get("attached")
    for (const kept of (attached ?? []) as Kept[]) {
      const restored = await Attachment.restore(kept, this.#links)
      if (restored) this.#tabs.set(kept.tabId, restored)
      else this.#options.detached({ ...kept, title: "", url: "" }, kept.tabId, "the debugger was gone")
    }
    await this.keep()
  }

  async keep(): Promise<void> {
    await chrome.storage.session.set({ attached: [...this.#tabs.values()].map(({ kept }) => kept) })
  }

  async attach(tabId: number, by: RelayTab["by"], openerId?: string): Promise<Attachment> {
    const known = this.#tabs.get(tabId) ?? this.#making.get(tabId)
    if (known) return known
    const making = this.#attach(tabId, by, openerId).finally(() => {
      this.#making.delete(tabId)
      if (this.isEmpty) this.#options.emptied()
    })
    this.#making.set(tabId, making)
    return making
  }

  async #attach(tabId: number, by: RelayTab["by"], openerId?: string): Promise<Attachment> {
    const { url = "" } = await chrome.tabs.get(tabId)
    if (!isPageAddress(url)) throw new Error("Only pages of the web can be attached")
    const make = () => Attachment.make(tabId, { by, openerId, boot: this.#options.boot() }, this.#links)
    const attachment = await make().finally(() => this.#beginning.delete(tabId))
    this.#tabs.set(tabId, attachment)
    // It may have come to another address while the debugger was on its way.
    attachment.describe(await chrome.tabs.get(tabId))
    await this.keep()
    this.#options.attached(attachment.tab)
    attachment.isTold()
    return attachment
  }

  async detach(tabId: number, reason: string): Promise<void> {
    const attachment = this.#tabs.get(tabId)
    if (!attachment) return
    // From here on no command finds it, however long the browser takes.
    this.#forget(tabId, attachment, reason)
    await attachment.end()
    await this.keep()
  }

  async detachAll(reason: string): Promise<void> {
    await Promise.all(this.ids.map((tabId) => this.detach(tabId, reason)))
  }

  /** The browser has taken the debugger away: the tab was closed, or the person has said so in the bar. */
  async lost(tabId: number, reason: string): Promise<void> {
    const attachment = this.#tabs.get(tabId)
    if (!attachment) return
    this.#forget(tabId, attachment, reason)
    await this.keep()
  }

  #forget(tabId: number, attachment: Attachment, reason: string): void {
    this.#tabs.delete(tabId)
    this.#options.detached(attachment.tab, tabId, reason)
    if (this.isEmpty) this.#options.emptied()
  }

  async detachIdle(idleMs: number, now: number): Promise<void> {
    if (idleMs === 0) return
    for (const [tabId, { kept }] of this.#tabs)
      if (now - kept.usedAt > idleMs) await this.detach(tabId, "nothing was done in it for a long time")
  }

  /**
   * For another run of the gateway, or one that has missed too much: everything that was set up in the tabs goes, and they
   * begin anew.
   */
  async renew(boot: string, isBehind: boolean): Promise<void> {
    for (const [tabId, attachment] of this.#tabs) {
      if (attachment.kept.boot === boot && !isBehind) {
        await attachment.holdAgain()
        continue
      }
      const renewed = await attachment
        .renew(boot)
        .catch(() => undefined)
        .finally(() => this.#beginning.delete(tabId))
      // The person may have let the tab go meanwhile.
      const isLent = this.#tabs.get(tabId) === attachment
      if (!isLent) await renewed?.end()
      else if (renewed) {
        this.#tabs.set(tabId, renewed)
        // Behind the list of all tabs, which comes next.
        renewed.isTold()
      } else this.#forget(tabId, attachment, "the debugger could not be attached again")
    }
    await this.keep()
  }

  /** Requests that wait for the gateway's word pass without it. */
  async release(): Promise<void> {
    await Promise.all([...this.#tabs.values()].map((attachment) => attachment.release()))
  }

  describe(tabId: number, news: { url?: string; title?: string }): void {
    const attachment = this.#tabs.get(tabId)
    if (attachment?.describe(news)) this.#options.changed(attachment.tab)
  }

  event(tabId: number, child: string, method: string, params: Json): void {
    const attachment = this.#beginning.get(tabId) ?? this.#tabs.get(tabId)
    attachment?.event(child, method, params)
  }

  /** Looks again at each command whether it may be done, and in which tab. */
  async command(session: string | undefined, child: string, method: string, params: Json): Promise<unknown> {
    if (session === undefined) return this.#browserCommand(method, checkBrowserCommand(method, params))
    return this.#bySession(session).command(child, method, params)
  }

  #bySession(session: string): Attachment {
    const found = [...this.#tabs.values()].find(({ kept }) => kept.session === session)
    if (!found) throw new Gone("The tab is not attached")
    return found
  }

  async #browserCommand(method: string, params: Json): Promise<unknown> {
    if (method === "Target.createTarget") return this.#open(params)
    const wanted = String(params["targetId"])
    const [tabId, attachment] = [...this.#tabs].find(([, { kept }]) => kept.targetId === wanted) ?? []
    if (tabId === undefined || !attachment) throw new Gone("The tab is not attached")
    if (method === "Target.closeTarget") {
      if (attachment.kept.by !== "agent") throw new Refused("Only tabs that the agent has opened itself may be closed")
      await chrome.tabs.remove(tabId)
      return { success: true }
    }
    const { windowId } = await chrome.tabs.update(tabId, { active: true })
    await chrome.windows.update(windowId, { focused: true })
    return {}
  }

  /** Behind what the person looks at, in the window of a tab that they have attached. */
  async #open(params: Json): Promise<unknown> {
    const beside = [...this.#tabs].find(([, { kept }]) => kept.by === "person")
    if (!beside) throw new Gone("No tab is attached")
    if (!this.#options.mayOpen()) throw new Refused("New tabs are not allowed: attach a tab by the button instead")
    const { windowId } = await chrome.tabs.get(beside[0])
    const { id } = await chrome.tabs.create({ url: "about:blank", active: false, windowId })
    const attachment = await this.attach(id as number, "agent")
    const url = params["url"]
    if (typeof url === "string" && url !== "about:blank") await attachment.command("", "Page.navigate", { url })
    return { targetId: attachment.kept.targetId }
  }
}
