// A tab that a person has taken over: picture out (screencast), hands in (input events). Meanwhile nothing else is done in it,
// nothing of it is recorded, and the fields that are typed into are concealed, in its documents themselves, from then on.
import { AppError, type Background } from "../../kernel/index.ts"
import { CdpError } from "../cdp/index.ts"
import { watchTyping, leaveTyping } from "../page/concealment.ts"
import type { Casts } from "../live/casts.ts"
import type { Tab } from "../page/tab.ts"
import type { Tabs } from "../page/tabs.ts"
import { dispatch } from "./dispatch.ts"
import { type OpenPicker, answerPicker, findPicker } from "./pickers.ts"
import type { HandEvent, TakeoverState, Viewer } from "./contract.ts"

export interface TakeoverOptions {
  tab: Tab
  tabs: Tabs
  casts: Casts
  background: Background
}

const stateMs = 1_000
const sendMs = 5_000

export class Takeover {
  readonly #options: TakeoverOptions
  readonly #tabs = new Set<Tab>()
  readonly #life = new AbortController()
  readonly #leaveTabs: () => void
  #current: Tab
  #viewer: Viewer | undefined
  /** Aborted when another tab is shown, or nobody looks. */
  #showing: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #picker: OpenPicker | undefined
  #size = { width: 0, height: 0 }
  /** Input is given in the order in which it comes. */
  #line: Promise<unknown> = Promise.resolve()

  /** The tab is taken at once: whoever asks while it is attached to must neither take it too nor begin to film it. */
  static async begin(options: TakeoverOptions): Promise<Takeover> {
    const takeover = new Takeover(options)
    try {
      await options.tab.attach()
      return takeover
    } catch (error) {
      await takeover.end()
      throw error
    }
  }

  private constructor(options: TakeoverOptions) {
    this.#options = options
    this.#current = options.tab
    this.#take(options.tab)
    this.#leaveTabs = options.tabs.onTab((tab) => {
      const { openerId } = tab.info
      const isOurs = openerId !== undefined && [...this.#tabs].some(({ targetId }) => targetId === openerId)
      if (!isOurs || this.#tabs.has(tab)) return
      this.#take(tab)
      this.#inBackground("show a tab that was opened", () => this.#show(tab))
    })
  }

  /** Aborts when it is over: given back, or all of its tabs closed. */
  get ended(): AbortSignal {
    return this.#life.signal
  }

  get url(): string {
    return this.#current.url
  }

  /** Shows it to one viewer; the one before is shown nothing more. */
  async watch(viewer: Viewer): Promise<() => void> {
    this.#checkOpen()
    this.#viewer = viewer
    this.#timer ??= setInterval(() => this.#tellState(), stateMs)
    this.#timer.unref()
    await this.#show(this.#current)
    return () => {
      if (this.#viewer === viewer) this.#look(undefined)
    }
  }

  #look(viewer: Viewer | undefined): void {
    this.#viewer = viewer
    if (viewer) return
    this.#showing?.abort()
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  async input(events: readonly HandEvent[]): Promise<void> {
    this.#checkOpen()
    const before = this.#picker
    const done = this.#line.then(async () => {
      for (const event of events) await this.#do(event)
    })
    this.#line = done.catch(() => undefined)
    await done
    if (this.#picker !== before || events.some(({ kind }) => kind !== "mouse" && kind !== "wheel")) this.#tellState()
  }

  /** Gives it back. */
  async end(): Promise<void> {
    if (this.#life.signal.aborted) return
    this.#life.abort(new AppError("aborted", "The tab was given back"))
    this.#leaveTabs()
    this.#look(undefined)
    await this.#line
    for (const tab of this.#tabs) {
      const leave = () => leaveTyping(tab, AbortSignal.timeout(sendMs))
      // A page that asks a question does nothing until it has the answer, which the agent gives now.
      if (tab.dialog) this.#inBackground("leave a tab that asks", leave)
      else if (tab.isOpen) await unlessGone(leave())
      tab.memory.doubt()
      tab.isTaken = false
    }
  }

  #checkOpen(): void {
    if (this.#life.signal.aborted) throw new AppError("tab-not-found", "The tab is not in anybody's hands any more")
  }

  #take(tab: Tab): void {
    this.#tabs.add(tab)
    tab.isTaken = true
    tab.closed.addEventListener("abort", () => this.#closed(tab), { once: true })
  }

  #closed(tab: Tab): void {
    this.#tabs.delete(tab)
    const [left] = [...this.#tabs].toReversed()
    if (!left) {
      this.#inBackground("end a takeover", () => this.end())
      return
    }
    if (tab === this.#current) this.#inBackground("show the tab before", () => this.#show(left))
  }

  async #show(tab: Tab): Promise<void> {
    if (this.#life.signal.aborted) return
    this.#current = tab
    this.#picker = undefined
    this.#showing?.abort()
    const viewer = this.#viewer
    if (!viewer) return
    const showing = new AbortController()
    this.#showing = showing
    const frames = await this.#options.casts.watch(tab, showing.signal)
    this.#tellState()
    this.#inBackground("show a tab in somebody's hands", async () => {
      for (let frame = await frames.next(); frame; frame = await frames.next()) {
        const { width, height, image } = frame
        if (showing.signal.aborted) return
        if (width !== this.#size.width || height !== this.#size.height) {
          this.#size = { width, height }
          this.#tellState()
        }
        // The next one is asked for when there is room for it; of those between, the newest counts.
        await viewer.frame(Buffer.from(image, "base64"))
      }
    })
  }

  #tellState(): void {
    this.#viewer?.state(this.state)
  }

  get state(): TakeoverState {
    const { info, url, dialog } = this.#current
    return {
      url,
      title: info.title,
      dialog: dialog ? { type: dialog.type, message: dialog.message } : null,
      picker: this.#picker?.world.alive ? this.#picker.picker : null,
      tabs: [...this.#tabs].map((tab) => ({
        targetId: tab.targetId,
        title: tab.info.title,
        shown: tab === this.#current,
      })),
      ...this.#size,
    }
  }

  async #do(event: HandEvent): Promise<void> {
    if (this.#life.signal.aborted) return
    const tab = this.#current
    if (event.kind === "tab") {
      const wanted = [...this.#tabs].find(({ targetId }) => targetId === event.targetId)
      return wanted ? await this.#show(wanted) : undefined
    }
    const signal = AbortSignal.any([AbortSignal.timeout(sendMs), this.#life.signal])
    if (event.kind === "pick") return await this.#pick(event, signal)
    const isPress = event.kind === "mouse" && event.event !== "move"
    // From before the first letter on: what is typed is concealed where it stands.
    if (isPress || event.kind === "key" || event.kind === "text") await unlessGone(watchTyping(tab, signal, !isPress))
    await unlessGone(dispatch(tab, event, signal))
    // A question of the page holds everything else up.
    if ((isPress || event.kind === "key") && !tab.dialog) {
      await unlessGone(findPicker(tab, signal).then((found) => void (this.#picker = found)))
    }
  }

  async #pick({ option, value }: Extract<HandEvent, { kind: "pick" }>, signal: AbortSignal): Promise<void> {
    const picker = this.#picker
    this.#picker = undefined
    if (picker) await unlessGone(answerPicker(picker, { option, value }, signal))
  }

  #inBackground(name: string, work: () => Promise<void>): void {
    this.#options.background.run(name, () => unlessGone(work()))
  }
}

/** A tab that is closed, or a page that is on its way to another, takes no input. */
async function unlessGone(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!(error instanceof CdpError) && !(error instanceof AppError)) {
      if ((error as Error).name !== "TimeoutError") throw error
    }
  }
}
