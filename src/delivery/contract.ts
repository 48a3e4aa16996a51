// What a channel must provide so that replies reach it. No runtime.
import type { TurnInput } from "../agent/turn-input.ts"
import type { Json } from "../kernel/index.ts"
import type { Route } from "../sessions/route.ts"
import type { NewOutbox, OutboxRow } from "../store/index.ts"

export interface ReplyMedia {
  /** Absolute path below the media root. */
  path: string
  mediaType: string
}

export interface ReplyButton {
  text: string
  /** What comes back when it is touched; any length. */
  data: string
  style?: "danger" | "success" | "primary"
  /** `data` is a command of ours, which a touch runs. Never set for what a model or anybody else has written. */
  runs?: true
  /** `data` is for us: a touch is handled here and comes to no model. `resend`: see `delivery/doubt.ts`. */
  handler?: ButtonHandler
}

export type ButtonHandler = "resend"

export interface Reply {
  /** The model's thinking, shown in front of the text; as it is, without markup. */
  reasoning?: string
  /** Markdown-ish text of the model or of ourselves; tags already taken out. */
  text: string
  media: ReplyMedia[]
  /** Message id in the same chat that the reply refers to. */
  replyTo?: string
  /** A part of the same answer that was sent before has shown a reference. */
  isReferred?: true
  asVoice?: boolean
  silent?: boolean
  /** Nobody fetches what its links name: they may have been made to carry something away. */
  noPreview?: boolean
  /** Words of the message that `replyTo` names, to be shown with the reference. */
  quote?: string
  /** Rows of buttons below the last message. */
  buttons?: ReplyButton[][]
}

/** What a person does to a message that is there; an empty emoji takes the reaction away. */
export type MessageChange =
  | { action: "edit"; messageId: string; text: string }
  | { action: "delete"; messageId: string }
  | { action: "react"; messageId: string; emoji: string }

export type SendOutcome =
  | { kind: "sent"; remoteId?: string }
  /** It cannot have arrived (refused before it was sent, 429, a 5xx with a JSON body): try again. */
  | { kind: "retry"; delayMs: number; error: string }
  /** The platform refuses this content but would take the other form (formatted text sent as plain). */
  | { kind: "replace"; payload: Json; error: string }
  /** It may or may not have arrived. */
  | { kind: "uncertain"; error: string }
  /** It will never arrive (blocked, chat gone). */
  | { kind: "rejected"; error: string }
  /** Decoration that did not work: nobody is told. */
  | { kind: "dropped"; error: string }

/** May the next message go? When not: how long its chat, or the whole account, has to wait. */
export type Pace = { kind: "go" } | { kind: "chat" | "account"; delayMs: number }

/** Sizes of the parts of an answer that is sent while it is written. */
export interface EarlyReplies {
  minChars: number
  maxChars: number
  /** Milliseconds without a word after which what is there goes out. */
  idleMs: number
}

export interface ChannelSender {
  channel: string
  /** Its chats are those of the gateway's own page: a recipient that is named without a channel is never meant for it. */
  isPage?: true
  /** Whether answers to this chat are sent in parts while they are written; undefined: only when they are complete. */
  earlyReplies?(route: Route): EarlyReplies | undefined
  /** The rows of a reply: chunks and media in order. Pure and quick: it runs inside the turn's last transaction. */
  plan(route: Route, reply: Reply): NewOutbox[]
  /**
   * A file to send, as a person names it: an http(s) address, or a path that is checked. Throws `media-refused`. Without
   * it only what the channel is given as it is can be sent.
   */
  takeMedia?(route: Route, source: string, signal: AbortSignal): Promise<ReplyMedia>
  /** The row that changes a message. Throws `bad-request` for what the platform would never take. */
  planChange?(route: Route, change: MessageChange): NewOutbox
  /** Asked before a row is claimed; `go` takes the place, so the row must then be sent. Without it nothing waits. */
  pace?(row: OutboxRow): Pace
  /** Rows that follow the reply of a turn; `earlier` are those that the turn has written so far. Pure and quick too. */
  afterReply?(input: TurnInput, earlier: readonly OutboxRow[]): NewOutbox[]
  /** True when the row says something to the people of its chat: then a turn that wrote it has answered there. */
  isAnswer?(row: OutboxRow): boolean
  /** What the row says to the people of its chat; empty for a file alone, undefined for what says nothing. */
  wordsOf?(row: OutboxRow): string | undefined
  /** True when another copy of the same call changes nothing: then a doubt is none, and it is simply made again. */
  isRepeatable?(row: OutboxRow): boolean
  /**
   * Makes the one call of a row. Never throws for what the platform answers. `begin` must be called right before the
   * request is made: a row whose call has not begun is sent again without asking anybody.
   */
  send(row: OutboxRow, signal: AbortSignal, begin: () => void): Promise<SendOutcome>
  /** A target as a person writes it (`123`, `-100123`, `@name`, `123:topic:4`). Throws `target-invalid`. */
  resolveTarget(target: string, account: string | undefined): Route
  /** False for an account that there is not any more; without it nobody asks. */
  hasAccount?(account: string): boolean
}
