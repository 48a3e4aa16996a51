// What a chat platform is to the gateway. No runtime.
import type { Tool } from "../agent/tool.ts"
import type { TurnInput, TurnObserver, TurnPreparation } from "../agent/turn-input.ts"
import type { ChannelSender } from "../delivery/contract.ts"

export interface ChannelAccountStatus {
  channel: string
  account: string
  enabled: boolean
  configured: boolean
  /** `stopped` after a permanent failure, with the reason in `error`. */
  state: "off" | "starting" | "running" | "waiting" | "stopped"
  mode: "polling" | "webhook"
  tokenSource: "config" | "tokenFile" | "env" | "none"
  botName?: string
  lastInboundAt?: number
  lastOutboundAt?: number
  error?: string
  counters: Record<string, number>
  probe?: { ok: boolean; elapsedMs: number; error?: string; botName?: string; webhookUrl?: string }
}

export interface Channel {
  name: string
  sender: ChannelSender
  start(): Promise<void>
  /** Stops taking in; what was taken in is already in the store. */
  stop(): Promise<void>
  status(options: { probe: boolean; signal: AbortSignal }): Promise<ChannelAccountStatus[]>
  /** What the agent may do here by itself; empty while nothing is configured. */
  tools(): readonly Tool[]
  /** For a turn whose route is in this channel: typing while it runs. */
  observe(turn: TurnInput, runId: string): TurnObserver
  /** Its part in making the prompt of such a turn. */
  readonly preparation: TurnPreparation
}
