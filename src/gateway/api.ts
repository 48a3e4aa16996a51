// Wire types of `/api/*` beyond the status: what the lists and the actions answer, and what the gateway asks of
// the rest of the product to answer them. No runtime.
import type { HeartbeatState } from "../agent/index.ts"
import type { RunningBox, SandboxExplanation } from "../sandbox/index.ts"
import type { z } from "zod"
import type { ApprovalDetail, ApprovalSummary } from "../approvals/contract.ts"
import type { BoundActions } from "./bounds.ts"
import type { Json } from "../kernel/index.ts"
import type { UsageGroup, UsageSummary } from "../budget/contract.ts"
import type { Note, NoteEntry, NoteHit, NoteSummary, WrittenNote } from "../memory/index.ts"
import type { ModelCheck, ModelRow } from "../models/index.ts"
import type {
  ExportFormat,
  SearchHit,
  SearchPage,
  SearchQuery,
  SessionDetail,
  SessionQuery,
  SessionSummary,
  TranscriptPage,
  TranscriptQuery,
} from "../sessions/index.ts"
import type { ApprovalState, JobState, OutboxState, RunDelivery } from "../store/index.ts"
import type { BrowserActions } from "./browser-actions.ts"
import type { GatewayStatus } from "./contract.ts"
import type { HandActions } from "./hand-actions.ts"
import type { backupEndpoints } from "./endpoints/backups.ts"
import type { chatEndpoints } from "./endpoints/chat.ts"
import type { configEndpoints } from "./endpoints/config.ts"
import type { hookEndpoints } from "./endpoints/hooks.ts"
import type { nodeSummary } from "./endpoints/nodes.ts"
import type { peopleEndpoints } from "./endpoints/people.ts"
import type { skillEndpoints } from "./endpoints/skills.ts"

export interface Page<Item> {
  items: Item[]
  /** Pass it as `before` for the next, older page; null when there is none. A page may be empty and still have one. */
  next: number | null
}

export interface RunSummary {
  /** Cursor of lists. */
  id: number
  runId: string
  kind: string
  session: string
  state: JobState
  attempts: number
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  error: string | null
  /** What it is about, in words; their beginning. */
  asked: string
  /** Beginning of the result. */
  result: string | null
}

export interface RunDetail extends RunSummary {
  /** What has become of its messages, as the outbox has it now. */
  delivery: RunDelivery
  input: Json
  steps: { n: number; kind: string; createdAt: number; data: Json }[]
}

export interface DeliverySummary {
  id: number
  runId: string | null
  channel: string
  account: string
  chatId: string
  kind: string
  state: OutboxState
  attempts: number
  createdAt: number
  sentAt: number | null
  /** The platform's id of the sent message. */
  remoteId: string | null
  error: string | null
  /** What it says, in words; their beginning. */
  preview: string
}

export interface DeliveryDetail extends DeliverySummary {
  route: Json
  payload: Json
}

export interface EventSummary {
  id: number
  session: string
  origin: string
  trusted: boolean
  createdAt: number
  /** `shown`: a model has answered it; `set-aside`: no model took it, and no turn shows it any more. */
  state: "waiting" | "shown" | "set-aside"
  /** How many prompts came to nothing because of it. */
  refusals: number
  /** Run whose turn showed it; null while it waits. */
  shownByRun: string | null
  text: string
}

/** An update of a chat platform that could not be read. */
export interface UpdateSummary {
  id: number
  channel: string
  account: string
  /** Null where it had none. */
  updateId: number | null
  receivedAt: number
  reason: string
}

export interface UpdateDetail extends UpdateSummary {
  botId: string
  /** As it came; text where it is no JSON any more because it was cut. */
  body: unknown
}

/** How the heartbeats of an agent stand. Times in milliseconds since the epoch. */
export type HeartbeatItem = HeartbeatState

export interface HeartbeatRun {
  runId: string
  agent: string
  /** What came of it; absent while it has not ended. */
  outcome?: string
}

export interface PairingList {
  requests: {
    senderId: string
    label: string
    account: string
    code: string
    createdAt: number
    expiresAt: number
    /** With how many others they would share one conversation with the agent. */
    sharesWith: number
  }[]
  /** `isOwner`: listed by id in `allowFrom` as well. `approvedBy` is empty where it is not known. */
  allowed: {
    senderId: string
    label: string
    account: string
    approvedAt: number
    approvedBy: string
    isOwner: boolean
  }[]
  /** Ids of the people who share one conversation with the agent with somebody else; empty where each has their own. */
  shared: string[]
}

export interface PairingApproval {
  channel: string
  code: string
  account?: string
  /** Whether the sender is told in the chat; who is let in is, unless it is false. */
  notify?: boolean
}

export interface PairingGrant extends PairingApproval {
  /** Lists the sender among the owners too, in the configuration. */
  owner?: boolean
  /** Who lets them in, in words for the list. */
  by?: string
}

export interface PairingGranted {
  senderId: string
  label: string
  account: string
  isOwner: boolean
  /** What they wrote first is being answered. */
  isAnswered: boolean
  /** With how many others they share one conversation with the agent now. */
  sharesWith: number
}

export interface PairingRevocation {
  channel: string
  senderId: string
  account?: string
}

export interface MessageToSend {
  /** A channel's name, or `last`: the one used last, else the only one. */
  channel: string
  target: string
  message: string
  /** One file: an http(s) address, or an absolute path below the media folder. */
  media?: string
  account?: string
  silent?: boolean
  /** Audio as a voice message. */
  asVoice?: boolean
  replyTo?: string
  threadId?: string
  /** Checks everything and sends nothing. */
  dryRun?: boolean
  /** How long the answer waits for what becomes of it; unset: it tells what was queued. */
  waitSeconds?: number
}

/** What is done to a message that is there. */
export type MessageAction = {
  channel: string
  target: string
  messageId: string
  account?: string
  /** Checks everything and does nothing. */
  dryRun?: boolean
  /** As for sending. */
  waitSeconds?: number
} & (
  | { action: "edit"; message: string }
  | { action: "delete" }
  /** An empty emoji takes the reaction away. */
  | { action: "react"; emoji: string }
)

/** What a person can do with deliveries of webhooks; the shapes are those of the webhooks' own contract. */
export interface HookDeliveryActions {
  list(query: PageQuery & { mapping?: string | undefined }): HookReply<"GET /api/hooks">
  read(id: number): HookReply<"GET /api/hooks/:id">
  /** The same key is the same wish. */
  replay(id: number, key: string | undefined): Promise<HookReply<"POST /api/hooks/:id/replay">>
  test(request: HookTest): Promise<HookReply<"POST /api/hooks/test">>
}

type PeopleReply<Name extends keyof typeof peopleEndpoints> = z.input<(typeof peopleEndpoints)[Name]["reply"]>

type HookReply<Name extends keyof typeof hookEndpoints> = z.input<(typeof hookEndpoints)[Name]["reply"]>

type ChatReply<Name extends keyof typeof chatEndpoints> = z.input<(typeof chatEndpoints)[Name]["reply"]>

/** The page's own chat; the shapes are those of its own contract. All throw `conflict` while it is switched off. */
export interface ChatActions {
  overview(limit: number): ChatReply<"GET /api/chat">
  /** Throws `not-found`, `bad-request`. */
  history(chat: string, page: PageQuery & { after?: number | undefined }): ChatReply<"GET /api/chat/messages">
  say(message: {
    id: string
    chat: string
    text: string
    files: { id: string; name: string }[]
    replyTo?: string
  }): Promise<ChatReply<"POST /api/chat/messages">>
  click(click: {
    id: string
    chat: string
    message: string
    row: number
    column: number
  }): Promise<ChatReply<"POST /api/chat/clicks">>
  maxFileBytes(): number
  keepFile(content: Uint8Array, claimed: string | undefined): Promise<{ id: string; mediaType: string; bytes: number }>
  readFile(message: number, index: number): { name: string; mediaType: string; isShown: boolean; content: Uint8Array }
}

/** What a person says to the agent from a terminal; the shapes are those of the terminals' own contract. */
export interface TerminalActions {
  accept(message: TerminalQuestion): Promise<object>
  follow(
    runId: string,
    wanted: { stream?: string; after: number; waitSeconds: number },
    signal: AbortSignal,
  ): Promise<object>
  stop(runId: string): Promise<object>
}

export interface TerminalQuestion {
  /** The sender's own id of the message: the same one is taken in once. */
  id: string
  message: string
  session?: string
  agent?: string
  /** Absolute paths below the media folder. */
  pictures?: string[]
}

/** Sessions by their keys, as people look at them. All but the lists throw `not-found`. */
export interface SessionActions {
  list(query: SessionQuery): { items: SessionSummary[]; next: number | null }
  read(key: string): SessionDetail
  transcript(key: string, query: TranscriptQuery): TranscriptPage
  search(query: SearchQuery): SearchPage
  /** A transcript as a file, in pieces. */
  export(key: string, wanted: { format: ExportFormat; conversation?: string }): Iterator<string>
  /** Adds the run that sums the conversation up. */
  compact(key: string, instructions: string | undefined): Promise<{ runId: string }>
  /** Throws `conflict` while a turn runs or waits. */
  remove(key: string): Promise<{ conversations: number }>
}

type ConfigReply<Name extends keyof typeof configEndpoints> = z.input<(typeof configEndpoints)[Name]["reply"]>
export type ConfigChanges = z.output<(typeof configEndpoints)["POST /api/config/check"]["body"]>["changes"]

type UpkeepEndpoints = typeof backupEndpoints & typeof skillEndpoints
type UpkeepReply<Name extends keyof UpkeepEndpoints> = z.input<UpkeepEndpoints[Name]["reply"]>

/** The configuration file as a form. Throws `bad-request`, `config-write-refused`, `config-invalid`, `conflict`. */
export interface ConfigActions {
  overview(): ConfigReply<"GET /api/config">
  /** `entry`: of a map, which is to be made. */
  fields(section: string, entry: string | undefined): ConfigReply<"GET /api/config/fields">
  check(changes: ConfigChanges): ConfigReply<"POST /api/config/check">
  save(changes: ConfigChanges, revision: string): ConfigReply<"POST /api/config/save">
}

export interface PageQuery {
  limit: number
  /** Ids below this only. */
  before?: number | undefined
}

export interface UsageQuestion {
  by: UsageGroup
  /** As a person writes them: `7d`, `12h`, `2026-11-01`, or an ISO moment. */
  since?: string
  until?: string
  limit: number
}

export interface HookTest {
  /** Below the hooks' base path. */
  path: string
  body: string
  headers?: Record<string, string>
  query?: Record<string, string>
  /** Shows what would be done and does nothing. */
  dryRun?: boolean
}

export interface ModelList {
  models: ModelRow[]
  /** The models that messages are answered by: the default one, then those that step in for it. */
  asked: string[]
}

export interface ModelTest {
  /** `provider/model` or an alias; unset: the first of those that are asked. */
  model?: string
  timeoutSeconds?: number
}

export interface AccessToExplain {
  channel: string
  account?: string
  chat: string
  user?: string
  username?: string
  topic?: string
  isChannelPost?: boolean
}

/** The agent is the default one where none is named. Throws `not-found` for one that there is not. */
export interface MemoryActions {
  search(question: MemorySearch): Promise<{ agentId: string; notes: NoteHit[]; messages: SearchHit[] }>
  list(agent?: string): Promise<{ agentId: string; notes: NoteSummary[] }>
  read(name: string, agent?: string): Note & { agentId: string }
  /** Throws `conflict` when the note is another by now. */
  save(note: Note, agent?: string): Promise<WrittenNote & { agentId: string }>
  add(entry: NoteEntry, agent?: string): Promise<WrittenNote & { agentId: string }>
}

export interface MemorySearch {
  text: string
  agent?: string
  session?: string
  scope: "all" | "notes" | "sessions"
  limit: number
}

/** What the gateway cannot do itself. Given by the composition; failures are AppErrors. */
export interface GatewayActions extends HandActions, BoundActions {
  status(): Promise<GatewayStatus>
  /** The failures that there are have been seen, and count no more. */
  dismissFailures(): Promise<void>
  usage(question: UsageQuestion): UsageSummary
  hooks: HookDeliveryActions
  terminal: TerminalActions
  chat: ChatActions
  sessions: SessionActions
  memory: MemoryActions
  listModels(): ModelList
  /** Asks the model one small question. What does not work is part of the answer, not an error. */
  testModel(test: ModelTest, signal: AbortSignal): Promise<ModelCheck>
  listHeartbeats(): { heartbeats: HeartbeatItem[] }
  /** One heartbeat, whatever speaks against it. Throws `not-found` for an agent that there is not. */
  runHeartbeat(wanted: { agent?: string; waitSeconds?: number }, signal: AbortSignal): Promise<HeartbeatRun>
  /** Stops a turn that runs, or takes it out of its queue. */
  browser: BrowserActions
  stopRun(run: { runId: string; laneKey: string }): Promise<void>
  runAgain(wish: { runId: string; step?: number | undefined; key?: string | undefined }): Promise<{ runId: string }>
  /** Begins a clean stop; called after the request was answered. */
  requestStop(): void
  listPairing(query: { channel: string; account?: string }): Promise<PairingList>
  approvePairing(grant: PairingGrant): Promise<PairingGranted>
  /** The request of this code or sender is closed without letting anybody in. */
  denyPairing(denial: PairingApproval): Promise<{ senderId: string; label: string; account: string }>
  /** `removed` is false when the sender was not approved; `listedIn` are keys that let them in all the same. */
  revokePairing(revocation: PairingRevocation): Promise<{ removed: boolean; listedIn: string[] }>
  /** The next sender under the @name is the one that it means. */
  listPeople(): Promise<PeopleReply<"GET /api/people">>
  /** Whether a sender would be heard, in the channel's own words. */
  explainAccess(question: AccessToExplain): PeopleReply<"GET /api/channels/:channel/explain">
  unpinName(pin: { channel: string; name: string; account?: string }): Promise<{ accounts: string[] }>
  listChannels(options: { probe: boolean; signal: AbortSignal }): Promise<unknown[]>
  approvals: {
    /** `before`: only those that were asked before that time. */
    list(query: { state?: ApprovalState; limit: number; before?: number }): {
      approvals: ApprovalSummary[]
      next: number | null
    }
    /** Throws `not-found`, `conflict`. */
    read(id: string): ApprovalDetail
    /** Throws `not-found`, and `conflict` when it was answered before or the time is over. */
    decide(id: string, decision: "allow" | "deny"): Promise<{ message: string; approval: ApprovalDetail }>
  }
  config: ConfigActions
  backups: {
    /** The newest first. */
    list(limit: number, signal: AbortSignal): Promise<UpkeepReply<"GET /api/backups">>
    /** Throws `conflict` while one is being made. */
    begin(): void
  }
  skills: {
    list(): UpkeepReply<"GET /api/skills">
    /** Throws `not-found`. */
    read(agent: string, name: string): UpkeepReply<"GET /api/skills/:name">
  }
  sandbox: {
    list(): RunningBox[]
    /** Tries the backend now. Without an agent, of the main one. */
    explain(agent?: string): Promise<SandboxExplanation>
    /** Ends one by its id or the beginning of it, or `all`. Throws `not-found`. */
    stop(target: string): Promise<RunningBox[]>
  }
  /** Other machines. The shapes are those of their own contract. */
  nodes: {
    list(): z.output<typeof nodeSummary>[]
    /** By code, name or id; throws `node-not-found`, `node-ambiguous`. */
    approve(node: string): Promise<z.output<typeof nodeSummary>>
    revoke(node: string): Promise<z.output<typeof nodeSummary>>
    /** Throws `bad-request` or `conflict` for a name that cannot be. */
    rename(node: string, name: string): Promise<z.output<typeof nodeSummary>>
  }
  /** Servers of other programs whose tools the agent uses. The shapes are those of their own contract. */
  mcpServers: {
    list(): object[]
    /** Opens the server. Throws `not-found`, `mcp-unavailable`. */
    inspect(name: string, signal: AbortSignal): Promise<object>
    accept(name: string, signal: AbortSignal): Promise<object>
  }
  /** What was queued (delivery ids), or with `dryRun` what would be. */
  sendMessage(message: MessageToSend, signal: AbortSignal): Promise<QueuedMessage>
  changeMessage(action: MessageAction, signal: AbortSignal): Promise<QueuedMessage>
}

export interface QueuedMessage {
  /** Ids in the outbox. */
  deliveries: number[]
  route: unknown
  /** What has become of them when the answer was given; absent from a dry run. */
  delivery?: RunDelivery
}
