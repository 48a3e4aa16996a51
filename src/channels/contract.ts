// What a chat platform is to the gateway. No runtime.
import type { Tool, ToolPlace } from "../agent/tool.ts"
import type { Asker, TurnInput, TurnObserver, TurnPreparation, TurnView } from "../agent/turn-input.ts"
import type { Route } from "../sessions/route.ts"
import type { ChannelSender } from "../delivery/contract.ts"
import type { JobHandler } from "../store/index.ts"

export interface ChannelAccountStatus {
  channel: string
  account: string
  /** As the configuration calls it. */
  name?: string
  enabled: boolean
  configured: boolean
  /** `stopped` after a permanent failure, with the reason in `error`. */
  state: "off" | "starting" | "running" | "waiting" | "stopped"
  mode: "polling" | "webhook" | "page"
  tokenSource: "config" | "tokenFile" | "env" | "none"
  botName?: string
  startedAt?: number
  lastInboundAt?: number
  lastOutboundAt?: number
  /** When the platform last answered a poll. */
  lastPollAt?: number
  error?: string
  /** What the platform said of the webhook when it was last asked. */
  webhook?: { url: string; pending: number; lastErrorAt?: number; lastError?: string }
  /** Ids that listed @names stand for. */
  pins: { name: string; id: string; pinnedAt: number }[]
  counters: Record<string, number>
  /** Messages of which nobody knows whether they have arrived. */
  uncertain?: number
  probe?: ChannelProbe
}

/** The account as the platform sees it now. */
export interface ChannelProbe {
  ok: boolean
  elapsedMs: number
  error?: string
  bot?: { id: string; name?: string; canJoinGroups: boolean; canReadAllGroupMessages: boolean }
  webhook?: { url: string; pending: number; lastErrorAt?: number; lastError?: string }
  /** The groups in which the bot is to answer without being mentioned: whether it is there. */
  groups?: { id: string; ok: boolean; status: string }[]
  warnings: ChannelWarning[]
}

export interface ChannelWarning {
  problem: string
  fix: string
}

/** Would this sender be heard here? */
export interface AccessQuestion {
  account?: string
  chat: string
  /** Left out: the chat itself speaks. */
  user?: string
  username?: string
  topic?: string
  /** The chat is a channel, and the message a post of it. */
  isChannelPost?: boolean
}

export interface AccessExplanation {
  channel: string
  account: string
  chat: string
  user: string
  topic?: string
  outcome: "accept" | "pair" | "drop"
  /** Name of the rule that decided. */
  rule: string
  /** The same as a sentence. */
  reason: string
  /** Key of the configuration that decided, or that would have to change. */
  key?: string
  origin?: string
  trusted?: boolean
  /** In groups: whether the bot has to be called, and what says so. */
  mention?: { isRequired: boolean; by: string }
  /** The rules that were asked, in order. */
  steps: { rule: string; outcome: "passed" | "accept" | "pair" | "drop" }[]
  notes: string[]
}

/** What chat commands ask of a channel. */
export interface ChannelCommands {
  /** Entries that the operator has added to the menu. */
  custom(account: string): readonly { command: string; description: string }[]
  canShowButtons(route: Route): boolean
  mayWriteConfig(account: string): boolean
  /** Megabytes that one file of a message may have, and the key that says so. */
  maxFile(account: string): { megabytes: number; key: string }
  /** Settings of a session have changed, in the transaction that is under way or one that has been committed. */
  sessionChanged(): void
}

export interface Channel {
  name: string
  readonly commands: ChannelCommands
  sender: ChannelSender
  start(): Promise<void>
  /** The configuration has changed: starts and stops what that touches, and nothing else. */
  apply(): Promise<void>
  /** Stops taking in; what was taken in is already in the store. */
  stop(): Promise<void>
  /** The next sender under this @name is pinned anew. The accounts in which somebody was pinned. */
  unpin(name: string, account?: string): Promise<string[]>
  status(options: { probe: boolean; signal: AbortSignal }): Promise<ChannelAccountStatus[]>
  /** Asks the platform whether each bot is still known to it; `status` tells what it said. Never rejects. */
  check(signal: AbortSignal): Promise<void>
  /** The chat that a name means, as the platform says now. Throws `target-invalid` for one that means nobody. */
  findTarget(route: Route, signal: AbortSignal): Promise<Route>
  /** Throws AppError for a question that makes no sense. */
  explain(question: AccessQuestion): AccessExplanation
  /** What a turn may do here by itself; empty where it can reach no chat. */
  tools(place: ToolPlace): readonly Tool[]
  /** Whether whoever has said this may still say it there, with no less standing than it was taken in with. */
  isStillHeard(route: Route, asker: Asker): boolean
  /** Who was taken off a list since it was last asked is shut out. Called before anything is sent. */
  noteLists?(): Promise<void>
  /** For a turn whose route is in this channel: typing while it runs. */
  observe(turn: TurnInput, runId: string, view: TurnView): TurnObserver
  /** Handlers of jobs of its own, by kind. */
  readonly jobs: Readonly<Record<string, JobHandler>>
  /** Its part in making the prompt of such a turn. */
  readonly preparation: TurnPreparation
}
