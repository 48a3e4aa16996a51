// One attached tab: the debugger at it, the frames and workers below it, and what was told of it. It is the only way by which
// a command reaches a tab; what it does not know of is not there.
import type { RelayChild, RelayTab } from "../../src/browser/relay/contract.ts"
import { checkTabCommand, isPageAddress } from "./allowed.ts"
import { chrome, type Debuggee } from "./chrome.ts"
import { Contexts } from "./contexts.ts"
import { scrubEvent } from "./scrub.ts"

type Json = Record<string, unknown>

/** What outlives the worker, as it stands in the memory of this browser's run. */
export interface Kept {
  session: string
  tabId: number
  targetId: string
  by: RelayTab["by"]
  openerId?: string
  usedAt: number
  /** Run of the gateway for which the debugger has been set up. */
  boot: string
  children: RelayChild[]
  /** Interceptions of requests that are on, by child session, or "" for the tab. */
  fetching: Record<string, Json>
}

export interface Told {
  session: string
  child?: string
  method: string
  params: Json
}

export interface Links {
  tell(event: Told): void
  /** What is kept has changed. */
  save(): void
  /** The debugger is there; from here on the browser tells what it is to know. */
  begins(attachment: Attachment): void
}

/** A page that shows a question of its own, or is busy, answers nothing until then. */
const patienceMs = 1_000

/** Rejects as the work does, but waits no longer: others stand behind it. */
async function soon(work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const pause = new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)))
  try {
    await Promise.race([work, pause])
  } finally {
    clearTimeout(timer)
  }
}

/** The tab is no longer attached. */
export class Gone extends Error {}

interface Scope {
  contexts: Contexts
  ready: Promise<unknown>
  /** While what is known already is told again. */
  isLearning: boolean
}

export class Attachment {
  readonly kept: Kept
  readonly #links: Links
  readonly #scopes = new Map<string, Scope>()
  #url = ""
  #title = ""
  /** What nobody could know yet of which tab it is. */
  #untold: Told[] | undefined

  private constructor(kept: Kept, links: Links) {
    this.kept = kept
    this.#links = links
  }

  /** Attaches the debugger. Rejects with Chrome's words where that is not allowed. */
  static async make(
    tabId: number,
    { by, openerId, boot }: Pick<Kept, "by" | "boot"> & { openerId?: string | undefined },
    links: Links,
  ): Promise<Attachment> {
    await chrome.debugger.attach({ tabId }, "1.3")
    try {
      const targetId = await targetOf(tabId)
      const opener = openerId === undefined ? {} : { openerId }
      const base = { session: `T${crypto.randomUUID()}`, tabId, targetId, by, boot, ...opener }
      const attachment = new Attachment({ ...base, usedAt: Date.now(), children: [], fetching: {} }, links)
      attachment.#untold = []
      links.begins(attachment)
      await attachment.#begin()
      return attachment
    } catch (error) {
      await letGo(tabId)
      throw error
    }
  }

  /** The same after the worker has slept. Undefined when the debugger is not at the tab any more. */
  static async restore(kept: Kept, links: Links): Promise<Attachment | undefined> {
    try {
      if ((await targetOf(kept.tabId)) !== kept.targetId) return undefined
      const attachment = new Attachment(kept, links)
      await attachment.#begin()
      await soon(attachment.#tellFrames())
      return attachment
    } catch {
      // Chrome refuses what is not attached.
      return undefined
    }
  }

  /** Takes the debugger away and puts it back: whatever the gateway before this one has set up is gone. */
  async renew(boot: string): Promise<Attachment> {
    await letGo(this.kept.tabId)
    return Attachment.make(this.kept.tabId, { by: this.kept.by, openerId: this.kept.openerId, boot }, this.#links)
  }

  get tab(): RelayTab {
    const { session, targetId, by, openerId } = this.kept
    return {
      session,
      targetId,
      by,
      title: this.#title,
      url: this.#url,
      ...(openerId === undefined ? {} : { openerId }),
    }
  }

  get url(): string {
    return this.#url
  }

  /** True when that is news. */
  describe({ url, title }: { url?: string; title?: string }): boolean {
    const isNews = (url !== undefined && url !== this.#url) || (title !== undefined && title !== this.#title)
    this.#url = url ?? this.#url
    this.#title = title ?? this.#title
    return isNews
  }

  async #begin(): Promise<void> {
    const { tabId, children } = this.kept
    this.describe(await chrome.tabs.get(tabId))
    const begun = Promise.all([
      chrome.debugger.sendCommand({ tabId }, "Page.enable"),
      chrome.debugger.sendCommand({ tabId }, "Inspector.enable"),
      this.#enter("").ready,
      ...children.map(({ child }) => this.#enter(child).ready),
    ])
    // What comes of it later is told by the end of the debugger, if at all.
    begun.catch(() => undefined)
    await soon(begun)
  }

  /** Learns the script contexts of a session; whoever commands it waits for that. */
  #enter(child: string): Scope {
    const target = this.#target(child)
    const scope: Scope = { contexts: new Contexts(), ready: Promise.resolve(), isLearning: true }
    this.#scopes.set(child, scope)
    // Told anew only when it was off; what was told before the worker slept is lost.
    scope.ready = chrome.debugger
      .sendCommand(target, "Runtime.disable")
      .then(() => chrome.debugger.sendCommand(target, "Runtime.enable"))
      .catch(() => undefined)
      .finally(() => (scope.isLearning = false))
    return scope
  }

  #target(child: string): Debuggee {
    const { tabId } = this.kept
    return child === "" ? { tabId } : { tabId, sessionId: child }
  }

  /** Rejects with Refused, Gone, or the browser's words. */
  async command(child: string, method: string, given: Json): Promise<unknown> {
    const scope = this.#scopes.get(child)
    if (!scope) throw new Gone("The frame is gone, or never was below this tab")
    this.kept.usedAt = Date.now()
    const isPageContext = (id: number) => scope.contexts.has(id)
    // Without a wait where none is needed, so that commands keep their order; the answer to a question is what it may wait for.
    if (scope.isLearning && method !== "Page.handleJavaScriptDialog") await scope.ready
    const params = checkTabCommand(method, given, { url: this.#url, isPageContext })
    // Always on: by it the contexts of others are told from the page's.
    if (method === "Runtime.enable" || method === "Runtime.disable") return {}
    const result = (await chrome.debugger.sendCommand(this.#target(child), method, params)) ?? {}
    if (method === "Page.createIsolatedWorld") scope.contexts.add(result["executionContextId"])
    if (method === "Fetch.enable") this.kept.fetching[child] = params
    if (method === "Fetch.disable") delete this.kept.fetching[child]
    if (method.startsWith("Fetch.") && method.endsWith("able")) this.#links.save()
    return result
  }

  /** Lets requests pass that nobody would answer now. */
  async release(): Promise<void> {
    await Promise.all(Object.keys(this.kept.fetching).map((child) => this.#send(child, "Fetch.disable", {})))
  }

  async holdAgain(): Promise<void> {
    await Promise.all(
      Object.entries(this.kept.fetching).map(([child, params]) => this.#send(child, "Fetch.enable", params)),
    )
  }

  async #send(child: string, method: string, params: Json): Promise<void> {
    try {
      await chrome.debugger.sendCommand(this.#target(child), method, params)
    } catch {
      // The frame or the tab is gone, and its requests with it.
    }
  }

  event(child: string, method: string, params: Json): void {
    if (method === "Target.attachedToTarget") return this.#childCame(child, params)
    if (method === "Target.detachedFromTarget") this.#childWent(String(params["sessionId"]))
    const scope = this.#scopes.get(child)
    if (!scope || !scope.contexts.take(method, params)) return
    // Words of the page's console that were told before.
    if (scope.isLearning && /^Runtime\.(consoleAPICalled|exceptionThrown)$/.test(method)) return
    if (!isPageAddress(this.#url) && !/^(Page|Target|Inspector)\./.test(method)) return
    this.#pass(child, method, scrubEvent(method, params))
  }

  #pass(child: string, method: string, params: Json): void {
    const told = { session: this.kept.session, ...(child === "" ? {} : { child }), method, params }
    if (this.#untold) this.#untold.push(told)
    else this.#links.tell(told)
  }

  /** It has been told of the tab. */
  isTold(): void {
    for (const told of this.#untold ?? []) this.#links.tell(told)
    this.#untold = undefined
  }

  #childCame(parent: string, params: Json): void {
    const { type } = (params["targetInfo"] ?? {}) as Json
    if (type !== "iframe" && type !== "worker") return
    const child = String(params["sessionId"])
    const above = parent === "" ? {} : { parent }
    this.kept.children.push({ session: this.kept.session, child, ...above, params })
    this.#links.save()
    this.#enter(child)
    this.#pass(parent, "Target.attachedToTarget", params)
  }

  #childWent(child: string): void {
    this.#scopes.delete(child)
    delete this.kept.fetching[child]
    const below = this.kept.children.filter(({ parent }) => parent === child)
    this.kept.children = this.kept.children.filter((each) => each.child !== child)
    for (const each of below) this.#childWent(each.child)
    this.#links.save()
  }

  /** The frames as they are now, for whoever may have missed how they came to be so. */
  async #tellFrames(): Promise<void> {
    for (const child of this.#scopes.keys()) {
      const found = await chrome.debugger.sendCommand(this.#target(child), "Page.getFrameTree").catch(() => undefined)
      const tell = (tree: Json) => {
        this.#pass(child, "Page.frameNavigated", { frame: tree["frame"], type: "Navigation" })
        for (const below of (tree["childFrames"] ?? []) as Json[]) tell(below)
      }
      if (found) tell(found["frameTree"] as Json)
    }
  }

  async end(): Promise<void> {
    await letGo(this.kept.tabId)
  }
}

async function targetOf(tabId: number): Promise<string> {
  const info = await chrome.debugger.sendCommand({ tabId }, "Target.getTargetInfo")
  const { targetId } = (info?.["targetInfo"] ?? {}) as Json
  if (typeof targetId !== "string") throw new Gone("The tab is gone")
  return targetId
}

async function letGo(tabId: number): Promise<void> {
  try {
    await chrome.debugger.detach({ tabId })
  } catch {
    // It is not attached, which is what was wanted.
  }
}
