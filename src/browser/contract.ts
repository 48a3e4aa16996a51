// Wire types of the control service: what its answers look like. Errors have the one error body of all surfaces.

export interface ProfileStatus {
  enabled: boolean
  profile: string
  running: boolean
  cdpReady: boolean
  cdpHttp: boolean
  pid: number | null
  cdpPort: number | null
  cdpUrl: string | null
  chosenBrowser: string | null
  detectedBrowser: string | null
  detectedExecutablePath: string | null
  detectError: string | null
  userDataDir: string | null
  color: string
  headless: boolean
  noSandbox: boolean
  executablePath: string | null
  attachOnly: boolean
  /** What ended the browser, or kept it from starting, the last time. */
  lastError: string | null
  /** What tabs pretend to be until it is changed. */
  overrides: TabOverrides[]
}

export interface TabOverrides {
  targetId: string
  viewport?: { width: number; height: number }
  offline?: boolean
  /** Names only: values may be secrets. */
  headers?: string[]
  geolocation?: { latitude: number; longitude: number; accuracy: number }
  colorScheme?: "dark" | "light" | "no-preference"
  timezoneId?: string
  locale?: string
}

export interface TabInfo {
  targetId: string
  title: string
  url: string
  type: "page"
}

export interface ProfileInfo {
  name: string
  cdpPort: number | null
  cdpUrl: string | null
  color: string
  running: boolean
  tabCount: number
  isDefault: boolean
  isRemote: boolean
}

export interface DialogInfo {
  type: "alert" | "confirm" | "prompt" | "beforeunload"
  message: string
}

export interface PageReply {
  ok: true
  targetId: string
  url: string
  title: string
}

export interface ActReply extends PageReply, FreshSnapshot {
  /** A question that the action made the page ask; it waits for an answer. */
  dialog?: DialogInfo
  /** Of `evaluate`: what the code gave. */
  result?: unknown
}

export interface NavigateReply extends PageReply, FreshSnapshot {
  /** False when the page was there but went on loading past the time limit. */
  loaded: boolean
  /** True when the address gave a file; the tab stays where it was. */
  download: boolean
}

/** What the page shows now, as text: in the answer of actions that were asked for it. */
export interface FreshSnapshot {
  snapshot?: string
  /** True when parts were left out; the text says which. */
  truncated?: boolean
}

export interface SnapshotReply extends PageReply {
  format: "ai"
  snapshot: string
  refs: Record<string, { role: string; name?: string; nth?: number }>
  stats: { lines: number; chars: number; refs: number; interactive: number }
  truncated: boolean
  labels?: true
  labelsCount?: number
  labelsSkipped?: number
  /** Absolute path of the picture with labels. */
  imagePath?: string
  imageType?: "png" | "jpeg"
}

export interface AriaReply extends PageReply {
  format: "aria"
  nodes: {
    ref: string
    role: string
    name: string
    value?: string
    description?: string
    backendDOMNodeId?: number
    depth: number
  }[]
  truncated: boolean
}

export interface ScreenshotReply extends PageReply {
  /** Absolute path of the picture. */
  path: string
  type: "png" | "jpeg"
}
