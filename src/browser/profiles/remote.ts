// A browser that somebody else runs, reached by its CDP address: connected to when it is used, left when we stop, never
// started and never ended. address -> /json/version -> WebSocket -> tabs; a lost connection is made anew by the next action.
import { AppError, type Background, type Clock, describeError, type Log, raceAbort } from "../../kernel/index.ts"
import {
  askVersion,
  type CdpAddress,
  CdpConnection,
  countPages,
  HandshakeError,
  parseCdpAddress,
} from "../cdp/index.ts"
import { Downloads } from "../page/downloads.ts"
import { Tabs, type TabsMemory } from "../page/tabs.ts"
import type { BrowserProfile, LiveBrowser, ProfileReach, ProfileState } from "./contract.ts"

export interface RemoteOptions {
  name: string
  /** `managed` for `browser.attachOnly`: a browser on this machine that its owner starts. */
  kind: "managed" | "remote"
  color(): string
  cdpUrl: string
  timeouts(): { httpMs: number; handshakeMs: number }
  /** Twice when not given. */
  tries?: number
  /** What to do when it cannot be reached. */
  hint?: string
  /** Of an earlier connection to the same browser. */
  memory?: TabsMemory | undefined
  clock: Clock
  log: Log
  background: Background
}

interface Connected extends LiveBrowser {
  product: string
  headless: boolean
}

/** A hosted browser may have to be made first; the second try gets twice the time. */
const usualTries = 2
const pauseMs = 250
/** The most that a probe takes: it stands in front of people. */
const probeMs = 5_000

export class RemoteProfile implements BrowserProfile {
  readonly owned = false
  readonly #options: RemoteOptions
  readonly #address: CdpAddress
  #live: Connected | undefined
  #connecting: Promise<Connected> | undefined
  #abort = new AbortController()
  #retired: AppError | undefined
  #memory: TabsMemory | undefined
  #lastError: string | null = null

  constructor(options: RemoteOptions) {
    this.#options = options
    this.#address = parseCdpAddress(options.cdpUrl)
    this.#memory = options.memory
  }

  /** For a profile that takes this one's place at the same browser. */
  get memory(): TabsMemory | undefined {
    return this.#live?.tabs.memory ?? this.#memory
  }

  get name(): string {
    return this.#options.name
  }

  get kind(): "managed" | "remote" {
    return this.#options.kind
  }

  /** Also of a tunnel's end, which looks as if the browser were here. */
  get sharesFiles(): boolean {
    return this.#address.isLoopback
  }

  get color(): string {
    return this.#options.color()
  }

  get live(): LiveBrowser | undefined {
    return this.#live
  }

  /** Nothing of ours can have been left over there. */
  async adopt(): Promise<void> {}

  async ensure(signal?: AbortSignal): Promise<LiveBrowser> {
    if (this.#retired) throw this.#retired
    if (this.#live?.connection.isOpen) return this.#live
    this.#connecting ??= this.#start().finally(() => (this.#connecting = undefined))
    // One caller's giving up does not end the connecting that others wait for.
    return signal ? raceAbort(this.#connecting, signal) : this.#connecting
  }

  async #start(): Promise<Connected> {
    this.#abort = new AbortController()
    const { clock, log, name } = this.#options
    const startedAt = clock.monotonic()
    try {
      const connected = await this.#connect(this.#abort.signal)
      this.#live = connected
      this.#lastError = null
      this.#watch(connected)
      const ms = Math.round(clock.monotonic() - startedAt)
      log.info({ profile: name, browser: connected.product, ms }, "browser connected")
      return connected
    } catch (error) {
      this.#lastError = describeError(error)
      throw error
    }
  }

  async #connect(signal: AbortSignal): Promise<Connected> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#try(attempt, signal)
      if ("connection" in outcome) return outcome
      if (!outcome.again || attempt === (this.#options.tries ?? usualTries)) throw this.#unreachable(outcome.reason)
      await this.#options.clock.sleep(pauseMs, signal)
    }
  }

  async #try(attempt: number, signal: AbortSignal): Promise<Connected | { again: boolean; reason: string }> {
    const { httpMs, handshakeMs } = this.#options.timeouts()
    const found = await this.#findSockets({ timeoutMs: httpMs * attempt, signal })
    if ("reason" in found) return found
    let reason = "no WebSocket address"
    for (const url of found) {
      try {
        return await this.#open(url, { timeoutMs: handshakeMs * attempt, signal })
      } catch (error) {
        signal.throwIfAborted()
        reason = describeError(error)
        const status = error instanceof HandshakeError ? error.status : undefined
        if (status === 401 || status === 403) return { again: false, reason: `the credentials were refused: ${reason}` }
      }
    }
    return { again: true, reason }
  }

  /** The WebSocket addresses to try. One that names its browser needs no asking. */
  async #findSockets(options: {
    timeoutMs: number
    signal: AbortSignal
  }): Promise<string[] | { again: boolean; reason: string }> {
    const { direct, socket, reach } = this.#address
    if (direct !== undefined) return [direct]
    const answer = await askVersion(this.#address, options)
    if (answer.kind === "browser") return reach(answer.webSocketUrl)
    // Hosted browsers often have nothing but the WebSocket.
    if (answer.kind === "no-browser" && socket !== undefined) return [socket]
    return { again: answer.kind === "unreachable", reason: answer.reason }
  }

  async #open(url: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<Connected> {
    const { background, clock, log } = this.#options
    const connection = await CdpConnection.connect({ url, headers: this.#address.headers, ...options })
    try {
      // What opens a WebSocket need not be a browser, and one that is need not be awake.
      const version = await connection.root.send<{ product?: string; userAgent?: string }>(
        "Browser.getVersion",
        {},
        options,
      )
      const headless = /headless/i.test(`${version.product} ${version.userAgent}`)
      const memory = this.#memory
      const tabs = new Tabs({ connection, background, clock, log, owned: false, headless, memory })
      await tabs.start(options.signal)
      const downloads = new Downloads({ connection, tabs, background, isOurs: false })
      return { connection, tabs, downloads, guarded: false, headless, product: version.product ?? "" }
    } catch (error) {
      connection.close()
      throw error
    }
  }

  #watch(connected: Connected): void {
    const { background, log, name } = this.#options
    background.run("remote browser watch", async () => {
      const reason = await connected.connection.closed
      if (this.#live !== connected) return
      this.#memory = connected.tabs.memory
      this.#live = undefined
      this.#lastError = describeError(reason)
      log.warn({ profile: name, reason: this.#lastError }, "browser lost")
    })
  }

  #unreachable(reason: string): AppError {
    const { name, kind } = this.#options
    const hint =
      this.#options.hint ??
      (kind === "managed"
        ? `browser.attachOnly is set: start a browser with --remote-debugging-port=${this.#address.port}, or set browser.attachOnly to false`
        : "Check that the browser runs, and the cdpUrl of the profile with its credentials")
    const code = kind === "managed" ? "browser-not-running" : "browser-unreachable"
    return new AppError(
      code,
      `The browser of profile ${name} at ${this.#address.shown} is not reachable: ${oneLine(reason)}`,
      {
        hint,
      },
    )
  }

  async stop(): Promise<boolean> {
    const wasRunning = this.#live !== undefined
    this.#abort.abort(new AppError("aborted", "The profile was stopped"))
    // The connecting fails by the abort; that failure is its caller's.
    await this.#connecting?.catch(() => undefined)
    const live = this.#live
    if (!live) return wasRunning
    this.#live = undefined
    live.connection.close()
    // Whoever ends the connection on purpose ends what tabs pretend to be.
    const { tabs: _settings, ...memory } = live.tabs.memory
    this.#memory = memory
    this.#options.log.info({ profile: this.name }, "browser disconnected")
    return true
  }

  async retire(reason: AppError): Promise<void> {
    this.#retired = reason
    await this.stop()
  }

  state(): ProfileState {
    return {
      running: this.#live !== undefined,
      pid: null,
      cdpPort: this.#address.port,
      cdpUrl: this.#address.shown,
      chosenBrowser: this.#live?.product ?? null,
      executablePath: null,
      userDataDir: null,
      headless: this.#live?.headless ?? false,
      noSandbox: false,
      lastError: this.#lastError,
    }
  }

  /** Never opens a WebSocket that names no browser: at hosted services that would start one, and cost money. */
  async probe(signal?: AbortSignal): Promise<ProfileReach> {
    if (this.#live) return { http: true, ready: true, tabCount: this.#live.tabs.list.length, reason: null }
    const { httpMs, handshakeMs } = this.#options.timeouts()
    const limits = { timeoutMs: Math.min(httpMs, probeMs), signal }
    if (this.#address.direct !== undefined) return this.#probeSocket(this.#address.direct, handshakeMs, signal)
    const [answer, tabCount] = await Promise.all([askVersion(this.#address, limits), countPages(this.#address, limits)])
    const isBrowser = answer.kind === "browser"
    const ready = isBrowser || (answer.kind === "no-browser" && this.#address.socket !== undefined)
    return {
      http: isBrowser,
      ready,
      tabCount: tabCount ?? 0,
      reason: ready || !("reason" in answer) ? null : answer.reason,
    }
  }

  async #probeSocket(url: string, handshakeMs: number, signal: AbortSignal | undefined): Promise<ProfileReach> {
    const timeoutMs = Math.min(handshakeMs, probeMs)
    try {
      const { headers } = this.#address
      const connection = await CdpConnection.connect({ url, headers, timeoutMs, ...(signal ? { signal } : {}) })
      connection.close()
      return { http: false, ready: true, tabCount: 0, reason: null }
    } catch (error) {
      signal?.throwIfAborted()
      return { http: false, ready: false, tabCount: 0, reason: describeError(error) }
    }
  }

  async reset(): Promise<never> {
    throw new AppError("profile-unsupported", `The data of profile ${this.name} is not ours to reset`, {
      hint: "Only a managed profile, whose browser the gateway starts itself, can be reset",
    })
  }
}

/** Parts of it may be words of the other side. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").slice(0, 300)
}
