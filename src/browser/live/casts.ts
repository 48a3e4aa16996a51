// The live view of tabs: one screencast a tab, however many look at it. The browser sends the next frame when the one
// before was acknowledged, which is done at a pace that leaves the machine to the work; who reads slowly misses frames and
// always gets the newest.
import { AppError, type Background } from "../../kernel/index.ts"
import type { CdpSession } from "../cdp/index.ts"
import { concealWords } from "../page/concealment.ts"
import type { Tab } from "../page/tab.ts"

export interface LiveFrame {
  /** JPEG, base64. */
  image: string
  /** Of the view that it shows, in the pixels of the page. */
  width: number
  height: number
  /** How far the page is scrolled. */
  scrollX: number
  scrollY: number
}

/** Gives the newest frame that it has not given yet; undefined when the tab is gone, or `signal` aborts. */
export interface Viewer {
  next(): Promise<LiveFrame | undefined>
  close(): void
}

const paceMs = 50
const jpegQuality = 60
const maxSide = 1_600
const startTimeoutMs = 5_000
/** How often the tab is looked after. */
const careMs = 1_000

export class Casts {
  readonly #casts = new Map<Tab, Cast>()
  readonly #background: Background

  constructor(background: Background) {
    this.#background = background
  }

  async watch(tab: Tab, signal: AbortSignal): Promise<Viewer> {
    await tab.attach()
    const cast = this.#casts.get(tab) ?? new Cast(tab, this.#background, () => this.#casts.delete(tab))
    this.#casts.set(tab, cast)
    return await cast.join(signal)
  }

  stop(): void {
    for (const cast of this.#casts.values()) cast.end()
  }
}

interface ScreencastFrame {
  data: string
  sessionId: number
  metadata: { deviceWidth: number; deviceHeight: number; scrollOffsetX: number; scrollOffsetY: number }
}

class Cast {
  readonly #tab: Tab
  readonly #session: CdpSession
  readonly #background: Background
  readonly #onEnd: () => void
  readonly #waiting = new Map<Viewer, (frame: LiveFrame | undefined) => void>()
  readonly #stops: (() => void)[] = []
  #last: LiveFrame | undefined
  #started: Promise<unknown> | undefined
  #care: NodeJS.Timeout | undefined
  #pace: NodeJS.Timeout | undefined
  #isOver = false

  constructor(tab: Tab, background: Background, onEnd: () => void) {
    this.#tab = tab
    this.#session = tab.session
    this.#background = background
    this.#onEnd = onEnd
  }

  async join(signal: AbortSignal): Promise<Viewer> {
    let fresh = this.#last
    let give: ((frame: LiveFrame | undefined) => void) | undefined
    const viewer: Viewer = {
      next: () => {
        const { promise, resolve } = Promise.withResolvers<LiveFrame | undefined>()
        if (this.#isOver || signal.aborted || !this.#waiting.has(viewer)) resolve(undefined)
        else if (fresh) resolve(fresh)
        else give = resolve
        fresh = undefined
        return promise
      },
      close: () => {
        signal.removeEventListener("abort", viewer.close)
        give?.(undefined)
        this.#waiting.delete(viewer)
        if (this.#waiting.size === 0) this.end()
      },
    }
    this.#waiting.set(viewer, (frame) => {
      if (give) give(frame)
      else fresh = frame
      give = undefined
    })
    signal.addEventListener("abort", viewer.close, { once: true })
    // Whoever left while the tab was attached to is told of no abort any more.
    if (signal.aborted) viewer.close()
    if (this.#isOver) return viewer
    this.#started ??= this.#start()
    await this.#started.catch((error: unknown) => {
      viewer.close()
      throw error
    })
    return viewer
  }

  async #start(): Promise<void> {
    const closed = () => this.end()
    this.#tab.closed.addEventListener("abort", closed, { once: true })
    this.#stops.push(
      () => this.#tab.closed.removeEventListener("abort", closed),
      this.#session.on("Page.screencastFrame", (frame: ScreencastFrame) => this.#take(frame)),
      this.#tab.stayAwake(),
    )
    const limit = { timeoutMs: startTimeoutMs }
    await concealWords(this.#tab, AbortSignal.timeout(startTimeoutMs))
    await this.#tab.frontIfHeadless(AbortSignal.timeout(startTimeoutMs))
    // Nobody may look any more: its end has been sent, and nobody would send another.
    if (this.#isOver) return
    const size = { format: "jpeg", quality: jpegQuality, maxWidth: maxSide, maxHeight: maxSide }
    await this.#session.send("Page.startScreencast", size, limit)
    if (this.#isOver) return
    this.#care = setInterval(() => this.#background.run("live view", () => this.#lookAfter()), careMs)
    this.#care.unref()
  }

  /** A tab behind others draws nothing where no window shows it; a page may show by itself what was filled in. */
  async #lookAfter(): Promise<void> {
    const signal = AbortSignal.timeout(startTimeoutMs)
    try {
      if (!this.#last) await this.#tab.frontIfHeadless(signal)
      await concealWords(this.#tab, signal)
    } catch (error) {
      // The tab, or its browser, is closing.
      if (!(error instanceof AppError)) throw error
    }
  }

  #take({ data, sessionId, metadata }: ScreencastFrame): void {
    const { deviceWidth, deviceHeight, scrollOffsetX, scrollOffsetY } = metadata
    this.#last = {
      image: data,
      width: deviceWidth,
      height: deviceHeight,
      scrollX: scrollOffsetX,
      scrollY: scrollOffsetY,
    }
    for (const give of this.#waiting.values()) give(this.#last)
    this.#pace = setTimeout(() => {
      // An answer that comes too late is nothing to anybody: the cast, or its tab, is over.
      this.#background.run("live view", () =>
        this.#session
          .send("Page.screencastFrameAck", { sessionId }, { timeoutMs: startTimeoutMs })
          .catch((error: unknown) => {
            if (!this.#isOver && !(error instanceof AppError)) throw error
          }),
      )
    }, paceMs)
    this.#pace.unref()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onEnd()
    clearInterval(this.#care)
    clearTimeout(this.#pace)
    for (const stop of this.#stops) stop()
    for (const give of this.#waiting.values()) give(undefined)
    this.#waiting.clear()
    if (!this.#tab.isOpen) return
    this.#background.run("end of the live view", async () => {
      try {
        await this.#session.send("Page.stopScreencast", {}, { timeoutMs: startTimeoutMs })
      } catch (error) {
        // With its tab or its browser it has ended by itself.
        if (!(error instanceof AppError)) throw error
      }
    })
  }
}
