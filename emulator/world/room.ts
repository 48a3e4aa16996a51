// One conversation: a chat with its members, topics, messages and what is only shown for a moment (typing, drafts).
// A private chat belongs to one bot and one user; every other chat is shared by all bots.
import type { Chat, Message } from "grammy/types"
import { BoundedMap } from "../bounded-map.ts"
import type { Draft } from "../feed.ts"

export type MemberStatus = "creator" | "administrator" | "member" | "restricted" | "left" | "kicked"

export interface Topic {
  threadId: number
  name: string
  iconColor: number
  iconCustomEmojiId?: string
  closed: boolean
  hidden: boolean
}

export interface VisibleAction {
  action: string
  threadId?: number
  until: number
}

export interface Reactions {
  /** Emoji (or custom emoji ids) by the id of the user or bot that set them. */
  byActor: BoundedMap<number, string[]>
}

const maxMessages = 3000

export class Room {
  readonly chat: Chat
  /** The bot of a private chat; undefined for chats that are shared. */
  readonly botId: number | undefined
  readonly members = new BoundedMap<number, MemberStatus>(10_000)
  readonly topics = new BoundedMap<number, Topic>(2000)
  readonly messages = new BoundedMap<number, Message>(maxMessages)
  readonly drafts = new BoundedMap<string, Draft>(50)
  readonly reactions = new BoundedMap<number, Reactions>(1000)
  /** What the bot shows as being typed or uploaded, by thread id (0 outside topics). */
  readonly actions = new BoundedMap<number, VisibleAction>(50)
  /** The user has written to the bot; only then may the bot write. */
  started = false
  blocked = false
  deleted = false
  migratedTo: number | undefined
  /** Whether ordinary members, the bot among them, may send messages. */
  canSend = true
  pinnedMessageId: number | undefined
  #nextMessageId: () => number

  constructor({ chat, botId, nextMessageId }: { chat: Chat; botId?: number; nextMessageId: () => number }) {
    this.chat = chat
    this.botId = botId
    this.#nextMessageId = nextMessageId
  }

  takeMessageId(): number {
    return this.#nextMessageId()
  }

  isForum(): boolean {
    return "is_forum" in this.chat && this.chat.is_forum === true
  }

  /** "group", "supergroup" or "channel", as error messages name it. */
  kind(): Chat["type"] {
    return this.chat.type
  }

  statusOf(memberId: number): MemberStatus {
    return this.members.get(memberId) ?? "left"
  }

  isAdministrator(memberId: number): boolean {
    const status = this.statusOf(memberId)
    return status === "creator" || status === "administrator"
  }
}

export function isPresent(status: MemberStatus): boolean {
  return status !== "left" && status !== "kicked"
}
