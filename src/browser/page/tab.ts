// One tab: its session, frames, dialog, and the line in which operations wait their turn.
// Whatever blocks the page (a dialog, a crash, its closing) ends the running operation at once, with a code.
import { AppError, type Background, type Clock, raceAbort, withTimeout } from "../../kernel/index.ts"
import type { CdpConnection, CdpSession } from "../cdp/index.ts"
import { BodyKeeping } from "./body-keeping.ts"
import { Concealment } from "./concealed-values.ts"
import { ArmedChooser } from "./file-chooser.ts"
import { type Frame, Frames } from "./frames.ts"
import { Credentials } from "./credentials.ts"
import type { LifecycleEvent, NavigationEvent, RequestEvent } from "./events.ts"
import type { RefBook } from "./refs.ts"
import type { Operation, OperationOptions } from "./operation.ts"
import { Overrides } from "./overrides.ts"
import { dialogOpen, notBegun, tabTaken } from "./obstacles.ts"
import { Recorder } from "./recorder.ts"
import type { Rest } from "./rest.ts"
import { SnapshotMemory } from "./snapshot/memory.ts"

export interface TargetInfo {
  targetId: string
  type: string
  title: string
  url: string
  browserContextId?: string
  /** The tab whose page opened this one. */
  openerId?: string
}

export interface Dialog {
  type: "alert" | "confirm" | "prompt" | "beforeunload"
  message: string
}

export interface DialogAnswer {
  accept: boolean
  promptText?: string | undefined
}

export interface TabOptions {
  connection: CdpConnection
  info: TargetInfo
  refs: RefBook
  background: Background
  clock: Clock
  /** Lets the tab act as if it had the focus, so that none has to be taken from anyone. Only for browsers of our own. */
  emulateFocus: boolean
  /** True for a browser without windows, where making a tab the front one takes nothing from anybody. */
  headless: boolean
  /** Paused requests are answered elsewhere: answering them here too would let them pass. */
  sharedSession: boolean
  /** Where windows rest that nobody uses. */
  rest?: Rest | undefined
  nextKey(): string
  /** The tab whose page opened this one, and whose settings it takes over. */
  opener?: Tab | undefined
  /** The same tab as an earlier connection knew it, with its settings. */
  earlier?: Tab | undefined
}

const attachTimeoutMs = 10_000
/** Nobody waits longer than this for a turn, however well the line moves. */
const maxLineMs = 120_000

export class Tab {
  #info: TargetInfo
  readonly memory = new SnapshotMemory()
  readonly recorder = new Recorder()
  readonly chooser = new ArmedChooser()
  readonly bodies = new BodyKeeping()
  readonly concealment = new Concealment()
  readonly overrides = new Overrides()
  readonly credentials: Credentials
  #isTaken = false
  readonly #options: Omit<TabOptions, "opener" | "earlier">
  readonly #life = new AbortController()
  readonly #began = Promise.withResolvers<void>()
  readonly #running = new Set<AbortController>()
  #line: Promise<unknown> = Promise.resolve()
  /** When the last operation of the line ended, monotonic. */
  #movedAt = 0
  #attached: Promise<void> | undefined
  #session: CdpSession | undefined
  #frames: Frames | undefined
  #dialog: Dialog | undefined
  #dialogUrl = ""
  #armedAnswer: { answer: DialogAnswer; until: number; mayHave: ((url: string) => boolean) | undefined } | undefined
  #crashed = false
  #alerts = 0
  /** The document that the main frame shows, and how far its loading is. */
  #loading: { loaderId: string; names: Set<string> } = { loaderId: "", names: new Set() }
  readonly #lifecycle = new Set<(event: LifecycleEvent) => void>()
  readonly #requests = new Set<(event: RequestEvent) => void>()
  readonly #navigation = new Set<(event: NavigationEvent) => void>()
  readonly #sessions = new Set<CdpSession>()
  readonly #onSession = new Set<(session: CdpSession) => void>()

  constructor(options: TabOptions) {
    const { opener, earlier = opener, ...rest } = options
    this.#options = rest
    this.#info = rest.info
    this.credentials = new Credentials({ background: rest.background, mainFrame: rest.info.targetId })
    if (!earlier) return
    this.overrides.inherit(earlier.overrides)
    this.credentials.inherit(earlier.credentials)
  }

  get info(): TargetInfo {
    return this.#info
  }

  set info(info: TargetInfo) {
    this.#info = info
    if (this.hasBegun) this.#began.resolve()
  }

  /** Whether the tab has come to its first page. A tab that a page opened has no address until then. */
  get hasBegun(): boolean {
    return this.#info.url !== ""
  }

  /** Resolves when its first page is there, or the tab gone: one that was opened for a file never has any. */
  get begun(): Promise<void> {
    return this.#began.promise
  }

  get targetId(): string {
    return this.info.targetId
  }

  get url(): string {
    return this.#frames?.get(this.targetId)?.url ?? this.info.url
  }

  get dialog(): Dialog | undefined {
    return this.#dialog
  }

  /** Of the frame that has asked last. */
  get dialogUrl(): string {
    return this.#dialogUrl
  }

  /** How many dialogs were answered by themselves. The browser throws away input that arrives while one is open. */
  get alerts(): number {
    return this.#alerts
  }

  get session(): CdpSession {
    if (!this.#session) throw new AppError("internal", "The tab is not attached")
    return this.#session
  }

  /** The session of the browser itself. */
  get browser(): CdpSession {
    return this.#options.connection.root
  }

  get frames(): Frames {
    if (!this.#frames) throw new AppError("internal", "The tab is not attached")
    return this.#frames
  }

  get clock(): Clock {
    return this.#options.clock
  }

  get refs(): RefBook {
    return this.#options.refs
  }

  /** Runs `work` when those before it on this tab are done; its time begins then. Other tabs do not wait. */
  async operate<T>(options: OperationOptions, work: (operation: Operation) => Promise<T>): Promise<T> {
    this.#checkFree(options)
    const controller = new AbortController()
    this.#running.add(controller)
    const leave = this.#options.rest?.use(this)
    const before = this.#running.size > 1 ? this.#line : undefined
    const { promise: turn, resolve: done } = Promise.withResolvers<void>()
    this.#line = before ? before.then(() => turn) : turn
    try {
      if (before) await this.#turn(before, options, controller.signal)
      return await this.#run(options, controller.signal, work)
    } finally {
      this.#movedAt = this.clock.monotonic()
      this.#running.delete(controller)
      leave?.()
      done()
    }
  }

  /** Until what it returns is called, its window draws though nothing is done in it: somebody looks on. */
  stayAwake(): () => void {
    return this.#options.rest?.hold(this) ?? (() => undefined)
  }

  /** Waits for as long as those in front come along: only a line that stands still for the whole limit is given up. */
  async #turn(before: Promise<unknown>, options: OperationOptions, interrupted: AbortSignal): Promise<void> {
    const gone = new AbortController()
    const signal = AbortSignal.any([
      gone.signal,
      interrupted,
      this.#life.signal,
      ...(options.signal ? [options.signal] : []),
    ])
    const began = this.clock.monotonic()
    let isOver = false
    const over = before.then(() => (isOver = true))
    try {
      while (!isOver) {
        const stoodMs = this.clock.monotonic() - Math.max(began, this.#movedAt)
        if (stoodMs >= options.timeoutMs || this.clock.monotonic() - began > maxLineMs)
          throw notBegun(options.what, options.timeoutMs)
        const patience = this.clock.sleep(options.timeoutMs - stoodMs, signal)
        await Promise.race([raceAbort(over, signal), patience])
      }
    } finally {
      gone.abort()
    }
  }

  async #run<T>(
    options: OperationOptions,
    interrupted: AbortSignal,
    work: (operation: Operation) => Promise<T>,
  ): Promise<T> {
    const { signal: limit, clear } = withTimeout(options.timeoutMs, options.what, options.signal)
    const deadline = this.clock.monotonic() + options.timeoutMs
    const signal = AbortSignal.any([limit, interrupted, this.#life.signal])
    try {
      await raceAbort(this.attach(), signal)
      if (this.#options.rest) await raceAbort(this.#options.rest.awake(this), signal)
      this.#checkFree(options)
      if (options.renews) this.#crashed = false
      return await raceAbort(work({ signal, deadline }), signal)
    } finally {
      clear()
    }
  }

  #checkFree(options: OperationOptions): void {
    if (this.#life.signal.aborted) throw this.#life.signal.reason
    this.checkTaken()
    if (this.#crashed && !options.renews) {
      throw new AppError("tab-crashed", "The page of this tab has crashed", {
        hint: "Navigate the tab again, or close it",
      })
    }
    if (this.#dialog) throw dialogOpen(this.#dialog.type)
  }

  get isTaken(): boolean {
    return this.#isTaken
  }

  /** While a person has it, nobody else does anything in it: what is under way ends. */
  set isTaken(isTaken: boolean) {
    this.#isTaken = isTaken
    this.recorder.isPaused = isTaken
    if (isTaken) this.#interrupt(tabTaken())
  }

  checkTaken(): this {
    if (this.#isTaken) throw tabTaken()
    return this
  }

  /** Makes the session and learns the frames; once, and again after a failure. */
  attach(): Promise<void> {
    this.#attached ??= this.#attach().catch((error: unknown) => {
      this.#attached = undefined
      throw error
    })
    return this.#attached
  }

  async #attach(): Promise<void> {
    const { connection } = this.#options
    // What a try that failed has set up would tell everything a second time, and answer every question twice.
    const failed = this.#session?.id
    if (failed !== undefined) {
      this.#frames?.stop()
      this.#endSession(failed, new AppError("internal", "The tab is attached anew"))
      connection.root.send("Target.detachFromTarget", { sessionId: failed }).catch(() => undefined)
    }
    const { sessionId } = await connection.root.send<{ sessionId: string }>(
      "Target.attachToTarget",
      { targetId: this.targetId, flatten: true },
      { timeoutMs: attachTimeoutMs, signal: this.#life.signal },
    )
    const session = connection.session(sessionId)
    this.#session = session
    this.#listen(session)
    this.#frames = new Frames({
      mainId: this.targetId,
      session,
      sessionOf: (id) => connection.session(id),
      endSession: (id) => this.#endSession(id, new AppError("stale-ref", "The frame is gone")),
      onSession: (own) => this.#watchRequests(own),
      onWorldEnd: (world) => this.#options.refs.forget(world),
      nextKey: this.#options.nextKey,
    })
    const signal = this.#life.signal
    await Promise.all([
      this.#frames.start(signal),
      session.send("Page.setLifecycleEventsEnabled", { enabled: true }, { signal }),
      this.#options.emulateFocus
        ? session.send("Emulation.setFocusEmulationEnabled", { enabled: true }, { signal })
        : undefined,
    ])
  }

  #endSession(id: string, reason: AppError): void {
    this.#options.connection.endSession(id, reason)
    for (const session of this.#sessions) {
      if (session.id !== id) continue
      for (const each of [this.overrides, this.credentials]) each.leave(session)
      this.#sessions.delete(session)
    }
  }

  #listen(session: CdpSession): void {
    session.on("Page.javascriptDialogOpening", (event: Dialog & { url: string }) => this.#dialogOpened(event))
    session.on("Page.javascriptDialogClosed", () => (this.#dialog = undefined))
    // The document that is left goes on until the next one is there, and may become ready itself.
    let left: string | undefined
    const tell = (frameId: string, event: NavigationEvent) => {
      if (frameId === this.targetId && event === "started") left = this.#loading.loaderId
      if (frameId === this.targetId) for (const listener of this.#navigation) listener(event)
    }
    session.on("Page.frameRequestedNavigation", (event: { frameId: string; disposition?: string }) => {
      if (event.disposition === undefined || event.disposition === "currentTab") tell(event.frameId, "started")
    })
    session.on("Page.frameStartedNavigating", (event: { frameId: string; navigationType: string }) => {
      if (!/sameDocument/i.test(event.navigationType)) tell(event.frameId, "started")
    })
    session.on("Page.lifecycleEvent", (event: LifecycleEvent) => {
      const { frameId, loaderId, name } = event
      if (frameId === this.targetId) {
        if (loaderId !== this.#loading.loaderId) this.#loading = { loaderId, names: new Set() }
        this.#loading.names.add(name)
      }
      for (const listener of this.#lifecycle) listener(event)
      if (name === "DOMContentLoaded" && loaderId !== left) tell(frameId, "ready")
    })
    session.on("Page.frameStoppedLoading", (event: { frameId: string }) => tell(event.frameId, "stopped"))
  }

  /** Whether the loading of the page that is shown has come so far. */
  hasReached(name: "load" | "DOMContentLoaded" | "networkIdle"): boolean {
    return this.#loading.names.has(name)
  }

  /** Tells of the session of every process that has frames of the tab, those that are there and those to come. */
  onSession(listener: (session: CdpSession) => void): () => void {
    this.#onSession.add(listener)
    for (const session of this.#sessions) listener(session)
    return () => this.#onSession.delete(listener)
  }

  /** Whether a frame is one of this tab, as far as is known. */
  hasFrame(frameId: string): boolean {
    return frameId === this.targetId || this.#frames?.get(frameId) !== undefined
  }

  /** Requests of scripts: what an action set off is waited for a little. Nothing of them is kept, here or in the browser. */
  async #watchRequests(session: CdpSession): Promise<void> {
    this.#sessions.add(session)
    for (const listener of this.#onSession) listener(session)
    const tell = (event: RequestEvent) => {
      for (const listener of this.#requests) listener(event)
    }
    session.on("Network.requestWillBeSent", (event: { requestId: string; type?: string }) => {
      if (event.type === "Fetch" || event.type === "XHR") tell({ id: event.requestId, kind: "began" })
    })
    session.on("Network.responseReceived", (event: { requestId: string }) =>
      tell({ id: event.requestId, kind: "answered" }),
    )
    const ended = (event: { requestId: string }) => tell({ id: event.requestId, kind: "ended" })
    session.on("Network.loadingFinished", ended)
    session.on("Network.loadingFailed", ended)
    const { signal } = this.#life
    await Promise.all([
      this.bodies.watch(session, signal),
      this.recorder.watch(session, signal),
      this.overrides.join(session, signal),
      this.#options.sharedSession ? undefined : this.credentials.join(session, signal),
    ])
  }

  /** An alert has only one answer, and a question before leaving is ours to answer: we were told to leave. */
  #dialogOpened(event: Dialog & { url: string }): void {
    if (event.type === "alert" || event.type === "beforeunload") {
      this.#alerts += 1
      this.#options.background.run("browser dialog", () =>
        this.session.send("Page.handleJavaScriptDialog", { accept: true }),
      )
      return
    }
    const armed = this.#armedAnswer
    this.#armedAnswer = undefined
    const isMeant = armed?.mayHave?.(event.url) ?? true
    if (armed && isMeant && this.clock.monotonic() < armed.until) {
      this.#options.background.run("browser dialog", () => this.#sendAnswer(armed.answer))
      return
    }
    this.#dialog = { type: event.type, message: event.message }
    this.#dialogUrl = event.url
    this.#interrupt(dialogOpen(this.#dialog.type))
  }

  /** Answers the open dialog; never waits in the line, since what holds the line up is the dialog. */
  async answerDialog(answer: DialogAnswer): Promise<void> {
    const { dialog } = this
    await this.#sendAnswer(answer)
    // The page may have asked its next question by now.
    if (this.#dialog === dialog) this.#dialog = undefined
  }

  /** The answer to the next question, if it comes in time and from where it may; arming again replaces it. */
  armDialog(answer: DialogAnswer, timeoutMs: number, mayHave?: (url: string) => boolean): void {
    this.#armedAnswer = { answer, until: this.clock.monotonic() + timeoutMs, mayHave }
  }

  async #sendAnswer({ accept, promptText }: DialogAnswer): Promise<void> {
    const text = promptText === undefined ? {} : { promptText }
    await this.session.send("Page.handleJavaScriptDialog", { accept, ...text })
  }

  get isOpen(): boolean {
    return !this.#life.signal.aborted
  }

  /** Aborts when the tab is closed, or its browser lost. */
  get closed(): AbortSignal {
    return this.#life.signal
  }

  crash(): void {
    this.#crashed = true
    this.#dialog = undefined
    this.#interrupt(
      new AppError("tab-crashed", "The page of this tab crashed", { hint: "Navigate the tab again, or close it" }),
    )
  }

  close(reason: AppError): void {
    if (this.#life.signal.aborted) return
    this.#life.abort(reason)
    this.#began.resolve()
    this.#frames?.stop()
    if (this.#session?.id !== undefined) this.#options.connection.endSession(this.#session.id, reason)
  }

  onLifecycle(listener: (event: LifecycleEvent) => void): () => void {
    this.#lifecycle.add(listener)
    return () => this.#lifecycle.delete(listener)
  }

  onNavigation(listener: (event: NavigationEvent) => void): () => void {
    this.#navigation.add(listener)
    return () => this.#navigation.delete(listener)
  }

  /** What was clicked gives a file. */
  expectFile(): void {
    for (const listener of this.#navigation) listener("file")
  }

  /** Makes the tab the front one where nobody can see it: tabs behind draw no frames when several pictures are taken. */
  async frontIfHeadless(signal: AbortSignal): Promise<void> {
    if (!this.#options.headless) return
    await this.#options.connection.root.send("Target.activateTarget", { targetId: this.targetId }, { signal })
  }

  onRequest(listener: (event: RequestEvent) => void): () => void {
    this.#requests.add(listener)
    return () => this.#requests.delete(listener)
  }

  #interrupt(reason: AppError): void {
    for (const controller of this.#running) controller.abort(reason)
  }

  /** The page's title as it is now; what the browser last said when the page does not answer in time. */
  async title(): Promise<string> {
    try {
      const { targetInfo } = await this.#options.connection.root.send<{ targetInfo: TargetInfo }>(
        "Target.getTargetInfo",
        { targetId: this.targetId },
        { timeoutMs: 1_000 },
      )
      this.info = targetInfo
    } catch (error) {
      if (!(error instanceof Error)) throw error
    }
    return this.info.title
  }
}

export type { Frame, LifecycleEvent, Operation, OperationOptions }
