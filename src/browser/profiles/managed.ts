// A managed profile: one browser process of our own, its folder, its port and its one connection.
// start -> (re-attach to the one left by an earlier gateway | launch) -> connection; its end is noticed at once.
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import {
  AppError,
  type Background,
  type Clock,
  describeError,
  type Ids,
  type Log,
  raceAbort,
} from "../../kernel/index.ts"
import { askVersion, CdpConnection, parseCdpAddress } from "../cdp/index.ts"
import { Tabs, type TabsMemory } from "../page/tabs.ts"
import { paintProfile } from "./appearance.ts"
import { browserArguments, browserEnvironment } from "./arguments.ts"
import type { BrowserProfile, LiveBrowser, ProfileReach, ProfileState } from "./contract.ts"
import { detectBrowser, kindOfProgram, type Machine } from "./detect/index.ts"
import { BrowserSilent, endGroup, isGoneWithin, launchBrowser } from "./launch.ts"
import { findLeftBrowser } from "./left-browser.ts"
import { findFreePort, type PortRange } from "./ports.ts"
import { ownsFolder } from "./process-info.ts"
import { type BrowserRecord, removeRecord, writeRecord } from "./record.ts"
import { readLock, removeLock } from "./singleton-lock.ts"

export interface ManagedOptions {
  name: string
  color(): string
  /** `<state>/browser/<name>` */
  folder: string
  machine: Machine
  hostname: string
  range: PortRange
  preferredPort: number | undefined
  executablePath: string | undefined
  headless: boolean | "auto"
  noSandbox: boolean
  /** Ports that are being taken at this moment, by any profile. */
  takenPorts: Set<number>
  /** Ports that the configuration gives to other profiles. */
  reservedPorts(): ReadonlySet<number>
  /** The end of the profile that had this folder before: nothing is started until then. */
  after: Promise<unknown> | undefined
  userId: number | undefined
  /** How long a browser may say nothing after its start. */
  startTimeoutMs: number | undefined
  clock: Clock
  ids: Ids
  log: Log
  background: Background
}

interface Running {
  live: LiveBrowser
  record: BrowserRecord
  /** Resolves when the process is gone; for one that we did not start, when its socket is. */
  exited: Promise<unknown>
}

const defaultStartMs = 20_000
const attachTimeoutMs = 1_500
/** Time to write its profile to disk, which is what a clean end is for. */
const closeMs = 4_000
/** For a browser that does not end by itself. */
const endWaits = { politeMs: 1_000, firmMs: 2_000 }
const portTries = 5

export class ManagedProfile implements BrowserProfile {
  readonly kind = "managed" as const
  readonly owned = true
  readonly sharesFiles = true
  readonly #options: ManagedOptions
  readonly #recordPath: string
  readonly #userDataFolder: string
  #running: Running | undefined
  /** Resolves when the browser that ran last is no longer looked after: stopped, or lost and cleared away. */
  #watched: Promise<void> | undefined
  #starting: Promise<LiveBrowser> | undefined
  #adopting: Promise<void> | undefined
  #stopping: Promise<boolean> | undefined
  /** What is left of a browser that was lost, being cleared away. */
  #ending: Promise<void> | undefined
  #retired: AppError | undefined
  #memory: TabsMemory | undefined
  #lastError: string | null = null
  #abort = new AbortController()

  constructor(options: ManagedOptions) {
    this.#options = options
    this.#recordPath = join(options.folder, "browser.json")
    this.#userDataFolder = join(options.folder, "user-data")
  }

  get name(): string {
    return this.#options.name
  }

  get color(): string {
    return this.#options.color()
  }

  get live(): LiveBrowser | undefined {
    return this.#running?.live
  }

  get #headless(): boolean {
    const { headless, machine } = this.#options
    if (headless !== "auto") return headless
    if (machine.platform !== "linux") return false
    return !machine.environment["DISPLAY"] && !machine.environment["WAYLAND_DISPLAY"]
  }

  /** Takes up the browser that an earlier gateway left running, if there is one. Never starts one. */
  adopt(): Promise<void> {
    this.#adopting ??= this.#adopt().finally(() => (this.#adopting = undefined))
    return this.#adopting
  }

  async #adopt(): Promise<void> {
    if (this.#running || this.#starting || this.#stopping) return
    const running = await this.#reattach()
    if (running) this.#take(running)
  }

  #take(running: Running): LiveBrowser {
    this.#running = running
    this.#lastError = null
    this.#watch(running)
    return running.live
  }

  async ensure(signal?: AbortSignal): Promise<LiveBrowser> {
    const before = this.#quiet()
    await (signal ? raceAbort(before, signal) : before)
    if (this.#retired) throw this.#retired
    if (this.#running?.live.connection.isOpen) return this.#running.live
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined))
    // One caller's giving up does not stop the start that others wait for.
    return signal ? raceAbort(this.#starting, signal) : this.#starting
  }

  /** Resolves when nothing is under way that a start would be in the way of. */
  async #quiet(): Promise<void> {
    await this.#options.after
    while (this.#stopping) await this.#stopping.catch(() => undefined)
    await this.#adopting
  }

  async #start(): Promise<LiveBrowser> {
    this.#abort = new AbortController()
    try {
      // A connection that has just ended may not have been noticed yet by the one who clears away.
      await this.#watched
      return this.#take((await this.#reattach()) ?? (await this.#launch()))
    } catch (error) {
      const told = this.#explain(error)
      this.#lastError = describeError(told)
      throw told
    }
  }

  /** What the system says of the profile's folder is for whoever asked: rights, a full disk, a file in its place. */
  #explain(error: unknown): unknown {
    if (!(error instanceof Error) || !("syscall" in error)) return error
    return new AppError("browser-start-failed", `The folder of profile ${this.name} cannot be used: ${error.message}`, {
      cause: error,
      hint: `Look at ${this.#options.folder}: it must belong to the gateway's user and take new files`,
    })
  }

  /** A browser that an earlier gateway left running keeps its tabs and logins; one that does not answer is ended. */
  async #reattach(): Promise<Running | undefined> {
    const { log, name, hostname, ids } = this.#options
    const places = { recordPath: this.#recordPath, userDataFolder: this.#userDataFolder, hostname }
    const left = await findLeftBrowser(places)
    if (!left) return undefined
    try {
      const { pid, port, headless, path } = left
      const answer = await askVersion(parseCdpAddress(`http://127.0.0.1:${port}`), {
        timeoutMs: attachTimeoutMs,
        signal: this.#abort.signal,
      })
      if (answer.kind !== "browser") throw new Error(answer.reason)
      const { webSocketUrl } = answer
      if (left.webSocketUrl !== undefined && new URL(left.webSocketUrl).pathname !== new URL(webSocketUrl).pathname)
        throw new Error("another browser answers on its port")
      // Refs from before must not be found again under numbers that mean something else now.
      const nextRef = 1000 * (1 + ids.below(90))
      this.#memory ??= { nextRef, firstRef: nextRef, lastTargetId: undefined }
      const live = await this.#connect(webSocketUrl, headless)
      if (left.webSocketUrl === undefined) await proveProcess(live, pid)
      const record = { pid, port, webSocketUrl, host: hostname, headless, path }
      await writeRecord(this.#recordPath, record)
      log.info({ profile: name, pid, port }, "browser attached")
      return { live, record, exited: live.connection.closed }
    } catch (error) {
      log.warn({ profile: name, pid: left.pid, reason: describeError(error) }, "left browser ended")
      await endGroup(left.pid, endWaits)
    }
    await removeRecord(this.#recordPath)
    return undefined
  }

  async #launch(): Promise<Running> {
    const { machine } = this.#options
    if (this.#options.userId === 0 && !this.#options.noSandbox) {
      throw new AppError("browser-start-failed", "A browser cannot use its own sandbox when the gateway runs as root", {
        hint: "Run the gateway as an ordinary user, or set browser.noSandbox to true",
      })
    }
    const { path } = await detectBrowser(machine, this.#options.executablePath)
    await mkdir(this.#userDataFolder, { recursive: true, mode: 0o700 })
    await this.#clearLock()
    await this.#paint()
    let mayBeSilent = true
    for (let attempt = 1; ; attempt += 1) {
      // Whoever won the last race looks for a port at the same moment again: the more races, the further apart we look.
      const port = await this.#choosePort(attempt === 1 ? 0 : this.#options.ids.below(attempt * 4))
      try {
        return await this.#launchOn(port, path)
      } catch (error) {
        const isAgain = error instanceof BrowserSilent ? mayBeSilent : hasLostRace(error) && attempt < portTries
        if (!isAgain) throw error
        if (error instanceof BrowserSilent) mayBeSilent = false
        this.#options.log.warn({ profile: this.name, reason: describeError(error) }, "browser started once more")
        await this.#clearLock()
      } finally {
        this.#options.takenPorts.delete(port)
      }
    }
  }

  async #choosePort(skip: number): Promise<number> {
    const { range, preferredPort: preferred, takenPorts, reservedPorts } = this.#options
    const port = await findFreePort({ range, preferred, taken: new Set([...takenPorts, ...reservedPorts()]), skip })
    // Two profiles that start at once looked at the same ports.
    if (takenPorts.has(port)) return this.#choosePort(skip)
    takenPorts.add(port)
    return port
  }

  async #launchOn(port: number, path: string): Promise<Running> {
    const { machine, hostname, log, name, clock } = this.#options
    const startedAt = clock.monotonic()
    const headless = this.#headless
    const browser = await launchBrowser({
      path,
      arguments: browserArguments({
        port,
        userDataFolder: this.#userDataFolder,
        headless,
        noSandbox: this.#options.noSandbox,
        platform: machine.platform,
      }),
      environment: browserEnvironment(machine.environment),
      timeoutMs: this.#options.startTimeoutMs ?? defaultStartMs,
      signal: this.#abort.signal,
    })
    if (new URL(browser.webSocketUrl).hostname !== "127.0.0.1") {
      // Somebody took the port since we looked: Chromium then listens on ::1 beside it, where nobody would expect it.
      await endGroup(browser.pid, endWaits)
      throw new AppError("browser-start-failed", `Port ${port} on 127.0.0.1: address already in use`)
    }
    const record = { pid: browser.pid, port, webSocketUrl: browser.webSocketUrl, host: hostname, headless, path }
    try {
      await writeRecord(this.#recordPath, record)
      const live = await this.#connect(browser.webSocketUrl, headless)
      log.info(
        { profile: name, pid: browser.pid, port, ms: Math.round(clock.monotonic() - startedAt) },
        "browser started",
      )
      return { live, record, exited: browser.exited }
    } catch (error) {
      await endGroup(browser.pid, endWaits)
      await removeRecord(this.#recordPath)
      throw error
    }
  }

  async #connect(url: string, headless: boolean): Promise<LiveBrowser> {
    const { background, clock, log } = this.#options
    const connection = await CdpConnection.connect({ url, timeoutMs: 5_000, signal: this.#abort.signal })
    try {
      const tabs = new Tabs({ connection, background, clock, log, owned: true, headless, memory: this.#memory })
      await tabs.start(this.#abort.signal)
      return { connection, tabs }
    } catch (error) {
      connection.close()
      throw error
    }
  }

  async #clearLock(code: "browser-start-failed" | "conflict" = "browser-start-failed"): Promise<void> {
    const folder = this.#userDataFolder
    const lock = await readLock(folder, {
      hostname: this.#options.hostname,
      ownsFolder: (pid) => ownsFolder(pid, folder),
    })
    if (lock.kind === "free") return
    if (lock.kind === "stale") return removeLock(folder)
    const who = lock.kind === "held" ? `process ${lock.pid}` : `process ${lock.pid} on host ${lock.host}`
    throw new AppError(code, `The folder of profile ${this.name} is in use by another browser (${who})`, {
      hint:
        lock.kind === "held"
          ? "Close that browser, then try again"
          : `If that host is gone, remove ${join(folder, "SingletonLock")}`,
    })
  }

  /** So that a window is told from others at a glance. Done while no browser works in the folder. */
  async #paint(): Promise<void> {
    try {
      await paintProfile(this.#userDataFolder, { name: this.name, color: this.color })
    } catch (error) {
      // A colour is no reason not to start.
      this.#options.log.warn({ profile: this.name, reason: describeError(error) }, "browser not painted")
    }
  }

  #watch(running: Running): void {
    const watched = this.#awaitEnd(running)
    this.#watched = watched
    this.#options.background.run("browser watch", () => watched)
  }

  async #awaitEnd(running: Running): Promise<void> {
    const { log, name } = this.#options
    const { connection, tabs } = running.live
    const reason = await Promise.race([connection.closed, running.exited.then(() => undefined)])
    this.#memory = tabs.memory
    // Stopped: whoever does that sees to the rest.
    if (this.#running !== running) return
    this.#running = undefined
    connection.close()
    this.#lastError = reason === undefined ? "The browser ended" : describeError(reason)
    log.warn({ profile: name, pid: running.record.pid, reason: this.#lastError }, "browser lost")
    this.#ending = this.#clearAway(running).finally(() => (this.#ending = undefined))
    await this.#ending
  }

  /** A browser that is there but does not answer would hold the folder; its group goes as a whole. */
  async #clearAway({ record }: Running): Promise<void> {
    await endGroup(record.pid, endWaits)
    await removeRecord(this.#recordPath)
  }

  stop(): Promise<boolean> {
    this.#stopping ??= this.#stop().finally(() => (this.#stopping = undefined))
    return this.#stopping
  }

  async retire(reason: AppError): Promise<void> {
    this.#retired = reason
    await this.#options.after
    await this.stop()
  }

  /** Starts wait until the data is away: for them the profile is still stopping. */
  async reset(move: (folder: string) => Promise<string | undefined>) {
    const from = this.#userDataFolder
    while (this.#stopping) await this.#stopping
    let to: string | undefined
    const work = async () => {
      const stopped = await this.#stop()
      await this.#clearLock("conflict")
      to = await move(from)
      return stopped
    }
    this.#stopping = work().finally(() => (this.#stopping = undefined))
    await this.#stopping
    return { from, to }
  }

  async #stop(): Promise<boolean> {
    this.#abort.abort(new AppError("aborted", "The browser was stopped"))
    await this.#adopting
    // The start fails by the abort; that failure is its caller's.
    await this.#starting?.catch(() => undefined)
    // From here on it is ours to end, also if it is lost meanwhile.
    const running = this.#running
    this.#running = undefined
    await this.#ending
    if (!running) return false
    const { connection } = running.live
    const { pid } = running.record
    // The socket often goes before the answer: what counts is whether the process ends.
    const asked = connection.root.send("Browser.close", {}, { timeoutMs: closeMs }).catch((error: unknown) => {
      this.#options.log.debug({ profile: this.name, reason: describeError(error) }, "browser close unanswered")
    })
    await isGoneWithin(pid, closeMs)
    connection.close()
    await asked
    await endGroup(pid, endWaits)
    await removeRecord(this.#recordPath)
    this.#options.log.info({ profile: this.name, pid }, "browser stopped")
    return true
  }

  async probe(): Promise<ProfileReach> {
    const { live } = this
    return { http: live !== undefined, ready: live !== undefined, tabCount: live?.tabs.list.length ?? 0, reason: null }
  }

  state(): ProfileState {
    const record = this.#running?.record
    return {
      running: this.#running !== undefined,
      pid: record?.pid ?? null,
      cdpPort: record?.port ?? this.#options.preferredPort ?? null,
      cdpUrl: record ? `http://127.0.0.1:${record.port}` : null,
      chosenBrowser: record ? kindOfProgram(record.path) : null,
      executablePath: record?.path ?? null,
      userDataDir: this.#userDataFolder,
      headless: record?.headless ?? this.#headless,
      noSandbox: this.#options.noSandbox,
      lastError: this.#lastError,
    }
  }
}

/** Somebody has taken the port since we looked. */
function hasLostRace(error: unknown): boolean {
  return error instanceof AppError && /Cannot start http server|address already in use|bind\(\)/i.test(error.message)
}

/** The browser that was connected to says itself which process it is: what answers on a port may be another's. */
async function proveProcess({ connection }: LiveBrowser, pid: number): Promise<void> {
  const { processInfo } = await connection.root.send<{ processInfo: { type: string; id: number }[] }>(
    "SystemInfo.getProcessInfo",
  )
  if (processInfo.some(({ type, id }) => type === "browser" && id === pid)) return
  connection.close()
  throw new Error("another browser answers on its port")
}
