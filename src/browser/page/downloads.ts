// Downloads that somebody asked for. The browser writes under a name of its own into a folder of ours; the finished file
// is then moved to its place. While nobody waits, the browser's downloads are none of our business.
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { AppError, raceAbort, withTimeout } from "../../kernel/index.ts"
import type { Tab } from "./tab.ts"

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

interface Waiting {
  superseded: AbortController
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

/** Who waits in which tab: a newer waiter takes the place of an older one. */
export class DownloadWaiters {
  readonly #waiting = new Map<Tab, Waiting>()

  /** Of these tabs. */
  underWay(tabs: readonly Tab[]): DownloadProgress[] {
    return tabs.flatMap((tab) => this.#waiting.get(tab)?.progress ?? [])
  }

  /** Waits for the next download of the tab, which `trigger` may set off. */
  async wait(
    tab: Tab,
    options: { folder: string; maxBytes: number; timeoutMs: number; signal: AbortSignal | undefined },
    trigger: () => Promise<unknown>,
  ): Promise<FinishedDownload> {
    const superseded = new AbortController()
    const waiting: Waiting = { superseded }
    this.#waiting
      .get(tab)
      ?.superseded.abort(new AppError("conflict", "A newer wait for a download took the place of this one"))
    this.#waiting.set(tab, waiting)
    const parent = AbortSignal.any([superseded.signal, tab.closed, ...(options.signal ? [options.signal] : [])])
    const { signal, clear } = withTimeout(options.timeoutMs, "The download", parent)
    const watch = watchDownload(tab, options, (progress) => (waiting.progress = progress))
    try {
      await raceAbort(tab.attach(), signal)
      await mkdir(options.folder, { recursive: true, mode: 0o700 })
      await behave(tab, { behavior: "allowAndName", downloadPath: options.folder, eventsEnabled: true })
      await raceAbort(trigger(), signal)
      return await raceAbort(watch.done, signal)
    } catch (error) {
      await watch.giveUp()
      throw error
    } finally {
      clear()
      watch.stop()
      if (this.#waiting.get(tab) === waiting) this.#waiting.delete(tab)
      if (this.#waiting.size === 0) await behave(tab, { behavior: "default", eventsEnabled: false })
    }
  }
}

function watchDownload(
  tab: Tab,
  options: { folder: string; maxBytes: number },
  onProgress: (progress: DownloadProgress) => void,
) {
  const { promise: done, resolve, reject } = Promise.withResolvers<FinishedDownload>()
  // Whoever gives up for another reason does not look at it any more.
  done.catch(() => undefined)
  let begun: BeginEvent | undefined
  const cancel = (guid: string) => tab.browser.send("Browser.cancelDownload", { guid })
  const stops = [
    tab.browser.on("Browser.downloadWillBegin", (event: BeginEvent) => {
      if (!begun && tab.frames.get(event.frameId)) begun = event
    }),
    tab.browser.on("Browser.downloadProgress", (event: ProgressEvent) => {
      if (!begun || event.guid !== begun.guid) return
      const { url, suggestedFilename, guid } = begun
      const { receivedBytes, totalBytes } = event
      const total = totalBytes > 0 ? { totalBytes } : {}
      onProgress({ targetId: tab.targetId, url, suggestedFilename, receivedBytes, ...total })
      if (Math.max(totalBytes, receivedBytes) > options.maxBytes) {
        reject(new AppError("payload-too-large", `The download is larger than ${options.maxBytes} bytes`))
      } else if (event.state === "completed") {
        resolve({ url, suggestedFilename, bytes: receivedBytes, partPath: join(options.folder, guid) })
      } else if (event.state === "canceled") {
        reject(new AppError("navigation-failed", "The download was broken off"))
      }
    }),
  ]
  return {
    done,
    stop: () => stops.forEach((stop) => stop()),
    /** Nothing of a download that nobody waits for any more stays behind. */
    async giveUp() {
      if (!begun) return
      await cancel(begun.guid).catch(() => undefined)
      await rm(join(options.folder, begun.guid), { force: true })
      await rm(join(options.folder, `${begun.guid}.crdownload`), { force: true })
    },
  }
}

async function behave(tab: Tab, parameters: object): Promise<void> {
  await tab.browser.send("Browser.setDownloadBehavior", { ...parameters })
}
