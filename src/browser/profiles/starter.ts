// Gets a managed profile its browser: folder -> lock -> tint -> process -> connection, or the browser that an earlier gateway
// left running. It holds nothing of what it has started; whoever asked looks after that.
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { AppError, type Background, type Clock, describeError, type Ids, type Log } from "../../kernel/index.ts"
import { askVersion, CdpConnection, parseCdpAddress } from "../cdp/index.ts"
import { Downloads } from "../page/downloads.ts"
import { greet, type Greeter } from "../page/policy/greeting.ts"
import { Tabs, type TabsMemory } from "../page/tabs.ts"
import { paintProfile } from "./appearance.ts"
import { browserArguments, browserEnvironment, type LaunchArguments } from "./arguments.ts"
import type { LiveBrowser } from "./contract.ts"
import { detectBrowser, type Machine } from "./detect/index.ts"
import { endGroup, isGoneWithin } from "./end-process.ts"
import { type BrowserProcess, BrowserSilent, launchOnPipe, launchOnPort } from "./launch.ts"
import { findLeftBrowser, type LeftBrowser, type LeftDoor } from "./left-browser.ts"
import { findFreePort, type PortRange } from "./ports.ts"
import { ownsFolder } from "./process-info.ts"
import { type BrowserRecord, removeRecord, writeRecord } from "./record.ts"
import { readLock, removeLock } from "./singleton-lock.ts"

/** The way of a browser's own pages to the network. */
export interface OwnNetwork extends Greeter {
  /** Its address; on a certain port, if that one can be had. */
  url(port?: number): Promise<string>
  onStranger(listener: () => void): () => void
}

export interface StarterOptions {
  name: string
  color(): string
  /** `<state>/browser/<name>` */
  folder: string
  machine: Machine
  hostname: string
  range: PortRange
  /** Set, the browser listens on it, or on the next free port; left out, it is spoken to through a pipe. */
  cdpPort: number | undefined
  executablePath: string | undefined
  headless: boolean | "auto"
  noSandbox: boolean
  /** Ports that are being taken at this moment, by any profile. */
  takenPorts: Set<number>
  /** Ports that the configuration gives to other profiles. */
  reservedPorts(): ReadonlySet<number>
  /** Undefined where the machine has a proxy of its own that browsers must use. */
  network: OwnNetwork | undefined
  userId: number | undefined
  waits: BrowserWaits
  clock: Clock
  ids: Ids
  log: Log
  background: Background
}

export interface BrowserWaits {
  /** How long a browser may say nothing after its start. */
  startTimeoutMs?: number
  /** How long nobody uses a tab before its window rests. */
  restAfterMs?: number
}

export interface Running {
  live: LiveBrowser
  record: BrowserRecord
  /** Resolves when the process is gone; for one that we did not start, when its socket is. */
  exited: Promise<unknown>
}

export interface StartContext {
  signal: AbortSignal
  /** Of the connection before this one. */
  memory: TabsMemory | undefined
}

const defaultStartMs = 20_000
const attachTimeoutMs = 1_500
/** Time to write its profile to disk, which is what a clean end is for. */
export const closeMs = 4_000
/** For a browser that does not end by itself. */
export const endWaits = { politeMs: 1_000, firmMs: 2_000 }
const portTries = 5
/** Other users of the machine can knock at the proxy as often as they like. */
const tellAgainMs = 2_000

export class BrowserStarter {
  readonly #options: StarterOptions
  readonly #recordPath: string
  readonly userDataFolder: string

  constructor(options: StarterOptions) {
    this.#options = options
    this.#recordPath = join(options.folder, "browser.json")
    this.userDataFolder = join(options.folder, "user-data")
  }

  get headless(): boolean {
    const { headless, machine } = this.#options
    if (headless !== "auto") return headless
    if (machine.platform !== "linux") return false
    return !machine.environment["DISPLAY"] && !machine.environment["WAYLAND_DISPLAY"]
  }

  /** The browser that an earlier gateway left running, with its tabs. One that cannot be spoken to is ended. */
  async takeUp(context: StartContext): Promise<Running | undefined> {
    const { log, name, hostname } = this.#options
    const places = { recordPath: this.#recordPath, userDataFolder: this.userDataFolder, hostname }
    const left = await findLeftBrowser(places)
    if (!left) return undefined
    try {
      if (left.door) return await this.#attach(left, left.door, context)
      // It has lost its pipe and ends by itself, with its profile on disk.
      if (await isGoneWithin(left.pid, closeMs)) return await this.forget()
      throw new Error("it does not end although its pipe is gone")
    } catch (error) {
      log.warn({ profile: name, pid: left.pid, reason: describeError(error) }, "left browser ended")
      await endGroup(left.pid, endWaits)
    }
    return this.forget()
  }

  async #attach(left: LeftBrowser, door: LeftDoor, context: StartContext): Promise<Running> {
    const { log, name, hostname, ids } = this.#options
    const { pid, headless, path } = left
    const { port } = door
    const answer = await askVersion(parseCdpAddress(`http://127.0.0.1:${port}`), {
      timeoutMs: attachTimeoutMs,
      signal: context.signal,
    })
    if (answer.kind !== "browser") throw new Error(answer.reason)
    const { webSocketUrl } = answer
    if (door.webSocketUrl !== undefined && new URL(door.webSocketUrl).pathname !== new URL(webSocketUrl).pathname)
      throw new Error("another browser answers on its port")
    const network = left.proxyPort === undefined ? undefined : this.#options.network
    const proxy = await network?.url(left.proxyPort)
    if (left.proxyPort !== undefined && (proxy === undefined || Number(new URL(proxy).port) !== left.proxyPort))
      throw new Error("its way to the network is gone")
    // Refs from before must not be found again under numbers that mean something else now.
    const nextRef = left.refsBelow ?? 1000 * (1 + ids.below(90))
    const firstRef = left.refsBelow === undefined ? nextRef : 1
    const memory = context.memory ?? { nextRef, firstRef, lastTargetId: undefined }
    const connection = await connect(webSocketUrl, context.signal)
    if (door.webSocketUrl === undefined) await proveProcess(connection, pid)
    const live = await this.#live(connection, headless, network, { ...context, memory })
    const record = { pid, door: { port, webSocketUrl }, host: hostname, headless, path, refsBelow: memory.nextRef }
    await writeRecord(this.#recordPath, record)
    this.#keepRefs(live, record)
    log.info({ profile: name, pid, port }, "browser attached")
    return { live, record, exited: connection.closed }
  }

  /** Throws `browser-start-failed`, `browser-not-found`, `port-range-full`. */
  async launch(context: StartContext): Promise<Running> {
    const { machine, cdpPort, log } = this.#options
    if (this.#options.userId === 0 && !this.#options.noSandbox) {
      throw new AppError("browser-start-failed", "A browser cannot use its own sandbox when the gateway runs as root", {
        hint: "Run the gateway as an ordinary user, or set browser.noSandbox to true",
      })
    }
    const { path } = await detectBrowser(machine, this.#options.executablePath)
    await mkdir(this.userDataFolder, { recursive: true, mode: 0o700 })
    await this.clearLock()
    await this.#paint()
    let mayBeSilent = true
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await (cdpPort === undefined
          ? this.#launchOnPipe(path, context)
          : this.#launchOnPort(path, cdpPort, attempt, context))
      } catch (error) {
        const isAgain = error instanceof BrowserSilent ? mayBeSilent : hasLostRace(error) && attempt < portTries
        if (!isAgain) throw error
        if (error instanceof BrowserSilent) mayBeSilent = false
        log.warn({ profile: this.#options.name, reason: describeError(error) }, "browser started once more")
        await this.clearLock()
      }
    }
  }

  async #launchOnPipe(path: string, context: StartContext): Promise<Running> {
    const startedAt = this.#options.clock.monotonic()
    const browser = await launchOnPipe(await this.#words(path, { kind: "pipe" }, context))
    return this.#finish(path, browser, { startedAt, context, connect: async () => browser.connection })
  }

  async #launchOnPort(path: string, wanted: number, attempt: number, context: StartContext): Promise<Running> {
    const { ids, clock, takenPorts } = this.#options
    // Whoever won the last race looks for a port at the same moment again: the more races, the further apart we look.
    const port = await this.#choosePort(wanted, attempt === 1 ? 0 : ids.below(attempt * 4))
    const startedAt = clock.monotonic()
    try {
      const browser = await launchOnPort(await this.#words(path, { kind: "port", port }, context))
      const { webSocketUrl } = browser
      if (new URL(webSocketUrl).hostname !== "127.0.0.1") {
        // Somebody took the port since we looked: Chromium then listens on ::1 beside it, where nobody would expect it.
        await endGroup(browser.pid, endWaits)
        throw new AppError("browser-start-failed", `Port ${port} on 127.0.0.1: address already in use`)
      }
      const door = { port, webSocketUrl }
      return await this.#finish(path, browser, {
        startedAt,
        context,
        door,
        connect: () => connect(webSocketUrl, context.signal),
      })
    } finally {
      takenPorts.delete(port)
    }
  }

  async #words(path: string, way: LaunchArguments["way"], { signal }: StartContext) {
    const { machine, noSandbox, network, waits } = this.#options
    return {
      path,
      arguments: browserArguments({
        way,
        proxy: await network?.url(),
        userDataFolder: this.userDataFolder,
        headless: this.headless,
        noSandbox,
        platform: machine.platform,
      }),
      environment: browserEnvironment(machine.environment),
      timeoutMs: waits.startTimeoutMs ?? defaultStartMs,
      signal,
    }
  }

  /** A process is there: from here on it is written down, connected to and introduced, or ended. */
  async #finish(
    path: string,
    browser: BrowserProcess,
    rest: {
      startedAt: number
      context: StartContext
      door?: BrowserRecord["door"]
      connect(): Promise<CdpConnection>
    },
  ): Promise<Running> {
    const { hostname, log, name, clock } = this.#options
    const { pid, exited } = browser
    const { headless } = this
    const record = { pid, host: hostname, headless, path, ...(rest.door ? { door: rest.door } : {}) }
    try {
      await writeRecord(this.#recordPath, record)
      const live = await this.#live(await rest.connect(), headless, this.#options.network, rest.context)
      if (rest.door) this.#keepRefs(live, record)
      const ms = Math.round(clock.monotonic() - rest.startedAt)
      log.info({ profile: name, pid, port: rest.door?.port, ms }, "browser started")
      return { live, record, exited }
    } catch (error) {
      await endGroup(pid, endWaits)
      await this.forget()
      throw error
    }
  }

  /** Writes down how far the numbers of elements have come, for a gateway that finds this browser after us. */
  #keepRefs({ tabs, connection }: LiveBrowser, record: BrowserRecord): void {
    let isOver = false
    void connection.closed.then(() => (isOver = true))
    let last: Promise<void> = Promise.resolve()
    tabs.refs.reserveBy((refsBelow) => {
      const write = async () => {
        if (!isOver) await writeRecord(this.#recordPath, { ...record, refsBelow })
      }
      last = last.then(write, write)
      this.#options.background.run("browser record", () => last)
    })
  }

  async #live(
    connection: CdpConnection,
    headless: boolean,
    network: OwnNetwork | undefined,
    { signal, memory }: StartContext,
  ): Promise<LiveBrowser> {
    const { background, clock, log, waits } = this.#options
    try {
      if (network) await this.#introduce(connection, network, signal)
      // At an open port others may work in its tabs too.
      const rests = headless && connection.endpoint === undefined && { afterMs: waits.restAfterMs }
      const tabs = new Tabs({ connection, background, clock, log, owned: true, headless, rests, memory })
      const downloads = new Downloads({ connection, tabs, background, isOurs: true })
      await Promise.all([tabs.start(signal), downloads.start(signal)])
      return { connection, tabs, downloads, guarded: network !== undefined }
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** A browser whose network process has crashed has forgotten what it was told: whoever comes without may be ours. */
  async #introduce(connection: CdpConnection, network: OwnNetwork, signal: AbortSignal): Promise<void> {
    const { background, clock } = this.#options
    await greet(connection, network, { signal })
    let toldAt = clock.monotonic()
    const leave = network.onStranger(() => {
      if (clock.monotonic() - toldAt < tellAgainMs) return
      toldAt = clock.monotonic()
      background.run("browser greeting", () => greet(connection, network, { inUse: true }))
    })
    void connection.closed.then(leave)
  }

  async #choosePort(preferred: number, skip: number): Promise<number> {
    const { range, takenPorts, reservedPorts } = this.#options
    const port = await findFreePort({ range, preferred, taken: new Set([...takenPorts, ...reservedPorts()]), skip })
    // Two profiles that start at once looked at the same ports.
    if (takenPorts.has(port)) return this.#choosePort(preferred, skip)
    takenPorts.add(port)
    return port
  }

  /** Nothing of ours runs in the folder any more. */
  async forget(): Promise<undefined> {
    await removeRecord(this.#recordPath)
  }

  async clearLock(code: "browser-start-failed" | "conflict" = "browser-start-failed"): Promise<void> {
    const folder = this.userDataFolder
    const lock = await readLock(folder, {
      hostname: this.#options.hostname,
      ownsFolder: (pid) => ownsFolder(pid, folder),
    })
    if (lock.kind === "free") return
    if (lock.kind === "stale") return removeLock(folder)
    const who = lock.kind === "held" ? `process ${lock.pid}` : `process ${lock.pid} on host ${lock.host}`
    throw new AppError(code, `The folder of profile ${this.#options.name} is in use by another browser (${who})`, {
      hint:
        lock.kind === "held"
          ? "Close that browser, then try again"
          : `If that host is gone, remove ${join(folder, "SingletonLock")}`,
    })
  }

  /** So that a window is told from others at a glance. Done while no browser works in the folder. */
  async #paint(): Promise<void> {
    const { name, color, log } = this.#options
    try {
      await paintProfile(this.userDataFolder, { name, color: color() })
    } catch (error) {
      // A colour is no reason not to start.
      log.warn({ profile: name, reason: describeError(error) }, "browser not painted")
    }
  }
}

function connect(url: string, signal: AbortSignal): Promise<CdpConnection> {
  return CdpConnection.connect({ url, timeoutMs: 5_000, signal })
}

/** Somebody has taken the port since we looked. */
function hasLostRace(error: unknown): boolean {
  return error instanceof AppError && /Cannot start http server|address already in use|bind\(\)/i.test(error.message)
}

/** The browser that was connected to says itself which process it is: what answers on a port may be another's. */
async function proveProcess(connection: CdpConnection, pid: number): Promise<void> {
  const { processInfo } = await connection.root.send<{ processInfo: { type: string; id: number }[] }>(
    "SystemInfo.getProcessInfo",
  )
  if (processInfo.some(({ type, id }) => type === "browser" && id === pid)) return
  connection.close()
  throw new Error("another browser answers on its port")
}
