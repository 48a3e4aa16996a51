// Downloads of one browser. Nothing is fetched unless somebody waits for it: a browser of ours refuses whatever a page begins
// by itself. What is waited for the browser writes under a name of its own into a folder of ours; the finished file is then
// moved to its place. In browsers of other people, what nobody waits for is none of our business.
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { AppError, type Background, raceAbort, withTimeout } from "../../kernel/index.ts"
import { type CdpConnection, CdpError } from "../cdp/index.ts"
import type { Tab } from "./tab.ts"
import type { Tabs } from "./tabs.ts"

export interface DownloadsOptions {
  connection: CdpConnection
  tabs: Tabs
  background: Background
  /** Whether the browser is ours to tell what it may fetch. */
  isOurs: boolean
}

export interface FinishedDownload {
  url: string
  suggestedFilename: string
  bytes: number
  /** Where the browser has put it. */
  partPath: string
}

/** A download that somebody waits for, on its way. */
export interface DownloadProgress {
  targetId: string
  url: string
  suggestedFilename: string
  receivedBytes: number
  /** Absent when the server has not said it. */
  totalBytes?: number
}

/** One that nobody waited for. */
export interface RefusedDownload {
  /** Counts up in the life of the browser. */
  number: number
  suggestedFilename: string
}

/** The tab that it began in, and the one that had opened that. */
type Refusal = RefusedDownload & { targetIds: (string | undefined)[] }

export interface WaitLimits {
  folder: string
  maxBytes: number
  timeoutMs: number
  signal: AbortSignal | undefined
}

interface Waiting {
  limits: WaitLimits
  superseded: AbortController
  done: PromiseWithResolvers<FinishedDownload>
  begun?: BeginEvent
  progress?: DownloadProgress
}

interface BeginEvent {
  frameId: string
  guid: string
  url: string
  suggestedFilename: string
}

interface ProgressEvent {
  guid: string
  totalBytes: number
  receivedBytes: number
  state: "inProgress" | "completed" | "canceled"
}

/** Those of the latest that an action may still ask about. */
const keptRefusals = 50

export class Downloads {
  readonly #options: DownloadsOptions
  /** Who waits in which tab: a newer waiter takes the place of an older one. */
  readonly #waiting = new Map<Tab, Waiting>()
  readonly #refused: Refusal[] = []
  /** Where the browser puts what begins, for as long as it may let something pass. */
  #folder: string | undefined
  #behaviours = 0
  #count = 0
  /** The newest refusal of which a tab's callers were told. */
  readonly #told = new WeakMap<Tab, number>()
  readonly #onRefused = new Set<(refusal: Refusal) => void>()

  constructor(options: DownloadsOptions) {
    this.#options = options
    const { root } = options.connection
    root.on("Browser.downloadWillBegin", (event: BeginEvent) => this.#begun(event))
    root.on("Browser.downloadProgress", (event: ProgressEvent) => this.#advanced(event))
  }

  /** From then on a browser of ours fetches nothing unasked. */
  async start(signal?: AbortSignal): Promise<void> {
    if (this.#options.isOurs) await this.#refuse(signal)
  }

  /** Of these tabs. */
  underWay(tabs: readonly Tab[]): DownloadProgress[] {
    return tabs.flatMap((tab) => this.#waiting.get(tab)?.progress ?? [])
  }

  /** What this tab, or a tab that it opened, began and was refused, and nobody has been told of. */
  takeRefused(tab: Tab): RefusedDownload[] {
    const told = this.#told.get(tab) ?? 0
    this.#told.set(tab, this.#count)
    return this.#refused.filter(({ number, targetIds }) => number > told && targetIds.includes(tab.targetId))
  }

  /** Resolves when another of this tab, or of one that it opened, is refused, or when the signal aborts. */
  nextRefusal(tab: Tab, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const listener = ({ targetIds }: Refusal) => {
      if (targetIds.includes(tab.targetId)) resolve()
    }
    this.#onRefused.add(listener)
    signal.addEventListener("abort", () => resolve(), { once: true })
    return promise.finally(() => this.#onRefused.delete(listener))
  }

  /** Waits for the next download of the tab, which `trigger` may set off. */
  async wait(tab: Tab, limits: WaitLimits, trigger: () => Promise<unknown>): Promise<FinishedDownload> {
    const waiting: Waiting = { limits, superseded: new AbortController(), done: Promise.withResolvers() }
    // Whoever gives up for another reason does not look at it any more.
    waiting.done.promise.catch(() => undefined)
    const newer = new AppError("conflict", "A newer wait for a download took the place of this one", {
      hint: "A tab has one wait at a time: end the other one, or wait in another tab",
    })
    this.#waiting.get(tab)?.superseded.abort(newer)
    this.#waiting.set(tab, waiting)
    const parent = AbortSignal.any([waiting.superseded.signal, tab.closed, ...(limits.signal ? [limits.signal] : [])])
    const { signal, clear } = withTimeout(limits.timeoutMs, "The download", parent)
    try {
      await raceAbort(tab.attach(), signal)
      await mkdir(limits.folder, { recursive: true, mode: 0o700 })
      this.#folder = limits.folder
      await this.#behave({ behavior: "allowAndName", downloadPath: limits.folder, eventsEnabled: true })
      await raceAbort(trigger(), signal)
      return await raceAbort(waiting.done.promise, signal)
    } catch (error) {
      if (waiting.begun) await this.#cancel(waiting.begun.guid, limits.folder)
      throw error
    } finally {
      clear()
      if (this.#waiting.get(tab) === waiting) this.#waiting.delete(tab)
      if (this.#waiting.size === 0) await this.#refuse()
    }
  }

  #begun(event: BeginEvent): void {
    const { tabs, background, isOurs } = this.#options
    const tab = tabs.list.find((each) => each.hasFrame(event.frameId))
    const opener = tabs.list.find(({ targetId }) => targetId === tab?.info.openerId)
    const waiting = [tab, opener].flatMap((each) => (each && this.#waiting.get(each)) ?? []).find(({ begun }) => !begun)
    if (waiting) {
      waiting.begun = event
      return
    }
    if (!isOurs) return
    this.#count += 1
    const { suggestedFilename } = event
    const refusal = { number: this.#count, suggestedFilename, targetIds: [tab?.targetId, tab?.info.openerId] }
    this.#refused.push(refusal)
    if (this.#refused.length > keptRefusals) this.#refused.shift()
    for (const tell of this.#onRefused) tell(refusal)
    // While somebody waits in another tab the browser lets everything pass, and until it has heard that nobody does.
    const folder = this.#folder
    if (folder !== undefined) background.run("download refused", () => this.#cancel(event.guid, folder))
  }

  #advanced(event: ProgressEvent): void {
    const found = [...this.#waiting].find(([, { begun }]) => begun?.guid === event.guid)
    if (!found) return
    const [tab, waiting] = found
    const { limits, done, begun } = waiting
    const { url = "", suggestedFilename = "", guid = "" } = begun ?? {}
    const { receivedBytes, totalBytes } = event
    const total = totalBytes > 0 ? { totalBytes } : {}
    waiting.progress = { targetId: tab.targetId, url, suggestedFilename, receivedBytes, ...total }
    if (Math.max(totalBytes, receivedBytes) > limits.maxBytes) {
      done.reject(new AppError("payload-too-large", `The download is larger than ${limits.maxBytes} bytes`))
    } else if (event.state === "completed") {
      done.resolve({ url, suggestedFilename, bytes: receivedBytes, partPath: join(limits.folder, guid) })
    } else if (event.state === "canceled") {
      done.reject(new AppError("navigation-failed", "The download was broken off"))
    }
  }

  /** Nothing of a download that nobody waits for stays behind. */
  async #cancel(guid: string, folder: string): Promise<void> {
    await this.#send("Browser.cancelDownload", { guid })
    await rm(join(folder, guid), { force: true })
    await rm(join(folder, `${guid}.crdownload`), { force: true })
  }

  /** What holds while nobody waits. Events go on, so that an action can tell what it set off. */
  async #refuse(signal?: AbortSignal): Promise<void> {
    const { isOurs } = this.#options
    const told = this.#behaviours + 1
    await this.#behave({ behavior: isOurs ? "deny" : "default", eventsEnabled: isOurs }, signal)
    if (this.#behaviours === told) this.#folder = undefined
  }

  async #behave(parameters: object, signal?: AbortSignal): Promise<void> {
    this.#behaviours += 1
    await this.#options.connection.root.send("Browser.setDownloadBehavior", { ...parameters }, { signal })
  }

  async #send(method: string, parameters: Record<string, unknown>): Promise<void> {
    try {
      await this.#options.connection.root.send(method, parameters)
    } catch (error) {
      // It has ended by itself, or with the browser.
      if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
    }
  }
}
