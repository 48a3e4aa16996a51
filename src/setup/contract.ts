// What the command line gives to a set-up, and what it gets back. No runtime.

export interface Conversation {
  say(line: string): void
  /** One line, without the spaces round it. `hidden`: what is typed does not appear. */
  ask(question: string, options?: { hidden?: boolean }): Promise<string>
}

/** Answers that were given as options: their questions are not asked. */
export interface SetupAnswers {
  /** `provider/model`, or `offline`. */
  model?: string
  modelKey?: string
  /** Address of a server of one's own. */
  modelUrl?: string
  region?: string
  project?: string
  /** The token, or `none` for a gateway without a chat. */
  botToken?: string
  apiRoot?: string
  /** `yes`, `no` or the path of the program. */
  browser?: string
  /** Chromium without its own sandbox, which root must agree to. */
  noSandbox?: boolean
  /** A user id, `first` for the first who writes, or `none`. */
  owner?: string
}

/** What a running gateway does for a set-up. */
export interface GatewayLink {
  /** `createdAt`: when they wrote first, in milliseconds since 1970. */
  listRequests(): Promise<{ code: string; senderId: string; label?: string; account?: string; createdAt: number }[]>
  approve(request: { code: string; account?: string }): Promise<void>
}

export type StepName = "model" | "bot" | "browser" | "owner"

export interface SetupReport {
  /** In words, as they stand now. */
  settings: Partial<Record<StepName, string>>
  /** Which of them this run has set. */
  changed: StepName[]
  /** Whether all of it was settled before this run. */
  wasComplete: boolean
  stateFolder: string
  configPath: string
  envPath: string
}
