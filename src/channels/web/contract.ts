// Wire types of the page's own chat. No runtime.
import type { ReplyButton, ReplyMedia } from "../../delivery/contract.ts"

export const webChannel = "web"
export const webAccount = "default"

export interface WebFile {
  name: string
  mediaType: string
  bytes: number
  /** Browsers may show it as it is. */
  isPicture: boolean
  /** Why it is not there. */
  problem?: string
}

/** One message, as people see it. */
export interface WebMessage {
  /** In order; the cursor of lists. */
  id: number
  /** Key of the session that it belongs to. */
  chat: string
  /** The page's own id of what came in; the number of its delivery for what went out. */
  ref: string
  side: "in" | "out"
  /** The run that it began, or that has said it. */
  runId: string | null
  /** Markdown. */
  text: string
  thinking: string | null
  files: WebFile[]
  /** Rows of labels; values stay here. */
  buttons: { text: string; style?: ReplyButton["style"] }[][]
  replyTo: string | null
  reaction: string | null
  createdAt: number
  editedAt: number | null
  isDeleted: boolean
}

export interface WebConversation {
  key: string
  agent: string
  /** How its first message begins; empty for none. */
  title: string
  preview: string
  /** Its newest message; 0 where there is none. */
  lastId: number
  updatedAt: number | null
}

/** An answer while it is written, from when its turn begins. */
export interface WebDraft {
  chat: string
  runId: string
  /** Changes when what was shown is void. */
  stream: string
  /** Where `text` belongs: so many characters of the stream are known before it. */
  at: number
  text: string
  /** What the model thinks, whole, where the session shows it. */
  thinking?: string
  isOver?: true
}

/** A message that did not reach its chat, or of which nobody knows whether it has. */
export interface WebUnsent {
  delivery: number
  state: "uncertain" | "dead"
  error: string | null
  text: string
}

export interface WebHistory {
  /** Newest first. */
  items: WebMessage[]
  next: number | null
  /** Of the newest page alone, like what follows. */
  drafts: WebDraft[]
  unsent: WebUnsent[]
}

export interface WebSaying {
  /** The sender's own: the same one is taken in once, however often it comes. */
  id: string
  /** Key of a session, `main`, or a name of the page's own. */
  chat: string
  text: string
  files: { id: string; name: string }[]
  /** `ref` of the message that it answers. */
  replyTo?: string
}

export interface WebClick {
  id: string
  chat: string
  /** `ref` of the message that the button stands below. */
  message: string
  row: number
  column: number
}

export interface WebAccepted {
  chat: string
  runId: string
  /** It had been taken in before, under the same id. */
  isRepeat?: true
}

export interface WebOverview {
  agents: string[]
  chats: WebConversation[]
  /** There are older ones. */
  hasMore: boolean
  /** What can be typed: a command, also with each of the words that may follow it. */
  commands: { words: string; summary: string }[]
  maxFileBytes: number
}

/** What an outbox row of this channel holds. */
export type WebPayload =
  | {
      text: string
      thinking?: string
      files: ReplyMedia[]
      buttons?: ReplyButton[][]
      replyTo?: string
    }
  | { messageId: string; text: string; buttons?: ReplyButton[][] }
  | { messageId: string; emoji: string | null }
  | { messageId: string }
