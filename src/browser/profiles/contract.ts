// What every kind of profile gives to the rest: a connection on demand, and its state.
import type { AppError } from "../../kernel/index.ts"
import type { CdpConnection, CdpSession } from "../cdp/index.ts"
import type { Downloads } from "../page/downloads.ts"
import type { Tabs } from "../page/tabs.ts"

/** A browser that is connected, with its tabs. Replaced as a whole when the browser comes back after a crash. */
export interface LiveBrowser {
  connection: CdpConnection
  tabs: Tabs
  downloads: Downloads
  /** Where requests are held up for the policy; the browser's own session unless it is given. */
  requests?: CdpSession
  /** Whether pages of the browser's own context reach the network through our proxy alone. */
  guarded: boolean
}

export interface ProfileState {
  /** Whether we are connected to the browser now. */
  running: boolean
  pid: number | null
  /** Null for a browser that is spoken to through a pipe. */
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

/** What a short look at the browser found. */
export interface ProfileReach {
  /** Its CDP address answers over HTTP. */
  http: boolean
  /** It can be used: we are connected, or would be at the next action. */
  ready: boolean
  tabCount: number
  /** Why it is not ready; null when it is, or when a browser of our own is not running. */
  reason: string | null
}

export interface BrowserProfile {
  readonly name: string
  /** `relay`: the person's own browser, in which only the attached tabs are there. */
  readonly kind: "managed" | "remote" | "relay"
  /** False for a browser that somebody else runs: it is connected to and left, never started and never ended. */
  readonly owned: boolean
  /** Whether the browser reads and writes the files of this machine; one elsewhere cannot take or give any. */
  readonly sharesFiles: boolean
  readonly color: string
  /** The running browser; undefined when there is none. Never starts one. */
  readonly live: LiveBrowser | undefined
  /** Takes up a browser that an earlier gateway left running. Never starts one. */
  adopt(): Promise<void>
  /** The running browser, started or attached to when there is none. Calls at the same time share one start. */
  ensure(signal?: AbortSignal): Promise<LiveBrowser>
  /** Ends a browser of our own, and leaves another's. False when nothing was running. */
  stop(): Promise<boolean>
  /** Stops for good: who still holds the profile gets `reason` from then on. */
  retire(reason: AppError): Promise<void>
  state(): ProfileState
  /** The last try to start the browser came to nothing. */
  readonly hasFailedToStart?: boolean
  /** Looks whether the browser is there, within the limits of the configuration. Starts nothing. */
  probe(signal?: AbortSignal): Promise<ProfileReach>
  /** Stops, and has `move` take the user data away before the next start. Throws `profile-unsupported`. */
  reset(
    move: (userDataFolder: string) => Promise<string | undefined>,
  ): Promise<{ from: string; to: string | undefined }>
}
