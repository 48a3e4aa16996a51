// Gets a browser of a sandboxed session: a box of its own -> Chromium in it, with its own sandbox on -> its pipe. The profile
// lives in the box's memory and is gone with it; nothing is found again after a restart.
import { realpathSync } from "node:fs"
import { dirname } from "node:path"
import type { Readable, Writable } from "node:stream"
import { AppError, type Background, type Clock, type Log, raceAbort, withTimeout } from "../../kernel/index.ts"
import { type BackendSettings, type BoxSpec, type Sandbox, type StartedBox, proxyAddress } from "../../sandbox/index.ts"
import { CdpConnection, overPipe } from "../cdp/index.ts"
import { Downloads } from "../page/downloads.ts"
import { Tabs } from "../page/tabs.ts"
import { browserArguments } from "../profiles/arguments.ts"
import { type Machine, detectBrowser } from "../profiles/detect/index.ts"
import type { Starter } from "../profiles/managed.ts"
import type { BrowserWaits, Running, StartContext } from "../profiles/starter.ts"

export interface SandboxStarterOptions {
  sandbox: Sandbox
  settings: BackendSettings & { browser: { memoryMb: number; maxTasks: number } }
  session: string
  agentId: string
  machine: Machine
  executablePath: string | undefined
  proxySocket(): Promise<string>
  hostname: string
  waits: BrowserWaits
  clock: Clock
  log: Log
  background: Background
}

const defaultStartMs = 30_000
const tailChars = 2_000

export class SandboxStarter implements Starter {
  readonly headless = true
  /** In the box. */
  readonly userDataFolder = "/home/agent/user-data"
  readonly #options: SandboxStarterOptions

  constructor(options: SandboxStarterOptions) {
    this.#options = options
  }

  async takeUp(): Promise<undefined> {
    return undefined
  }

  async forget(): Promise<undefined> {
    return undefined
  }

  async clearLock(): Promise<void> {}

  /** Throws `sandbox-unavailable`, `browser-start-failed`, `browser-not-found`. */
  async launch({ signal, memory }: StartContext): Promise<Running> {
    const { sandbox, settings, clock, log, background, session, hostname, waits } = this.#options
    const startedAt = clock.monotonic()
    const path = await this.#program()
    const box = await sandbox.start(await this.#spec(path), settings)
    try {
      const connection = await this.#connect(box, signal)
      const rests = { afterMs: waits.restAfterMs }
      const tabs = new Tabs({ connection, background, clock, log, owned: true, headless: true, rests, memory })
      const downloads = new Downloads({ connection, tabs, background, isOurs: true })
      await Promise.all([tabs.start(signal), downloads.start(signal)])
      const { pid = 0 } = box.child
      const ms = Math.round(clock.monotonic() - startedAt)
      log.info({ session, pid, box: box.id, ms }, "sandboxed browser started")
      const live = { connection, tabs, downloads, guarded: true }
      return { live, record: { pid, host: hostname, headless: true, path }, exited: box.ended }
    } catch (error) {
      box.stop()
      await box.ended
      throw error
    }
  }

  async #program(): Promise<string> {
    const { settings, machine, executablePath } = this.#options
    return settings.backend === "docker" ? "chromium" : (await detectBrowser(machine, executablePath)).path
  }

  async #spec(path: string): Promise<BoxSpec> {
    const { settings, session, agentId, proxySocket } = this.#options
    const { memoryMb, maxTasks } = settings.browser
    const words = browserArguments({
      way: { kind: "pipe" },
      proxy: undefined,
      userDataFolder: this.userDataFolder,
      headless: true,
      noSandbox: false,
      platform: "linux",
    })
    return {
      kind: "browser",
      session,
      agentId,
      // Everything goes to the proxy, addresses of the box itself too: there is nothing else to reach.
      argv: [path, `--proxy-server=${proxyAddress}`, "--proxy-bypass-list=<-loopback>", ...words],
      mounts: settings.backend === "docker" ? [] : programFolders(path),
      proxySocket: await proxySocket(),
      limits: { memoryMb, tasks: maxTasks },
      hasPipes: true,
    }
  }

  async #connect(box: StartedBox, signal: AbortSignal): Promise<CdpConnection> {
    const { child, pipesAreStandard } = box
    const [to, from] = pipesAreStandard ? [child.stdin, child.stdout] : [child.stdio[3], child.stdio[4]]
    const lastWords = readTail(child.stderr)
    const connection = new CdpConnection(overPipe(to as Writable, from as Readable))
    const timeoutMs = this.#options.waits.startTimeoutMs ?? defaultStartMs
    const limit = withTimeout(timeoutMs, "Starting the browser in its sandbox", signal)
    const ended = new Promise<never>((_resolve, reject) => {
      child.once("error", (error) => reject(failed(error.message, lastWords())))
      child.once("exit", (code, ending) => reject(failed(`it ended (${ending ?? `exit code ${code}`})`, lastWords())))
    })
    ended.catch(() => undefined)
    try {
      const asked = connection.root.send("Browser.getVersion", {}, { timeoutMs: 0 })
      await raceAbort(Promise.race([asked.catch(() => ended), ended]), limit.signal)
      return connection
    } catch (error) {
      connection.close()
      throw error
    } finally {
      limit.clear()
    }
  }
}

/** Where vendors put a browser that is not below /usr; a link elsewhere is followed once. */
function programFolders(path: string): NonNullable<BoxSpec["mounts"]> {
  const folders = [path, realpathSync(path)].map(dirname).filter((folder) => !/^\/(usr|bin)(\/|$)/.test(folder))
  return [...new Set(folders)].map((folder) => ({ source: folder, target: folder }))
}

function failed(what: string, words: string): AppError {
  return new AppError("browser-start-failed", `The browser could not be started in its sandbox: ${what}${words}`, {
    hint: "svc sandbox explain",
  })
}

function readTail(stream: Readable | null): () => string {
  let tail = ""
  stream?.setEncoding("utf8")
  stream?.on("data", (text: string) => void (tail = (tail + text).slice(-tailChars)))
  stream?.on("error", () => undefined)
  return () => {
    const lines = tail.trim().split("\n").slice(-3).join(" | ")
    return lines === "" ? "" : `: ${lines}`
  }
}
