// The person's own running browser as a whole, by its own permission for remote debugging (chrome://inspect, "Allow remote
// debugging for this browser instance"). The browser writes where it listens into `DevToolsActivePort`, and asks its person about
// every new connection: so one connection is made, when it is first used, and kept for as long as it lasts.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { AppError, type Background, type Clock, type Log, raceAbort } from "../../kernel/index.ts"
import type { BrowserProfile, LiveBrowser, ProfileReach, ProfileState } from "./contract.ts"
import { RemoteProfile } from "./remote.ts"

export interface ExistingOptions {
  name: string
  color(): string
  /** Undefined: the usual places below the home folder. */
  userDataDir: string | undefined
  homeFolder: string
  clock: Clock
  log: Log
  background: Background
}

/** Somebody has to see the question and press a button. */
const answerMs = 60_000

const usualFolders = [
  ".config/google-chrome",
  ".config/chromium",
  ".config/BraveSoftware/Brave-Browser",
  ".config/microsoft-edge",
  "Library/Application Support/Google/Chrome",
  "Library/Application Support/Chromium",
  "Library/Application Support/BraveSoftware/Brave-Browser",
  "Library/Application Support/Microsoft Edge",
  "AppData/Local/Google/Chrome/User Data",
  "AppData/Local/Microsoft/Edge/User Data",
]

export class ExistingProfile implements BrowserProfile {
  readonly kind = "remote"
  readonly owned = false
  readonly sharesFiles = true
  readonly #options: ExistingOptions
  #inner: RemoteProfile | undefined
  #ensuring: Promise<LiveBrowser> | undefined
  #retired: AppError | undefined

  constructor(options: ExistingOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.name
  }

  get color(): string {
    return this.#options.color()
  }

  get live(): LiveBrowser | undefined {
    return this.#inner?.live
  }

  async adopt(): Promise<void> {}

  async ensure(signal?: AbortSignal): Promise<LiveBrowser> {
    if (this.#retired) throw this.#retired
    if (this.#inner?.live) return this.#inner.ensure(signal)
    this.#ensuring ??= this.#connect().finally(() => (this.#ensuring = undefined))
    // One caller's giving up takes no question away that others wait for.
    return signal ? raceAbort(this.#ensuring, signal) : this.#ensuring
  }

  async #connect(): Promise<LiveBrowser> {
    const { folder, port, path } = await this.#find()
    if (this.#retired) throw this.#retired
    const { name, color, clock, log, background } = this.#options
    log.info({ profile: name, folder }, "asking the running browser for a connection; it asks its person")
    this.#inner = new RemoteProfile({
      name,
      kind: "remote",
      color,
      cdpUrl: `ws://127.0.0.1:${port}${path}`,
      timeouts: () => ({ httpMs: answerMs, handshakeMs: answerMs }),
      // A second try would ask the person a second time.
      tries: 1,
      hint: "The browser asks its person whether to allow remote debugging: press Allow there, within a minute, and try again",
      memory: this.#inner?.memory,
      clock,
      log,
      background,
    })
    return this.#inner.ensure()
  }

  /** Where the browser says that it listens. Reads a file and asks nobody. */
  async #find(): Promise<{ folder: string; port: number; path: string }> {
    const { userDataDir, homeFolder, name } = this.#options
    const folders = userDataDir === undefined ? usualFolders.map((each) => join(homeFolder, each)) : [userDataDir]
    for (const folder of folders) {
      const [port = "", path = ""] = (await readOrNothing(join(folder, "DevToolsActivePort"))).split("\n")
      if (/^\d{1,5}$/.test(port.trim()) && path.startsWith("/devtools/browser/"))
        return { folder, port: Number(port), path: path.trim() }
    }
    throw new AppError("browser-not-running", `No running browser of profile ${name} lets itself be debugged`, {
      hint: "In Chrome open chrome://inspect/#remote-debugging and allow remote debugging for this browser; browser.profiles.<name>.userDataDir names its data folder where it is not the usual one",
    })
  }

  async stop(): Promise<boolean> {
    return (await this.#inner?.stop()) ?? false
  }

  async retire(reason: AppError): Promise<void> {
    this.#retired = reason
    await this.#inner?.retire(reason)
  }

  state(): ProfileState {
    const nothing = {
      pid: null,
      cdpPort: null,
      cdpUrl: null,
      chosenBrowser: null,
      executablePath: null,
      lastError: null,
    }
    const state = this.#inner?.state() ?? { ...nothing, running: false, headless: false, noSandbox: false }
    return { ...state, userDataDir: this.#options.userDataDir ?? null }
  }

  /** Never connects: that would put a question before the person. */
  async probe(): Promise<ProfileReach> {
    if (this.live) return { http: false, ready: true, tabCount: this.live.tabs.list.length, reason: null }
    try {
      await this.#find()
      return { http: false, ready: true, tabCount: 0, reason: null }
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return { http: false, ready: false, tabCount: 0, reason: error.message }
    }
  }

  async reset(): Promise<never> {
    throw new AppError("profile-unsupported", `The data of profile ${this.name} is the person's own`, {
      hint: "Only a managed profile, whose browser the gateway starts itself, can be reset",
    })
  }
}

async function readOrNothing(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8")
  } catch {
    // No such browser, or one that listens nowhere.
    return ""
  }
}
