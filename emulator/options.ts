// What an emulator can be started with.
import type { TimeSource } from "./clock.ts"
import type { FloodLimits } from "./flood.ts"

export interface EmulatorOptions {
  /** Address to listen on. Default 127.0.0.1. */
  host?: "127.0.0.1" | "::1"
  /** 0, the default, takes a free port. */
  port?: number
  /** Token of the first bot; made up if missing. */
  token?: string
  /** Secret of the control API and the chat page; made up if missing. */
  controlToken?: string
  clock?: TimeSource
  /** Flood limits; `false`, the default, lets everything through. Missing rates take their defaults. */
  limits?: Partial<FloodLimits> | false
  /** Behave as a Bot API server of one's own: http webhooks on any port, files by path, no download limit. */
  localMode?: boolean
  /** `topics` allows drafts only inside topics of private chats (Bot API 9.3); `all`, the default, in any private chat. */
  draftMode?: "all" | "topics"
  /** Seed of ids and of random pauses. Default: random. */
  seed?: number
}
