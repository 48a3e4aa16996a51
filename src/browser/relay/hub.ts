// What the gateway knows of the person's attached tabs, and the way to them. The extension decides what may be done; this
// only carries: clients -> commands -> the extension, its events -> clients. It goes on through the sleep of the extension:
// tabs stay known, and a command waits a little for it to come back.
import { AppError, type Log } from "../../kernel/index.ts"
import type { FromExtension, FromRelay, RelayChild, RelayCommand, RelayError, RelayTab } from "./contract.ts"

type Json = Record<string, unknown>

/** The extension, once it has proven itself. */
export interface ExtensionLink {
  instance: string
  userAgent: string
  version: string
  send(message: FromRelay): void
}

export interface HubTab extends RelayTab {
  children: Map<string, RelayChild>
  /** Script contexts by session below the tab ("" for its own) and number: for clients that ask later. */
  contexts: Map<string, Map<number, Json>>
}

export interface HubEvents {
  attached(tab: HubTab): void
  changed(tab: HubTab): void
  detached(tab: HubTab): void
  event(tab: HubTab, child: string | undefined, method: string, params: Json): void
  /** Whether it has a domain switched on in a session: `<session of the tab> <session below it>`. */
  hasOn(key: string, domain: string): boolean
}

interface Pending {
  resolve(result: unknown): void
  reject(error: AppError | RelayRefusal | NotTaken): void
  /** It may be sent again where it has not arrived: nothing that a page would notice twice. */
  isRepeatable: boolean
  hasArrived: boolean
}

/** The extension was gone before it had the command. */
class NotTaken extends Error {}

/** What must not be done twice, however unlikely it is that it was done once. */
const onlyOnce = /^(Input\.|Page\.(navigate|reload)$|Target\.)/
const maxTries = 3

/** An answer of the extension or the browser to a command; others know what it means for them. */
export class RelayRefusal extends Error {
  readonly kind: RelayError["kind"]

  constructor({ kind, message }: RelayError) {
    super(message)
    this.kind = kind
  }
}

/** How long commands wait for an extension that is away. */
export const patienceMs = 5_000

export class Hub {
  readonly #log: Log
  readonly #tabs = new Map<string, HubTab>()
  readonly #pending = new Map<number, Pending>()
  readonly #clients = new Set<HubEvents>()
  readonly #waiting = new Set<() => void>()
  /** Of a connected extension whose list of tabs has come. */
  #link: ExtensionLink | undefined
  #isReady = false
  #onPersonTab: ((tab: HubTab) => void) | undefined
  #nextId = 1
  #patienceMs: number

  constructor({ log, patience = patienceMs }: { log: Log; patience?: number | undefined }) {
    this.#log = log
    this.#patienceMs = patience
  }

  get link(): ExtensionLink | undefined {
    return this.#isReady ? this.#link : undefined
  }

  get tabs(): HubTab[] {
    return [...this.#tabs.values()]
  }

  bySession(session: string): HubTab | undefined {
    return this.#tabs.get(session)
  }

  byTarget(targetId: string): HubTab | undefined {
    return this.tabs.find((tab) => tab.targetId === targetId)
  }

  /** Gives the function that ends it. */
  listen(events: HubEvents): () => void {
    this.#clients.add(events)
    return () => this.#clients.delete(events)
  }

  wants(key: string, domain: string): boolean {
    return [...this.#clients].some((client) => client.hasOn(key, domain))
  }

  /** Tells of tabs that the person attaches. */
  onPersonTab(listener: (tab: HubTab) => void): void {
    this.#onPersonTab = listener
  }

  /** From now on this is the extension; its list of tabs comes next. */
  connect(link: ExtensionLink): void {
    this.#cut()
    if (this.#link && this.#link.instance !== link.instance) this.#replaceTabs([], [])
    this.#link = link
    this.#isReady = false
  }

  /** Tabs stay known: they are most likely there when the extension comes back. */
  disconnect(link: ExtensionLink): void {
    if (this.#link !== link) return
    this.#isReady = false
    this.#cut()
  }

  /** Whatever was lent to us is given back: another pairing, or another browser. */
  forget(): void {
    this.#isReady = false
    this.#link = undefined
    this.#cut()
    this.#replaceTabs([], [])
  }

  #cut(): void {
    for (const [id, { reject, isRepeatable, hasArrived }] of this.#pending) {
      this.#pending.delete(id)
      reject(isRepeatable && !hasArrived ? new NotTaken() : wentAway())
    }
  }

  /** Rejects with RelayRefusal, `relay-not-connected`, `browser-lost`, or the signal's reason. */
  async command(command: Omit<RelayCommand, "id">): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      const link = this.link ?? (await this.#comeBack())
      try {
        return await this.#send(link, command)
      } catch (error) {
        if (!(error instanceof NotTaken)) throw error
        if (tries === maxTries) throw wentAway()
      }
    }
  }

  #send(link: ExtensionLink, command: Omit<RelayCommand, "id">): Promise<unknown> {
    const id = this.#nextId++
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const isRepeatable = !onlyOnce.test(command.method)
    // First, because it throws for what is nested too deep: nobody would wait for an answer then.
    link.send({ id, ...command })
    this.#pending.set(id, { resolve, reject, isRepeatable, hasArrived: false })
    return promise
  }

  /** The extension, which may just be waking up. */
  async #comeBack(): Promise<ExtensionLink> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add(resolve)
    const timer = setTimeout(resolve, this.#patienceMs)
    await promise
    clearTimeout(timer)
    this.#waiting.delete(resolve)
    if (this.link) return this.link
    throw notConnected()
  }

  /** Resolves when the extension is there, or after the time that a command would wait. */
  async waitForLink(): Promise<void> {
    if (!this.link) await this.#comeBack()
  }

  receive(link: ExtensionLink, message: FromExtension | undefined): void {
    if (this.#link !== link || message === undefined) return
    if ("id" in message) return this.#answer(message)
    if ("got" in message) return this.#arrived(message.got)
    if ("method" in message) return this.#event(message)
    switch (message.type) {
      case "tabs":
        this.#replaceTabs(message.tabs, message.children)
        this.#isReady = true
        for (const wake of this.#waiting) wake()
        return
      case "attached":
        return this.#put(message.tab)
      case "changed":
        return this.#change(message.tab)
      case "detached":
        return this.#remove(message.session)
      case "ping":
        return link.send({ type: "pong" })
      default:
        return
    }
  }

  #arrived(id: number): void {
    const pending = this.#pending.get(id)
    if (pending) pending.hasArrived = true
  }

  #answer(message: Extract<FromExtension, { id: number }>): void {
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if ("error" in message) pending?.reject(new RelayRefusal(message.error))
    else pending?.resolve(message.result)
  }

  #event({ session, child, method, params }: Extract<FromExtension, { method: string }>): void {
    const tab = this.#tabs.get(session)
    if (!tab || !this.#note(tab, child ?? "", method, params)) return
    for (const client of this.#clients) client.event(tab, child, method, params)
  }

  /** Keeps what later clients will ask for. False for what everybody knows already. */
  #note(tab: HubTab, child: string, method: string, params: Json): boolean {
    switch (method) {
      case "Target.attachedToTarget": {
        const id = String(params["sessionId"])
        const above = child === "" ? {} : { parent: child }
        if (tab.children.has(id)) return false
        tab.children.set(id, { session: tab.session, child: id, ...above, params })
        return true
      }
      case "Target.detachedFromTarget":
        tab.contexts.delete(String(params["sessionId"]))
        return tab.children.delete(String(params["sessionId"]))
      case "Runtime.executionContextCreated": {
        const context = params["context"] as Json
        const known = tab.contexts.get(child) ?? new Map<number, Json>()
        tab.contexts.set(child, known)
        if (known.get(Number(context["id"]))?.["uniqueId"] === context["uniqueId"]) return false
        known.set(Number(context["id"]), context)
        return true
      }
      case "Runtime.executionContextDestroyed":
        tab.contexts.get(child)?.delete(Number(params["executionContextId"]))
        return true
      case "Runtime.executionContextsCleared":
        tab.contexts.delete(child)
        return true
      default:
        return true
    }
  }

  #replaceTabs(tabs: RelayTab[], children: RelayChild[]): void {
    const stay = new Set(tabs.map(({ session }) => session))
    for (const session of this.#tabs.keys()) if (!stay.has(session)) this.#remove(session)
    for (const tab of tabs) {
      const own = children.filter(({ session }) => session === tab.session)
      const known = this.#tabs.get(tab.session)
      if (known) this.#change(tab)
      else this.#put(tab)
      this.#replaceChildren(this.#tabs.get(tab.session) as HubTab, own)
    }
  }

  #replaceChildren(tab: HubTab, children: RelayChild[]): void {
    const stay = new Set(children.map(({ child }) => child))
    for (const { child, parent } of tab.children.values())
      if (!stay.has(child)) this.#tellEvent(tab, parent, "Target.detachedFromTarget", { sessionId: child })
    for (const { parent, params } of children) this.#tellEvent(tab, parent, "Target.attachedToTarget", params)
  }

  #tellEvent(tab: HubTab, child: string | undefined, method: string, params: Json): void {
    this.#event({ session: tab.session, ...(child === undefined ? {} : { child }), method, params })
  }

  #put(tab: RelayTab): void {
    const entry: HubTab = { ...tab, children: new Map(), contexts: new Map() }
    this.#tabs.set(tab.session, entry)
    this.#log.info({ targetId: tab.targetId, by: tab.by }, "tab attached")
    for (const client of this.#clients) client.attached(entry)
    if (tab.by === "person") this.#onPersonTab?.(entry)
  }

  #change(tab: RelayTab): void {
    const known = this.#tabs.get(tab.session)
    if (!known) return
    Object.assign(known, { title: tab.title, url: tab.url })
    for (const client of this.#clients) client.changed(known)
  }

  #remove(session: string): void {
    const tab = this.#tabs.get(session)
    if (!tab) return
    this.#tabs.delete(session)
    this.#log.info({ targetId: tab.targetId }, "tab detached")
    for (const client of this.#clients) client.detached(tab)
  }
}

function wentAway(): AppError {
  return new AppError("browser-lost", "The extension went away before it had answered", {
    hint: "It may have been done or not: look at the page before doing it again",
  })
}

export function notConnected(): AppError {
  return new AppError("relay-not-connected", "No browser extension is connected, so no tab is attached", {
    hint: "Open the page in your browser and press the button of the svc extension in its toolbar; `svc browser extension status` says more",
  })
}
