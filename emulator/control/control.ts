// The control API in process: act as users, look at what the bot did, order faults, move time.
// The HTTP form (http.ts) calls the same methods by name.
import type { BotCommand, Chat, Message, User, UserFromGetMe } from "grammy/types"
import type { Draft, EmulatorEvent, NumberedEvent } from "../feed.ts"
import { interruption } from "../methods/updates.ts"
import type { Bot } from "../world/bot.ts"
import type { NewBot } from "../world/create-bot.ts"
import type { MemberStatus, Topic, VisibleAction } from "../world/room.ts"
import type { World } from "../world/world.ts"
import type { CallLog } from "./call-log.ts"
import type { CallRecord } from "./call-record.ts"
import { ControlError } from "./control-error.ts"
import type { Faults, Fault } from "./faults.ts"
import { shownMenu } from "./menu.ts"
import * as people from "./people.ts"
import type { ParsedRequests } from "./requests.ts"
import * as acts from "./user-acts.ts"
import { waitForEvent, type WaitOptions } from "./waiting.ts"

export interface ControlParts {
  world: World
  log: CallLog
  faults: Faults
  createBot: (settings: NewBot) => Bot
  /** Cuts all connections and refuses new ones for a while. */
  restartServer: (downMs: number) => Promise<void>
}

export interface BotAccount {
  token: string
  user: UserFromGetMe
}

export type MessageWait = Omit<ParsedRequests["waitForMessage"], "match" | "timeoutMs"> & {
  /** Text that must occur in the message's text or caption, a pattern, or a test of the message. */
  match?: string | RegExp | ((message: Message) => boolean) | undefined
}
export type CallWait = Omit<ParsedRequests["waitForCall"], "timeoutMs"> & {
  match?: ((call: CallRecord) => boolean) | undefined
}

export class Control {
  readonly #parts: ControlParts
  readonly #world: World

  constructor(parts: ControlParts) {
    this.#parts = parts
    this.#world = parts.world
  }

  // Who exists

  addBot(request: ParsedRequests["addBot"] = {}): BotAccount {
    const { token, user } = this.#parts.createBot(request)
    return { token, user }
  }

  bots(): BotAccount[] {
    return [...this.#world.bots.values()].map(({ token, user }) => ({ token, user }))
  }

  addUser(request: ParsedRequests["addUser"] = {}): User {
    return people.addUser(this.#world, request)
  }

  users(): User[] {
    return [...this.#world.people.values()].map((person) => person.user)
  }

  setDeactivated({ userId, deactivated = true }: ParsedRequests["setDeactivated"]): void {
    people.findUser(this.#world, userId)
    const person = this.#world.people.get(userId)
    if (person) person.deactivated = deactivated
  }

  addChat(request: ParsedRequests["addChat"]): Chat {
    return people.addChat(this.#world, request)
  }

  /** The chats that a bot has, private ones included. */
  chats({ botId }: ParsedRequests["chats"] = {}): Chat[] {
    const bot = people.findBot(this.#world, botId)
    const rooms = [...this.#world.rooms.values()]
    return rooms.filter((room) => room.botId === undefined || room.botId === bot.id).map((room) => room.chat)
  }

  setChat({ chatId, deleted, canSend }: ParsedRequests["setChat"]): void {
    const room = people.findRoom(this.#world, chatId, undefined)
    if (deleted !== undefined) room.deleted = deleted
    if (canSend !== undefined) room.canSend = canSend
  }

  setMember(request: ParsedRequests["setMember"]): void {
    people.setMember(this.#world, request)
  }

  migrate({ chatId }: ParsedRequests["migrate"]): Chat {
    return people.migrate(this.#world, chatId)
  }

  addTopic(request: ParsedRequests["addTopic"]): { threadId: number; name: string } {
    return people.userAddsTopic(this.#world, request)
  }

  setTopic(request: ParsedRequests["setTopic"]): void {
    people.setTopic(this.#world, request)
  }

  // What people do

  sendText(request: ParsedRequests["sendText"]): Message {
    return acts.sendText(this.#world, request)
  }

  sendMedia(request: ParsedRequests["sendMedia"]): Message {
    return acts.sendMedia(this.#world, request)
  }

  sendRaw(request: ParsedRequests["sendRaw"]): Message {
    return acts.sendRaw(this.#world, request)
  }

  editText(request: ParsedRequests["editText"]): Message {
    return acts.editText(this.#world, request)
  }

  deleteMessages(request: ParsedRequests["deleteMessages"]): void {
    acts.deleteMessages(this.#world, request)
  }

  click(request: ParsedRequests["click"]): { queryId: string } {
    return acts.click(this.#world, request)
  }

  react(request: ParsedRequests["react"]): void {
    acts.react(this.#world, request)
  }

  block(request: ParsedRequests["block"]): void {
    acts.block(this.#world, request)
  }

  stopDraft(request: ParsedRequests["stopDraft"]): void {
    acts.stopDraft(this.#world, request)
  }

  /** Queues an update as given, whatever the bot asked for; returns its id. */
  injectUpdate({ botId, update, lane }: ParsedRequests["injectUpdate"]): { updateId: number } {
    const { update_id: id, ...fields } = update
    const kind = Object.keys(fields)[0] ?? "unknown"
    const bot = people.findBot(this.#world, botId)
    const given = typeof id === "number" ? { id } : {}
    const happenedAt = this.#world.clock.now()
    return { updateId: bot.queue.addRaw({ kind, fields, lane: lane ?? "injected", happenedAt, ...given }) }
  }

  // What the bot did

  /** The messages of a chat as its people see them, oldest first. */
  messages({ chatId, botId, after = 0, before = Infinity, limit = 1000 }: ParsedRequests["messages"]): Message[] {
    const room = people.findRoom(this.#world, chatId, botId)
    const ordered = [...room.messages.values()].sort((a, b) => a.message_id - b.message_id)
    return ordered.filter(({ message_id: id }) => id > after && id < before).slice(-limit)
  }

  topics({ chatId, botId }: ParsedRequests["topics"]): Topic[] {
    return [...people.findRoom(this.#world, chatId, botId).topics.values()]
  }

  /** The status of every person and bot that is or was in a shared chat, by their id. */
  members({ chatId }: ParsedRequests["members"]): Record<string, MemberStatus> {
    return Object.fromEntries(people.findRoom(this.#world, chatId, undefined).members)
  }

  file(fileId: string): { bytes: Buffer; name: string; mimeType: string } {
    const file = this.#world.files.get(fileId)
    if (!file) throw new ControlError("not-found", "there is no such file")
    return { bytes: file.bytes, name: file.name, mimeType: file.mimeType }
  }

  /** The drafts that are visible now. */
  drafts({ chatId, botId }: ParsedRequests["drafts"]): Draft[] {
    const room = people.findRoom(this.#world, chatId, botId)
    return [...room.drafts.values()].filter((draft) => draft.expiresAt > this.#world.clock.now())
  }

  /** What the bot shows as being typed or uploaded now. */
  actions({ chatId, botId }: ParsedRequests["actions"]): VisibleAction[] {
    const room = people.findRoom(this.#world, chatId, botId)
    return [...room.actions.values()].filter((action) => action.until > this.#world.clock.now())
  }

  /** The reactions on a message, by the id of who set them. */
  reactions({ chatId, botId, messageId }: ParsedRequests["reactions"]): Record<string, string[]> {
    const room = people.findRoom(this.#world, chatId, botId)
    return Object.fromEntries(room.reactions.get(messageId)?.byActor ?? [])
  }

  /** The reactions of a whole chat, by message. */
  chatReactions({ chatId, botId }: ParsedRequests["chatReactions"]): Record<string, Record<string, string[]>> {
    const { reactions } = people.findRoom(this.#world, chatId, botId)
    return Object.fromEntries([...reactions].map(([id, { byActor }]) => [id, Object.fromEntries(byActor)]))
  }

  /** The commands that a person is offered in a chat. */
  menu(request: ParsedRequests["menu"]): BotCommand[] {
    return shownMenu(this.#world, request)
  }

  commands({ botId, scope, languageCode = "" }: ParsedRequests["commands"] = {}): {
    command: string
    description: string
  }[] {
    const bot = people.findBot(this.#world, botId)
    const key = [scope?.["type"] ?? "default", scope?.["chat_id"] ?? "", scope?.["user_id"] ?? "", languageCode]
    return bot.commands.get(key.map(String).join(":")) ?? []
  }

  calls(request: ParsedRequests["calls"] = {}): CallRecord[] {
    return this.#parts.log.list().filter((call) => isWanted(call, request))
  }

  clearCalls(): void {
    this.#parts.log.clear()
  }

  /** The updates that the bot has not confirmed yet. */
  updates({ botId }: ParsedRequests["updates"] = {}): unknown[] {
    const bot = people.findBot(this.#world, botId)
    return bot.queue.pending().map((update): unknown => JSON.parse(update.json))
  }

  /** The message that a chat gets, or has already got, and that fits. Edits count as well. */
  async waitForMessage(wanted: MessageWait, options: WaitOptions = {}): Promise<Message> {
    const room = people.findRoom(this.#world, wanted.chatId, wanted.botId)
    const fits = (message: Message, from: "bot" | "user") =>
      (wanted.from === undefined || wanted.from === from) &&
      message.message_id > (wanted.after ?? 0) &&
      messageMatches(message, wanted.match)
    const existing = this.messages(wanted).find((message) => fits(message, authorOf(message)))
    if (existing) return existing
    const select = (event: EmulatorEvent) => {
      if (event.type !== "message" && event.type !== "edited") return undefined
      const isHere = event.chatId === wanted.chatId && (room.botId === undefined || event.botId === room.botId)
      return isHere && fits(event.message, event.from) ? event.message : undefined
    }
    return waitForEvent(this.#world.feed, select, { ...options, what: `message in chat ${wanted.chatId}` })
  }

  /** The API call that fits, made already or to come; `after` is the id of a call. */
  async waitForCall(wanted: CallWait, options: WaitOptions = {}): Promise<CallRecord> {
    const phase = wanted.phase ?? "finished"
    const fits = (call: CallRecord) => isWanted(call, wanted) && (wanted.match?.(call) ?? true)
    const existing = this.#parts.log
      .list()
      .find((call) => fits(call) && (phase === "started" || call.finishedAt !== undefined))
    if (existing) return existing
    const type = phase === "started" ? "call-started" : "call"
    const select = (event: EmulatorEvent) => (event.type === type && fits(event.call) ? event.call : undefined)
    return waitForEvent(this.#world.feed, select, { ...options, what: `call of ${wanted.method ?? "any method"}` })
  }

  waitForEvent<Value>(select: (event: EmulatorEvent) => Value | undefined, options: WaitOptions = {}): Promise<Value> {
    return waitForEvent(this.#world.feed, select, { ...options, what: "matching event" })
  }

  /** Events after a sequence number; waits for the next one when there is none yet. */
  async events(
    { after = 0, timeoutMs = 25_000 }: ParsedRequests["events"] = {},
    { signal }: WaitOptions = {},
  ): Promise<NumberedEvent[]> {
    const { feed } = this.#world
    const known = feed.since(after)
    if (known.length > 0 || timeoutMs === 0) return known
    try {
      await waitForEvent(feed, () => true, { timeoutMs, signal, what: "event" })
    } catch (error) {
      if (!(error instanceof ControlError)) throw error
    }
    return feed.since(after)
  }

  // What goes wrong

  fault(request: Fault): { id: number } {
    return { id: this.#parts.faults.add(request) }
  }

  faults(): (Fault & { id: number })[] {
    return this.#parts.faults.list()
  }

  clearFaults({ id }: ParsedRequests["clearFaults"] = {}): void {
    this.#parts.faults.clear(id)
  }

  /** The next `count` confirmed updates are delivered once more. */
  duplicateUpdates({ botId, count }: ParsedRequests["duplicateUpdates"]): void {
    people.findBot(this.#world, botId).queue.repeatConfirmed(count)
  }

  /** Update ids go on from a random place, as after a week of silence, or from `to`. */
  jumpUpdateId({ botId, to }: ParsedRequests["jumpUpdateId"] = {}): void {
    people.findBot(this.#world, botId).queue.jumpId(to)
  }

  advanceClock({ ms }: ParsedRequests["advanceClock"]): void {
    this.#world.clock.advance(ms)
  }

  /** Waiting polls end with 500, all connections are cut; queues and chats stay. */
  async restart({ downMs = 0 }: ParsedRequests["restart"] = {}): Promise<void> {
    for (const bot of this.#world.bots.values()) bot.poll.interrupt(interruption("restart"))
    await this.#parts.restartServer(downMs)
  }

  revokeToken({ botId, revoked = true }: ParsedRequests["revokeToken"] = {}): void {
    const bot = people.findBot(this.#world, botId)
    bot.revoked = revoked
    if (revoked) bot.poll.interrupt(interruption("revoked"))
  }
}

function authorOf(message: Message): "bot" | "user" {
  return message.from?.is_bot ? "bot" : "user"
}

function messageMatches(message: Message, match: MessageWait["match"]): boolean {
  if (match === undefined) return true
  if (typeof match === "function") return match(message)
  const text = message.text ?? message.caption ?? ""
  return typeof match === "string" ? text.includes(match) : match.test(text)
}

function isWanted(call: CallRecord, wanted: ParsedRequests["calls"]): boolean {
  const { method, chatId, botId, after = 0 } = wanted
  if (method !== undefined && call.method.toLowerCase() !== method.toLowerCase()) return false
  if (chatId !== undefined && String(call.parameters["chat_id"]) !== String(chatId)) return false
  return call.id > after && (botId === undefined || call.botId === botId)
}
