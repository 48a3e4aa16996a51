// Downloads under way, by account and file: two turns that want the same file share one, and one that takes long goes on
// while its turn gives its place to others.
import { type Background, type Clock, describeError } from "../../../kernel/index.ts"
import { JobPostponed } from "../../../store/index.ts"
import { type DownloadOptions, type Fetched, type Wanted, downloadFile } from "./download.ts"
import type { MediaFolder } from "./keep.ts"

type PerAccount = Pick<DownloadOptions, "client" | "maxBytes" | "timeoutMs" | "localRoots">

interface Download {
  promise: Promise<Fetched>
  isOver: boolean
  /** Monotonic. */
  startedAt: number
  endedAt: number
}

/** Results that nobody came for: their turn was stopped. */
const maxEntries = 200

/**
 * A turn that waits comes back for what was fetched meanwhile. Later than that nobody waits any more: what could not be had
 * then may be had now, and what was kept may have gone.
 */
const resultMs = 60_000

/** After a stop of the channel that the rest of the process survives. */
const againMs = 1_000

/** Not before every so many files: reading the folder costs more than one. */
const filesPerCleaning = 20

interface DownloadsParts {
  folder: MediaFolder
  clock: Clock
  /** The time by which files are old. */
  pruneTime: () => number
  background: Background
}

export class Downloads {
  readonly #parts: DownloadsParts
  readonly #byFile = new Map<string, Download>()
  #stopped = new AbortController()
  #untilCleaning = 0

  constructor(parts: DownloadsParts) {
    this.#parts = parts
  }

  /**
   * What has become of the files: undefined for those that are still under way after `patienceMs`. While it is worth
   * asking again, for `holdMs` since the first began, those that are there are kept for then.
   */
  async get(
    account: string,
    files: readonly Wanted[],
    settings: PerAccount,
    { patienceMs, holdMs = Infinity, signal }: { patienceMs: number; holdMs?: number; signal: AbortSignal },
  ): Promise<{ files: (Fetched | undefined)[]; isWorthWaiting: boolean }> {
    const keys = files.map((file) => `${account}:${file.uniqueId}`)
    const running = files.map((file, index) => this.#start(keys[index] as string, file, settings))
    const heldUntil = Math.min(...running.map(({ startedAt }) => startedAt)) + holdMs
    const restMs = Math.max(0, heldUntil - this.#parts.clock.monotonic())
    const stopped = this.#stopped.signal
    await this.#wait(running, Math.min(patienceMs, restMs), signal)
    // What ended with the channel is no answer about the file: whoever asked comes again, and no attempt counts.
    if (stopped.aborted) throw new JobPostponed(this.#parts.clock.now() + againMs, "the channel is stopping")
    const isWorthWaiting = running.some((download) => !download.isOver) && patienceMs < restMs
    if (isWorthWaiting) return { files: files.map(() => undefined), isWorthWaiting }
    for (const [index, key] of keys.entries()) if (running[index]?.isOver) this.#byFile.delete(key)
    const outcomes = await Promise.all(running.map(({ isOver, promise }) => (isOver ? promise : undefined)))
    return { files: outcomes, isWorthWaiting }
  }

  /** Ends what is under way; a turn that is tried again begins anew. */
  stop(): void {
    this.#stopped.abort(new Error("the channel is stopping"))
    this.#stopped = new AbortController()
  }

  #start(key: string, wanted: Wanted, settings: PerAccount): Download {
    const { folder, clock, background } = this.#parts
    const known = this.#byFile.get(key)
    if (known && clock.monotonic() - known.endedAt < resultMs) return known
    const { promise, resolve } = Promise.withResolvers<Fetched>()
    const download: Download = { promise, isOver: false, startedAt: clock.monotonic(), endedAt: Infinity }
    const { signal } = this.#stopped
    background.run("download a file", async () => {
      let outcome: Fetched
      try {
        outcome = await downloadFile(wanted, { ...settings, folder, clock, signal })
      } catch (error) {
        outcome = { kind: "left-out", why: "unreachable", detail: describeError(error) }
      }
      download.isOver = true
      download.endedAt = clock.monotonic()
      resolve(outcome)
      this.#cleanSometimes()
    })
    this.#byFile.set(key, download)
    this.#forget()
    return download
  }

  async #wait(running: readonly Download[], patienceMs: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController()
    const all = Promise.all(running.map((download) => download.promise))
    const pause = this.#parts.clock.sleep(patienceMs, AbortSignal.any([signal, done.signal])).catch(() => undefined)
    await Promise.race([all, pause])
    done.abort()
    signal.throwIfAborted()
  }

  #forget(): void {
    if (this.#byFile.size <= maxEntries) return
    for (const [key, download] of this.#byFile) {
      if (download.isOver) this.#byFile.delete(key)
      if (this.#byFile.size <= maxEntries) return
    }
  }

  #cleanSometimes(): void {
    this.#untilCleaning -= 1
    if (this.#untilCleaning > 0) return
    this.#untilCleaning = filesPerCleaning
    const { background, folder, pruneTime } = this.#parts
    background.run("clean the media folder", async () => void (await folder.clean(pruneTime())))
  }
}
