// Wire types of sessions as people look at them. No runtime.
import type { ModelMessage } from "../../models/contract.ts"
import type { QueueChoice } from "../queue-choice.ts"

export interface SessionSummary {
  key: string
  agentId: string
  /** Of the conversation that goes on. */
  sessionId: string
  kind: "main" | "dm" | "guest" | "group" | "thread" | "hook" | "other"
  createdAt: number
  updatedAt: number
  /** Of that conversation, and about how many tokens they are. */
  messages: number
  tokens: number
  /** Where it was last heard from. */
  lastRoute: { channel: string; account: string; chatId: string; threadId?: string } | null
}

export interface SessionDetail extends SessionSummary {
  settings: { model?: string; thinking?: string; reasoning?: string; activation?: string; queue?: QueueChoice }
  /** The one that goes on first, then those that are over, newest first. */
  conversations: ConversationSummary[]
}

export interface ConversationSummary {
  sessionId: string
  createdAt: number
  endedAt: number | null
  messages: number
}

export interface TranscriptMessage {
  id: number
  sessionId: string
  at: number
  runId: string | null
  /** Whose words it holds, or was written under. */
  origin: string
  trusted: boolean
  /** It stands for what came before it, which is all still there. */
  isSummary: boolean
  message: ModelMessage
}

export interface TranscriptPage {
  items: TranscriptMessage[]
  /** Pass it as `after` for what follows; null at the end. */
  next: number | null
}

export interface SearchHit {
  id: number
  key: string
  agentId: string
  sessionId: string
  at: number
  role: ModelMessage["role"]
  origin: string
  trusted: boolean
  /** Some words around the first that was found. */
  excerpt: string
}

export interface SearchPage {
  items: SearchHit[]
  /** Pass it as `before` for older ones; null when there are none. */
  next: number | null
}
