// The tables, as kysely sees them. Who writes what stands in docs/architecture.md.
// Times are milliseconds since the epoch; JSON columns are text.
import type { Generated, Insertable, Selectable } from "kysely"

export interface InboxTable {
  id: Generated<number>
  /** `hook`, `chatapp`, `cli`, ... */
  source: string
  account: string
  delivery_id: string
  received_at: number
  payload: string
  /** What the sender was answered, so that a repeat gets the same answer. */
  answer: string | null
}

export type JobState = "ready" | "running" | "done" | "dead" | "cancelled"

export interface JobTable {
  id: Generated<number>
  run_id: string
  inbox_id: number | null
  kind: string
  lane_key: string
  payload: string
  state: JobState
  /** 1 for the oldest open job of its lane: the only one that may run. */
  head: number
  attempts: number
  run_at: number
  /** Boot id of the process that runs it. */
  owner: string | null
  created_at: number
  started_at: number | null
  finished_at: number | null
  error: string | null
  /** What came of it, for `svc runs`. */
  result: string | null
  /** Jobs of one lane with the same key that wait together may become one. */
  join_key: string | null
  /** 1: runs even while as many jobs run as may. */
  urgent: number
  /** The message that it came from. */
  ref: string | null
  /** The least trusted source of what its turn was shown; null until its prompt is made. */
  origin: string | null
  /** 0 once words are in it that nobody with standing has written. */
  trusted: number | null
  /** Who waits for it: see `workClasses`. */
  class: number
  /** How long `run_at` was to be away when it was set; null: it is a time that was asked for. */
  delay_ms: number | null
  /** While it is held for more jobs of its key: it runs then at the latest. */
  hold_until: number | null
  /** The job whose turn has taken it in: it does not run by itself, and ends with that one. */
  taken_by: number | null
  /** Whose message it is, see `NewJob`; null where that is told by the payload alone. */
  sender: string | null
}

export interface StepTable {
  job_id: number
  n: number
  /** `prompt`, `assistant`, `tool-start`, `tool-result`. */
  kind: string
  data: string
  created_at: number
}

/** `dropped`: decoration that did not work and that nobody misses. */
export type OutboxState = "new" | "sending" | "sent" | "uncertain" | "dead" | "dropped"

export interface OutboxTable {
  id: Generated<number>
  /** Order is kept inside a lane: channel, account and chat. */
  lane_key: string
  job_id: number | null
  channel: string
  account: string
  chat_id: string
  route: string
  kind: string
  payload: string
  state: OutboxState
  head: number
  attempts: number
  /** 1 after the one repeat that an uncertain send is allowed. */
  resent: number
  run_at: number
  owner: string | null
  created_at: number
  sent_at: number | null
  /** The platform's id of the sent message. */
  remote_id: string | null
  error: string | null
  /** Those of the turn that wrote it; null where nobody knows. */
  origin: string | null
  trusted: number | null
  /** As for jobs. */
  delay_ms: number | null
  /** Time that has really passed since its first try, as its processes have measured it. */
  waited_ms: number
  /** The question that asks whether it has arrived; the question itself has the same. */
  doubt: string | null
}

export interface EventTable {
  id: Generated<number>
  session_key: string
  text: string
  origin: string
  trusted: number
  created_at: number
  /** Job of the turn that showed it, once a model has answered. */
  consumed_by: number | null
  /** The text in pieces, JSON; null where all of it is of one kind. */
  segments: string | null
  /** Job of the turn whose prompt shows it now; no model has answered yet. */
  held_by: number | null
  /** Up to which character that prompt shows it; null: to its end, 0: it was taken out of the prompt again. */
  held_to: number | null
  /** How many of its characters answered prompts have shown, while some are left. */
  shown_to: number
  /** How many prompts came to nothing because of it. */
  refusals: number
  /** No further turn shows it. */
  set_aside_at: number | null
  /** 1: a heartbeat that shows it may be given the session's history, though others wrote it. */
  share_history: number
}

export interface SessionTable {
  key: string
  agent_id: string
  /** Changes at a reset; messages belong to it. */
  session_id: string
  created_at: number
  updated_at: number
  last_route: string | null
  /** Overrides and flags, JSON. */
  settings: string
}

/** Conversations that are over: a session id that its key has left. Written by triggers. */
export interface EndedSessionTable {
  session_id: string
  /** 1: of a webhook's own session. */
  machine: number
  ended_at: number
}

export interface MessageTable {
  id: Generated<number>
  session_id: string
  job_id: number | null
  message: string
  /** Rough size, for trimming without parsing. */
  tokens: number
  created_at: number
  /** Least trusted source of what it says, or was written under. */
  origin: string
  /** 0: it holds words of others, or was said after such words had been read. */
  trusted: number
  /** Of a summary: the newest message that it stands for. Those stay, and are shown no more. */
  covers_to: number | null
}

/** A session id: one conversation under a key, from its beginning to a reset. Written by triggers on `session`. */
export interface ConversationTable {
  session_id: string
  /** Empty where it is not known any more. */
  key: string
  agent_id: string
  created_at: number
  /** Null while it goes on. */
  ended_at: number | null
  /** A person wants it gone: its messages are removed. */
  deleted_at: number | null
}

/** A message that a full queue has dropped, until a turn has told of it. */
export interface QueueDropTable {
  id: Generated<number>
  lane_key: string
  /** Of whom, and where: the one whose next turn tells of it. */
  sender: string
  /** What is kept of it; empty: only that there was one. */
  line: string
  /** 0: the line holds words of others. */
  trusted: number
  created_at: number
  /** Job of the turn that has told of it. */
  shown_by: number | null
}

/** Sites that the owner has named in a session, or that the agent opened before it had read words of others. */
export interface SessionSiteTable {
  session_id: string
  site: string
  created_at: number
}

export type ApprovalState = "asked" | "allowed" | "denied" | "expired" | "used"

/** A question to the owner about exactly one action, and its answer. */
export interface ApprovalTable {
  id: string
  run_id: string
  session_key: string
  agent_id: string
  /** Least trusted source of what the turn that asked acted on. */
  origin: string
  tool: string
  /** Canonical JSON: what is allowed, and nothing else. */
  action: string
  /** Of tool and action. */
  digest: string
  /** The action in our words, for the owner. */
  text: string
  /** How the turn begins that is told the answer, JSON. */
  resume: string
  state: ApprovalState
  asked_at: number
  expires_at: number
  decided_by: string | null
  decided_at: number | null
  used_at: number | null
  /** The call that used it: the same call made again after a crash is still allowed. */
  used_by: string | null
}

export interface OffsetTable {
  channel: string
  account: string
  bot_id: string
  next_update: number
}

export interface PairingRequestTable {
  channel: string
  account: string
  sender_id: string
  code: string
  label: string
  chat_id: string
  created_at: number
  last_seen_at: number
}

export interface PairingAllowTable {
  channel: string
  account: string
  sender_id: string
  label: string
  approved_at: number
  /** Who let them in, in words for the operator; empty where that is not known. */
  approved_by: Generated<string>
}

/** What somebody has written who waits to be let in. */
export interface PairingMessageTable {
  channel: string
  account: string
  sender_id: string
  /** The update, as the platform has told it. */
  body: string
  kept_at: number
}

export type HookVerdict = "accepted" | "skipped" | "duplicate" | "refused" | "failed"

/** Requests to the webhook endpoints, as they came and what was made of them. */
export interface HookDeliveryTable {
  id: Generated<number>
  received_at: number
  /** Id of the mapping, `wake` or `agent` for the built-in endpoints, empty when nothing matched. */
  mapping: string
  /** Below the base path. */
  path: string
  method: string
  /** JSON, without anything secret. */
  headers: string
  query: string
  body: Uint8Array
  verdict: HookVerdict
  status: number
  /** Run ids, JSON. */
  runs: string
  answer: string | null
  error: string | null
  /** Delivery that this one repeats at a person's wish. */
  replay_of: number | null
  took_us: number
  /** Who sent it, of those that proved nothing: one row stands for all of an address and hour. */
  address: string | null
  /** How many requests the row stands for. */
  times: Generated<number>
}

/** One row; triggers keep it. */
export interface HookKeptTable {
  id: number
  /** What all kept deliveries take, about. */
  bytes: number
}

export interface MetaTable {
  key: string
  value: string
}

export interface ChatButtonTable {
  /** What the platform is given instead of the value. */
  key: string
  value: string
  created_at: number
  /** Those of the turn that made the value; null where nobody knows. */
  origin: string | null
  trusted: number | null
  /** The run of that turn. */
  run_id: string | null
}

/** Groups and channels, by what the platform says and by who was heard there. */
export interface ChatMembershipTable {
  channel: string
  account: string
  chat_id: string
  is_member: number
  changed_at: number
}

export interface ToolSendTable {
  run_id: string
  /** Of what was to be sent. */
  digest: string
  /** Ids of the outbox rows, JSON. */
  deliveries: string
  created_at: number
}

/** One call of a model that its provider has answered. Null is unknown, never zero. */
export interface UsageTable {
  id: Generated<number>
  /** When the provider had answered. */
  created_at: number
  session_key: string | null
  run_id: string | null
  agent_id: string
  /** `chat`, `hook`, `heartbeat`, `picture`, `test`. */
  purpose: string
  origin: string | null
  /** `provider/model` */
  model: string
  input_tokens: number | null
  output_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
  reasoning_tokens: number | null
  cost_nano_dollars: number | null
  ms: number | null
}

/** What a chat platform sent that could not be read. */
export interface UnreadableUpdateTable {
  id: Generated<number>
  channel: string
  account: string
  bot_id: string
  /** Null where it had none that could be one. */
  update_id: number | null
  received_at: number
  reason: string
  /** As it came, JSON; cut when it was very long. */
  body: string
}

/** A token with scopes. Its secret is nowhere, only the hash. */
export interface AccessTokenTable {
  id: string
  name: string
  /** SHA-256 of the secret part, hexadecimal. */
  hash: string
  /** JSON. */
  scopes: string
  created_at: number
  expires_at: number | null
  last_used_at: number | null
}

/** A sign-in of the page. Its secret is in a cookie and nowhere else, only the hash is here. */
export interface PageSessionTable {
  id: string
  /** SHA-256 of the secret part, hexadecimal. */
  hash: string
  /** The browser, as people know it. */
  name: string
  /** JSON. */
  scopes: string
  /** Id of the token that it was made with, or the fingerprint of the gateway's own: it ends with that one. */
  issuer: string
  created_at: number
  expires_at: number
  last_used_at: number
}

/** Who did what through which door. Never contents, never secrets; unknown is empty. */
export interface AuditTable {
  id: Generated<number>
  /** Of a counted row: the beginning of its hour. */
  at: number
  last_at: number
  door: string
  who_kind: string
  who_id: string
  who_name: string
  action: string
  target: string
  outcome: string
  count: number
  /** 1: the same thing by the same caller within an hour is one row. */
  counted: 0 | 1
}

/** A tool of another server as it was accepted. */
export interface McpToolTable {
  server: string
  name: string
  /** Digest of how the server is reached. */
  source: string
  hash: string
  /** JSON. */
  definition: string
  accepted_at: number
}

/** A machine that offers its browser, by its key. */
export interface NodeTable {
  id: string
  key: string
  name: string
  platform: string
  version: string
  state: "asked" | "approved" | "revoked"
  /** While it is asked about. */
  code: string | null
  /** Where it came from the last time. */
  address: string
  asked_at: number
  /** When an owner was last told in the chat that it asks. */
  told_at: number | null
  decided_at: number | null
  decided_by: string | null
  last_seen_at: number | null
}

export interface Database {
  inbox: InboxTable
  job: JobTable
  step: StepTable
  outbox: OutboxTable
  event: EventTable
  session: SessionTable
  ended_session: EndedSessionTable
  message: MessageTable
  queue_drop: QueueDropTable
  conversation: ConversationTable
  poll_offset: OffsetTable
  pairing_request: PairingRequestTable
  pairing_allow: PairingAllowTable
  pairing_message: PairingMessageTable
  meta: MetaTable
  hook_delivery: HookDeliveryTable
  hook_kept: HookKeptTable
  usage: UsageTable
  unreadable_update: UnreadableUpdateTable
  session_site: SessionSiteTable
  approval: ApprovalTable
  mcp_tool: McpToolTable
  node: NodeTable
}

export type JobRow = Selectable<JobTable>
export type OutboxRow = Selectable<OutboxTable>
export type EventRow = Selectable<EventTable>
export type SessionRow = Selectable<SessionTable>
export type AuditRow = Selectable<AuditTable>
export type HookDeliveryRow = Selectable<HookDeliveryTable>
export type ApprovalRow = Selectable<ApprovalTable>
export type NodeRow = Selectable<NodeTable>
export type NewOutboxRow = Insertable<OutboxTable>
