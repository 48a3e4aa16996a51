// Tabs that nobody uses rest. Where there is no screen each tab has a window of its own, which draws sixty frames a second
// of whatever moves in its page, looked at or not: a picture that moves keeps half a core busy for as long as the tab is
// open. A window that is minimised draws about one a second. Its page is told nothing: it stays visible and focused, its
// timers run, and what it does without drawing anything goes on as before.
import { AppError, type Background, type Clock } from "../../kernel/index.ts"
import type { CdpConnection } from "../cdp/index.ts"

/** A tab, as far as its window goes. */
interface Resident {
  readonly targetId: string
}

export interface RestOptions {
  connection: CdpConnection
  background: Background
  clock: Clock
  /** The tabs of the browser. */
  tabs(): readonly Resident[]
  /** How long none of a window's tabs was used. */
  afterMs?: number | undefined
}

/**
 * A model thinks for longer than that now and then; to wake takes some milliseconds. Not below four seconds: until then
 * Chromium lets a window that was filmed draw again by itself.
 */
const defaultAfterMs = 30_000
const answerMs = 2_000

type WindowState = "normal" | "minimized"

/** A window of the browser, which pages may have given several tabs. */
interface Place {
  windowId: number
  state: WindowState
  wanted: WindowState
  /** While the one becomes the other. */
  moving: Promise<void> | undefined
}

export class Rest {
  readonly #options: RestOptions
  readonly #afterMs: number
  readonly #used = new Map<Resident, number>()
  readonly #leftAt = new WeakMap<Resident, number>()
  readonly #placeOf = new WeakMap<Resident, Place>()
  readonly #places = new Map<number, Place>()
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(options: RestOptions) {
    this.#options = options
    this.#afterMs = options.afterMs ?? defaultAfterMs
    void options.connection.closed.then(() => {
      this.#isOver = true
      clearTimeout(this.#timer)
    })
  }

  /** A tab is there. Until it is used its time of rest comes nearer too: pages open tabs that nobody asked for. */
  add(tab: Resident): void {
    this.#leave(tab)
  }

  /** Until what it returns is called, the tab's window draws. */
  use(tab: Resident): () => void {
    this.#used.set(tab, (this.#used.get(tab) ?? 0) + 1)
    const place = this.#placeOf.get(tab)
    if (place) place.wanted = "normal"
    let isLeft = false
    return () => {
      if (isLeft) return
      isLeft = true
      const others = (this.#used.get(tab) ?? 1) - 1
      if (others > 0) this.#used.set(tab, others)
      else this.#used.delete(tab)
      if (others === 0) this.#leave(tab)
    }
  }

  /** The same for somebody who looks on and does not wait for it to draw. */
  hold(tab: Resident): () => void {
    const leave = this.use(tab)
    this.#options.background.run("browser wake", () => this.awake(tab))
    return leave
  }

  /** Resolves when the window of a tab in use draws; at once where it did not rest. */
  async awake(tab: Resident): Promise<void> {
    const isRestful = (each: Place) => each.state === "minimized" || each.moving !== undefined
    const known = this.#placeOf.get(tab)
    // A page may have opened it in a window that rests.
    const place = known ?? ([...this.#places.values()].some(isRestful) ? await this.#find(tab) : undefined)
    if (!place || !isRestful(place)) return
    place.wanted = "normal"
    await this.#move(place)
  }

  #leave(tab: Resident): void {
    this.#leftAt.set(tab, this.#options.clock.monotonic())
    this.#timer ??= this.#isOver ? undefined : setTimeout(() => this.#wait(), this.#afterMs).unref()
  }

  #wait(): void {
    this.#timer = undefined
    this.#options.background.run("browser rest", async () => {
      const nextMs = await this.#look()
      if (nextMs === undefined || this.#isOver) return
      this.#timer ??= setTimeout(() => this.#wait(), nextMs).unref()
    })
  }

  /** Sends windows to rest whose tabs nobody uses. Tells in how many milliseconds the next can be due; undefined: none. */
  async #look(): Promise<number | undefined> {
    const waits: number[] = []
    for (const [place, tabs] of await this.#findPlaces()) {
      if (place.state === "minimized" || tabs.some((tab) => this.#used.has(tab))) continue
      const leftAt = Math.max(...tabs.map((tab) => this.#leftAt.get(tab) ?? 0))
      const leftMs = leftAt + this.#afterMs - this.#options.clock.monotonic()
      if (leftMs > 0) {
        waits.push(leftMs)
        continue
      }
      place.wanted = "minimized"
      await this.#move(place)
    }
    return waits.length === 0 ? undefined : Math.max(50, Math.min(...waits))
  }

  async #findPlaces(): Promise<Map<Place, Resident[]>> {
    const found = new Map<Place, Resident[]>()
    // One that is met meanwhile is there, though none of these tabs is in it: forgotten, it would be made a second time.
    const before = [...this.#places.values()]
    for (const tab of this.#options.tabs()) {
      const place = this.#placeOf.get(tab) ?? (await this.#find(tab))
      if (place) found.set(place, [...(found.get(place) ?? []), tab])
    }
    for (const place of before) if (!found.has(place)) this.#places.delete(place.windowId)
    return found
  }

  /** Undefined where the browser does not tell, as one that makes no windows. */
  async #find(tab: Resident): Promise<Place | undefined> {
    const { root } = this.#options.connection
    try {
      const { windowId, bounds } = await root.send<{ windowId: number; bounds: { windowState?: string } }>(
        "Browser.getWindowForTarget",
        { targetId: tab.targetId },
        { timeoutMs: answerMs },
      )
      const state = bounds.windowState === "minimized" ? "minimized" : "normal"
      const place = this.#places.get(windowId) ?? { windowId, state, wanted: state, moving: undefined }
      this.#places.set(windowId, place)
      this.#placeOf.set(tab, place)
      return place
    } catch {
      return undefined
    }
  }

  #move(place: Place): Promise<void> {
    place.moving ??= this.#bring(place).finally(() => (place.moving = undefined))
    return place.moving
  }

  /** What is wanted may change meanwhile. A window that cannot be moved stays as it is: nothing depends on it. */
  async #bring(place: Place): Promise<void> {
    const { root } = this.#options.connection
    while (place.state !== place.wanted) {
      const { wanted } = place
      try {
        await root.send(
          "Browser.setWindowBounds",
          { windowId: place.windowId, bounds: { windowState: wanted } },
          { timeoutMs: answerMs },
        )
      } catch (error) {
        // One that does not answer in time may do it all the same: it is taken to rest, and woken by who uses it next.
        if (wanted === "normal" || !(error instanceof AppError)) return
      }
      place.state = wanted
    }
  }
}
