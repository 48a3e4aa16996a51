// One bot: its account, its queue of updates, and the settings that the platform keeps for it.
import type { BotCommand, CallbackQuery, UserFromGetMe } from "grammy/types"
import { BoundedMap } from "../bounded-map.ts"
import type { Flood } from "../flood.ts"
import type { UpdatePoll } from "../updates/poll.ts"
import type { UpdateQueue } from "../updates/queue.ts"
import type { WebhookSender } from "../updates/webhook.ts"

export interface OpenCallbackQuery {
  query: CallbackQuery
  expiresAt: number
}

export class Bot {
  readonly token: string
  readonly user: UserFromGetMe
  readonly queue: UpdateQueue
  readonly poll: UpdatePoll
  readonly webhook: WebhookSender
  readonly flood: Flood
  readonly callbackQueries = new BoundedMap<string, OpenCallbackQuery>(5000)
  /** Command menus by scope and language. */
  readonly commands = new BoundedMap<string, BotCommand[]>(500)
  /** Names, descriptions and other settings by method suffix and language. */
  readonly settings = new BoundedMap<string, unknown>(500)
  readonly startedAt: number
  revoked = false
  loggedOut = false
  /** The account has forum topics in private chats. */
  get hasPrivateTopics(): boolean {
    return this.user.has_topics_enabled
  }
  #lastMessageId = 0

  constructor(parts: {
    token: string
    user: UserFromGetMe
    queue: UpdateQueue
    poll: UpdatePoll
    webhook: WebhookSender
    flood: Flood
    startedAt: number
  }) {
    this.token = parts.token
    this.user = parts.user
    this.queue = parts.queue
    this.poll = parts.poll
    this.webhook = parts.webhook
    this.flood = parts.flood
    this.startedAt = parts.startedAt
  }

  get id(): number {
    return this.user.id
  }

  /** Private chats and basic groups of one account share one sequence of message ids. */
  takeMessageId(): number {
    this.#lastMessageId += 1
    return this.#lastMessageId
  }
}
