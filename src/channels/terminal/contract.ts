// Wire types of `svc agent`: what a terminal asks of the agent, and what it is told while the answer is written. No runtime.

/** Channel of routes and outbox rows; nothing of it leaves this machine. */
export const terminalChannel = "terminal"

export interface TerminalMessage {
  /** The sender's own id of the message: the same one is taken in once, however often it comes. */
  id: string
  /** What the agent is told, or a chat command. */
  message: string
  /** A name of the terminal's own, `main`, or a whole key; unset: the main session. */
  session?: string
  /** Unset: the default agent. */
  agent?: string
  /** Words of others that the message is about: the model is shown them inside a boundary, and they taint the turn. */
  context?: string
  /** Absolute paths below the media folder. */
  pictures?: string[]
}

export interface TerminalAccepted {
  runId: string
  session: string
  /** It had been taken in before, under the same id. */
  isRepeat?: true
}

export interface TerminalFollow {
  /** The stream that `after` counts in; unset: none yet. */
  stream?: string
  /** Characters of it that are known. */
  after: number
  waitSeconds: number
}

/** `pause`: everything is paused. `turn`: another run of its conversation. */
export type TerminalWait = "pause" | "turn"

export type TerminalRunState = "waiting" | "running" | "done" | "failed" | "stopped"

export interface TerminalProgress {
  runId: string
  session: string
  state: TerminalRunState
  /** Changes when what was shown is void: the step is asked anew, or the gateway has started anew. */
  stream: string
  /** What has been written since `after`. */
  text: string
  /** How much of the stream is known with it. */
  after: number
  /** What the agent has said for good, in order. */
  messages: TerminalSaid[]
  /** While it is waiting, and where it is known. */
  waitsFor?: TerminalWait
  /** Why there is no answer. */
  error?: string
}

export interface TerminalSaid {
  /** In the outbox. */
  id: number
  text: string
  /** A file on this machine. */
  file?: string
}
