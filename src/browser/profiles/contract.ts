// What every kind of profile gives to the rest: a connection on demand, and its state.
import type { CdpConnection } from "../cdp/index.ts"
import type { Tabs } from "../page/tabs.ts"

/** A browser that is connected, with its tabs. Replaced as a whole when the browser comes back after a crash. */
export interface LiveBrowser {
  connection: CdpConnection
  tabs: Tabs
}

export interface ProfileState {
  running: boolean
  pid: number | null
  cdpPort: number | null
  /** Never with credentials. */
  cdpUrl: string | null
  chosenBrowser: string | null
  executablePath: string | null
  userDataDir: string | null
  headless: boolean
  noSandbox: boolean
  /** Why the browser is not running although it should be: what ended it. */
  lastError: string | null
}

export interface BrowserProfile {
  readonly name: string
  readonly kind: "managed" | "remote"
  readonly color: string
  /** The running browser; undefined when there is none. Never starts one. */
  readonly live: LiveBrowser | undefined
  /** Takes up a browser that an earlier gateway left running. Never starts one. */
  adopt(): Promise<void>
  /** The running browser, started or attached to when there is none. Calls at the same time share one start. */
  ensure(signal?: AbortSignal): Promise<LiveBrowser>
  /** False when nothing was running. */
  stop(): Promise<boolean>
  state(): ProfileState
}
