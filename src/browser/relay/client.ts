// One CDP client of the relay: our own engine, or a program at `/cdp`. It sees a browser whose only tabs are the attached
// ones. What is about tabs is answered here from what is known of them; everything else goes to the extension.
import { AppError, describeError } from "../../kernel/index.ts"
import type { Message } from "../cdp/connection.ts"
import { type Hub, type HubEvents, type HubTab, RelayRefusal } from "./hub.ts"

type Json = Record<string, unknown>

export interface ClientOptions {
  hub: Hub
  deliver(message: Message): void
  newSession(): string
  /** The address in the form to open; rejects with `navigation-refused`. */
  checkOpen(url: string): Promise<string>
}

/** A session that the client knows, and what it stands for. */
interface Place {
  tab: HubTab
  child: string | undefined
}

/** How our own code of an error reaches whoever asked; the browser's errors have none. */
export interface RelayErrorData {
  svc: string
  hint?: string
}

const noSession = { code: -32_001, message: "Session with given id not found." }

export class RelayClient implements HubEvents {
  readonly #options: ClientOptions
  /** The client's sessions of tabs. Those of frames and workers keep the browser's own names. */
  readonly #sessions = new Map<string, HubTab>()
  readonly #leave: () => void
  /** Domains that it has switched on, by session of the hub; switched off again when nobody else wants them. */
  readonly #domains: Map<string, Set<string>> = new Map()
  /** Sessions below tabs that it has been told of. */
  readonly #children = new Set<string>()
  #isDiscovering = false
  #attachesAll = false

  constructor(options: ClientOptions) {
    this.#options = options
    this.#leave = options.hub.listen(this)
  }

  /** Whoever sends: nothing that comes here may throw. */
  receive(text: string): void {
    let message: Message
    try {
      message = JSON.parse(text) as Message
    } catch {
      return this.#options.deliver({ error: { code: -32_700, message: "Message must be valid JSON" } })
    }
    if (typeof message?.id !== "number" || typeof message.method !== "string")
      return this.#options.deliver({ error: { code: -32_600, message: "Message must have an id and a method" } })
    const { id, method, params, sessionId } = message
    const isSession = sessionId === undefined || typeof sessionId === "string"
    if (!isSession || (params !== undefined && (typeof params !== "object" || params === null)))
      return this.#options.deliver({
        id,
        error: { code: -32_600, message: "sessionId must be text, params an object" },
      })
    void this.#serve({ ...message, id, method })
  }

  async #serve(message: Message & { id: number; method: string }): Promise<void> {
    const { id, sessionId } = message
    const about = { id, ...(sessionId === undefined ? {} : { sessionId }) }
    try {
      const result = sessionId === undefined ? await this.#atBrowser(message) : await this.#atTab(message, sessionId)
      this.#options.deliver({ ...about, result: result ?? {} })
    } catch (error) {
      this.#options.deliver({ ...about, error: errorOf(error) })
    }
  }

  async #atBrowser({ method, params = {} }: Message & { method: string }): Promise<unknown> {
    const { hub } = this.#options
    switch (method) {
      case "Browser.getVersion":
        return versionOf(hub.link?.userAgent)
      // Where downloads go is the person's affair: nothing is changed by it.
      case "Browser.setDownloadBehavior":
        return {}
      case "Target.setDiscoverTargets":
        this.#isDiscovering = params["discover"] === true
        if (this.#isDiscovering) for (const tab of hub.tabs) this.#tellTarget("Target.targetCreated", tab)
        return {}
      case "Target.setAutoAttach":
        this.#attachesAll = params["autoAttach"] === true
        if (this.#attachesAll) for (const tab of hub.tabs) this.#attach(tab)
        return {}
      case "Target.getTargets":
        return { targetInfos: hub.tabs.map(infoOf) }
      case "Target.getTargetInfo":
        return { targetInfo: infoOf(this.#tab(params["targetId"])) }
      case "Target.attachToTarget":
        return { sessionId: this.#attach(this.#tab(params["targetId"])) }
      case "Target.detachFromTarget":
        this.#detach(String(params["sessionId"]))
        return {}
      case "Target.createTarget":
        return hub.command({ method, params: await this.#open(params) })
      default:
        return hub.command({ method, params })
    }
  }

  async #open(params: Json): Promise<Json> {
    const url = params["url"]
    return typeof url !== "string" || url === "" ? params : { ...params, url: await this.#options.checkOpen(url) }
  }

  async #atTab({ method, params = {} }: Message & { method: string }, sessionId: string): Promise<unknown> {
    const place = this.#place(sessionId)
    if (!place) throw new RelayRefusal({ kind: "no-tab", message: noSession.message })
    const { tab, child } = place
    if (method === "Target.getTargetInfo" && child === undefined) return { targetInfo: infoOf(tab) }
    if (method === "Target.detachFromTarget") return {}
    const given = method === "Page.navigate" ? await this.#open(params) : params
    if (this.#isSharedDisable(place, method)) return {}
    const result = await this.#options.hub.command({
      session: tab.session,
      ...(child === undefined ? {} : { child }),
      method,
      params: given,
    })
    if (method === "Runtime.enable") this.#replayContexts(tab, child, sessionId)
    if (method === "Target.setAutoAttach") this.#replayChildren(tab, child, sessionId)
    return result
  }

  #place(sessionId: string): Place | undefined {
    const tab = this.#sessions.get(sessionId)
    if (tab) return { tab, child: undefined }
    const above = [...this.#sessions.values()].find(({ children }) => children.has(sessionId))
    return above && { tab: above, child: sessionId }
  }

  #tab(targetId: unknown): HubTab {
    const tab = this.#options.hub.byTarget(String(targetId))
    if (!tab) throw new RelayRefusal({ kind: "no-tab", message: "No target with given id found" })
    return tab
  }

  #attach(tab: HubTab): string {
    const sessionId = this.#options.newSession()
    this.#sessions.set(sessionId, tab)
    this.#tell("Target.attachedToTarget", { sessionId, targetInfo: infoOf(tab), waitingForDebugger: false })
    return sessionId
  }

  #detach(sessionId: string): void {
    const tab = this.#sessions.get(sessionId)
    if (!tab) return
    this.#sessions.delete(sessionId)
    // Whoever attaches anew is told once more of what is below the tab.
    if (![...this.#sessions.values()].includes(tab)) for (const id of tab.children.keys()) this.#children.delete(id)
    this.#tell("Target.detachedFromTarget", { sessionId, targetId: tab.targetId })
  }

  /** The browser has one session for all clients: what one does not want any more others may still want. */
  #isSharedDisable({ tab, child }: Place, method: string): boolean {
    const [domain = "", verb] = method.split(".")
    const key = `${tab.session} ${child ?? ""}`
    const own = this.#domains.get(key) ?? new Set()
    this.#domains.set(key, own)
    if (verb === "enable") own.add(domain)
    if (verb !== "disable") return false
    own.delete(domain)
    return this.#options.hub.wants(key, domain)
  }

  hasOn(key: string, domain: string): boolean {
    return this.#domains.get(key)?.has(domain) ?? false
  }

  /** What the browser has told before this client asked. */
  #replayContexts(tab: HubTab, child: string | undefined, sessionId: string): void {
    for (const context of tab.contexts.get(child ?? "")?.values() ?? [])
      this.#options.deliver({ sessionId, method: "Runtime.executionContextCreated", params: { context } })
  }

  #replayChildren(tab: HubTab, child: string | undefined, sessionId: string): void {
    for (const { parent, params, child: id } of tab.children.values()) {
      if (parent !== child || this.#children.has(id)) continue
      this.#children.add(id)
      this.#options.deliver({ sessionId, method: "Target.attachedToTarget", params })
    }
  }

  attached(tab: HubTab): void {
    if (this.#isDiscovering) this.#tellTarget("Target.targetCreated", tab)
    if (this.#attachesAll) this.#attach(tab)
  }

  changed(tab: HubTab): void {
    if (this.#isDiscovering) this.#tellTarget("Target.targetInfoChanged", tab)
  }

  detached(tab: HubTab): void {
    for (const [sessionId, own] of this.#sessions) if (own === tab) this.#detach(sessionId)
    for (const key of this.#domains.keys()) if (key.startsWith(`${tab.session} `)) this.#domains.delete(key)
    if (this.#isDiscovering) this.#tell("Target.targetDestroyed", { targetId: tab.targetId })
  }

  event(tab: HubTab, child: string | undefined, method: string, params: Json): void {
    if (method === "Inspector.targetCrashed" && child === undefined && this.#isDiscovering)
      this.#tell("Target.targetCrashed", { targetId: tab.targetId, status: "crashed", errorCode: 0 })
    if (method === "Target.detachedFromTarget") {
      this.#children.delete(String(params["sessionId"]))
      this.#domains.delete(`${tab.session} ${String(params["sessionId"])}`)
    }
    for (const [sessionId, own] of this.#sessions) {
      if (own !== tab) continue
      if (method === "Target.attachedToTarget") this.#children.add(String(params["sessionId"]))
      this.#options.deliver({ sessionId: child ?? sessionId, method, params })
      // A session below a tab has one name, however often the client has attached to the tab.
      if (child !== undefined) return
    }
  }

  #tellTarget(method: string, tab: HubTab): void {
    this.#tell(method, { targetInfo: infoOf(tab) })
  }

  #tell(method: string, params: Json): void {
    this.#options.deliver({ method, params })
  }

  /** What it has switched on is switched off where nobody else wants it. */
  close(): void {
    this.#leave()
    const { hub } = this.#options
    for (const [key, domains] of this.#domains) {
      const [session = "", child = ""] = key.split(" ")
      if (!hub.link || !hub.bySession(session)) continue
      for (const domain of domains) {
        if (hub.wants(key, domain)) continue
        const command = { session, ...(child === "" ? {} : { child }), method: `${domain}.disable`, params: {} }
        // The tab may be gone by then, with all that was on in it.
        hub.command(command).catch(() => undefined)
      }
    }
    this.#sessions.clear()
    this.#domains.clear()
  }
}

function infoOf({ targetId, title, url, openerId }: HubTab): Json {
  const opener = openerId === undefined ? {} : { openerId }
  return { targetId, type: "page", title, url, attached: true, canAccessOpener: false, ...opener }
}

function versionOf(userAgent = ""): Json {
  const product = /(?:HeadlessChrome|Chrome)\/[\d.]+/.exec(userAgent)?.[0] ?? "Chrome"
  return { protocolVersion: "1.3", product, revision: "", userAgent, jsVersion: "" }
}

function errorOf(error: unknown): NonNullable<Message["error"]> {
  if (error instanceof RelayRefusal) {
    if (error.message === noSession.message) return noSession
    if (error.kind === "browser") return { code: -32_000, message: error.message }
    const svc = error.kind === "refused" ? "relay-refused" : "relay-no-tab"
    return { code: -32_000, message: error.message, data: { svc } satisfies RelayErrorData }
  }
  const message = describeError(error)
  if (!(error instanceof AppError)) return { code: -32_000, message }
  const hint = error.hint === undefined ? {} : { hint: error.hint }
  return { code: -32_000, message, data: { svc: error.code, ...hint } satisfies RelayErrorData }
}
