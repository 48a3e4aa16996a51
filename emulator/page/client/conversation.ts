// What the page shows: the chosen bot, person, chat and topic, the messages that were loaded, and how it changes.
import type { BotCommand, Chat, Message, User, UserFromGetMe } from "grammy/types"
import type { Draft, EmulatorEvent } from "../../feed.ts"
import type { Topic } from "../../world/room.ts"
import { call } from "./api.ts"

export interface Place {
  bot: UserFromGetMe
  me: User
  /** The private chat with the bot has the id of the person. */
  chatId: number
  /** Only messages of this topic; all of them without. */
  topic: number | undefined
}

const pageSize = 50
const draftLookMs = 1_000

export class Conversation {
  bots: UserFromGetMe[] = []
  users: User[] = []
  groups: Chat[] = []
  topics: Topic[] = []
  menu: BotCommand[] = []
  place: Place | undefined
  messages = new Map<number, Message>()
  reactions: Record<string, Record<string, string[]>> = {}
  drafts: Draft[] = []
  /** What the bot does at the moment, as the platform words it. */
  status = ""
  notice = ""
  /** There may be older messages than those that were loaded. */
  hasOlder = false
  replyTo: Message | undefined
  editing: Message | undefined

  readonly #changed: () => void
  #sequence = 0
  #statusTimer = 0
  #noticeTimer = 0
  #draftTimer = 0
  #queries = new Set<string>()

  constructor(changed: () => void) {
    this.#changed = changed
  }

  get chat(): Chat | undefined {
    return this.groups.find(({ id }) => id === this.place?.chatId)
  }

  /** As requests name the place. */
  get where(): { chatId: number; botId: number } {
    const { place } = this
    if (!place) throw new Error("No chat is open")
    return { chatId: place.chatId, botId: place.bot.id }
  }

  get newest(): Message[] {
    const { topic } = this.place ?? {}
    return [...this.messages.values()]
      .filter((message) => topic === undefined || message.message_thread_id === topic)
      .toSorted((a, b) => a.message_id - b.message_id)
  }

  update(change: () => void): void {
    change()
    this.#changed()
  }

  say(text: string): void {
    clearTimeout(this.#noticeTimer)
    this.#noticeTimer = window.setTimeout(() => this.update(() => (this.notice = "")), 6_000)
    this.update(() => (this.notice = text))
  }

  /** Does it, and says what went wrong. True when it was done. */
  async attempt(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error))
      return false
    }
  }

  async loadPlaces(): Promise<void> {
    const [bots, users] = await Promise.all([call("bots", {}), call("users", {})])
    this.bots = bots.map(({ user }) => user)
    this.users = users.length > 0 ? users : [await call("addUser", { firstName: "You" })]
    const bot = this.place?.bot ?? this.bots[0]
    const chats = bot ? await call("chats", { botId: bot.id }) : []
    this.groups = chats.filter(({ type }) => type !== "private")
    this.#changed()
  }

  async open(
    wanted: Partial<Pick<Place, "topic">> & { botId?: number; userId?: number; chatId?: number },
  ): Promise<void> {
    const { place } = this
    const bot = this.bots.find(({ id }) => id === (wanted.botId ?? place?.bot.id)) ?? this.bots[0]
    const me = this.users.find(({ id }) => id === (wanted.userId ?? place?.me.id)) ?? this.users[0]
    if (!bot || !me) throw new Error("There is no bot yet")
    const wasPrivate = place === undefined || place.chatId === place.me.id
    const chatId = wanted.chatId ?? (wasPrivate ? me.id : place.chatId)
    const isGroup = this.groups.some(({ id }) => id === chatId)
    this.place = { bot, me, chatId: isGroup ? chatId : me.id, topic: wanted.topic }
    sessionStorage.setItem("place", JSON.stringify([bot.id, me.id, this.place.chatId]))
    this.messages.clear()
    this.drafts = []
    this.replyTo = undefined
    this.editing = undefined
    this.status = ""
    await this.#load()
  }

  async #load(): Promise<void> {
    const { place, where } = this
    const [messages, reactions, drafts, topics, menu] = await Promise.all([
      call("messages", { ...where, limit: pageSize }),
      call("chatReactions", where),
      call("drafts", where),
      call("topics", where),
      call("menu", { ...where, userId: place?.me.id ?? 0 }),
    ])
    if (place !== this.place) return
    for (const message of messages) this.messages.set(message.message_id, message)
    this.hasOlder = messages.length === pageSize
    Object.assign(this, { reactions, drafts, topics, menu })
    this.#changed()
  }

  async loadOlder(): Promise<void> {
    const { place } = this
    const oldest = Math.min(...this.messages.keys())
    if (!place || !this.hasOlder || oldest === Infinity) return
    this.hasOlder = false
    const messages = await call("messages", { ...this.where, before: oldest, limit: pageSize })
    if (place !== this.place) return
    for (const message of messages) this.messages.set(message.message_id, message)
    this.hasOlder = messages.length === pageSize
    this.#changed()
  }

  async loadMenu(): Promise<void> {
    const { place } = this
    if (place) this.menu = await call("menu", { ...this.where, userId: place.me.id })
    this.#changed()
  }

  async click(message: Message, data: string): Promise<void> {
    const userId = this.place?.me.id ?? 0
    const { queryId } = await call("click", { ...this.where, userId, messageId: message.message_id, data })
    this.#queries.add(queryId)
  }

  /** Goes on with what happens, for as long as the page is open. */
  async follow(): Promise<never> {
    const known = await call("events", { timeoutMs: 0 })
    this.#sequence = known.at(-1)?.sequence ?? 0
    for (let lost = false; ;) {
      try {
        const events = await call("events", { after: this.#sequence })
        if (lost) {
          lost = false
          this.say("Connected again")
          await this.loadPlaces()
          await this.#load()
        }
        for (const { sequence, event } of events) {
          this.#sequence = sequence
          await this.#take(event)
        }
        this.#changed()
      } catch (error) {
        lost = true
        this.#showStatus(`not connected: ${error instanceof Error ? error.message : String(error)}`)
        await new Promise((resolve) => setTimeout(resolve, 2_000))
      }
    }
  }

  async #take(event: EmulatorEvent): Promise<void> {
    if (event.type === "callback-answer" && this.#queries.delete(event.queryId) && event.text) {
      this.say(event.text)
    }
    const { place } = this
    if (!place || !("chatId" in event) || event.chatId !== place.chatId) return
    if (place.chatId === place.me.id && event.botId !== 0 && event.botId !== place.bot.id) return
    if (event.type === "message" || event.type === "edited") {
      this.messages.set(event.message.message_id, event.message)
      if (event.from === "bot") this.status = ""
      if (event.message.forum_topic_created) this.topics = await call("topics", this.where)
    } else if (event.type === "deleted") {
      for (const id of event.messageIds) this.messages.delete(id)
    } else if (event.type === "action") {
      this.#showStatus(event.action === "cancel" ? "" : `${event.action.replaceAll("_", " ")}…`, 5_000)
    } else if (event.type === "draft") {
      await this.#takeDraft(event.draft)
    } else if (event.type === "reaction") {
      this.reactions[event.messageId] = await call("reactions", { ...this.where, messageId: event.messageId })
    }
  }

  async #takeDraft(draft: Draft | undefined): Promise<void> {
    if (!draft) {
      this.drafts = await call("drafts", this.where)
      return
    }
    const isSame = (other: Draft) => other.draftId === draft.draftId && other.threadId === draft.threadId
    this.drafts = [...this.drafts.filter((other) => !isSame(other)), draft]
    clearTimeout(this.#draftTimer)
    this.#draftTimer = window.setTimeout(() => void this.attempt(() => this.#lookAtDrafts()), draftLookMs)
  }

  /** Drafts end by themselves, by the clock of the emulator, which a test may have moved. */
  async #lookAtDrafts(): Promise<void> {
    this.drafts = await call("drafts", this.where)
    if (this.drafts.length > 0)
      this.#draftTimer = window.setTimeout(() => void this.attempt(() => this.#lookAtDrafts()), draftLookMs)
    this.#changed()
  }

  #showStatus(text: string, forMs?: number): void {
    clearTimeout(this.#statusTimer)
    if (forMs !== undefined) this.#statusTimer = window.setTimeout(() => this.update(() => (this.status = "")), forMs)
    this.update(() => (this.status = text))
  }
}

export function nameOf(user: Pick<User, "first_name" | "last_name">): string {
  return [user.first_name, user.last_name].filter(Boolean).join(" ")
}

/** What was chosen before the page was loaded again. */
export function rememberedPlace(): { botId?: number; userId?: number; chatId?: number } {
  const [botId, userId, chatId] = JSON.parse(sessionStorage.getItem("place") ?? "[]") as number[]
  return {
    ...(botId === undefined ? {} : { botId }),
    ...(userId === undefined ? {} : { userId }),
    ...(chatId === undefined ? {} : { chatId }),
  }
}
