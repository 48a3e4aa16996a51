// A batch of updates -> what it causes, in one transaction with the offset. What was seen before changes nothing.
import type { Update } from "grammy/types"
import { droppedText, keepToCap } from "../../../agent/queue/cap.ts"
import { type TurnInput, turnJobKind } from "../../../agent/turn-input.ts"
import { type Clock, type Ids, type Log, describeError, isJsonObject } from "../../../kernel/index.ts"
import { agentOfKey, mainKey } from "../../../sessions/keys.ts"
import type { Route } from "../../../sessions/route.ts"
import { type IngestEntry, type NewOutbox, type Store, type Write } from "../../../store/index.ts"
import type { Activations } from "../../activation.ts"
import type { QueueChoices } from "../../queue.ts"
import type { PairingAnswer, PairingBook } from "../../pairing-book.ts"
import type { NamePins } from "../../pins.ts"
import { type BotKey, deleteOffset, knownDeliveries, readOffset, saveOffset } from "../../store.ts"
import { noteMembership } from "../known.ts"
import type { ChatMoves } from "../moves/moves.ts"
import type { ChatMove } from "../moves/store.ts"
import type { Settings } from "../settings.ts"
import { asideEntry } from "../updates/aside.ts"
import { wrongField } from "../updates/shape.ts"
import { DropLog } from "./drop-log.ts"
import { Earlier, type EarlierTurns } from "./earlier.ts"
import { trimHistory } from "./history.ts"
import { createLookups } from "./lookups.ts"
import { planUpdate } from "./plan.ts"
import {
  type Effect,
  type Membership,
  type PlanContext,
  type Planned,
  type SkipReason,
  deliveryIdsOf,
} from "./planned.ts"

export interface IntakeOptions {
  bot: BotKey
  store: Store
  settings: Settings
  agentId: () => string
  book: PairingBook
  pins: NamePins
  activations: Activations
  queueChoices: QueueChoices
  moves: ChatMoves
  /** Whether a word names a model that may be chosen; without it none does. */
  isModel?: (name: string) => boolean
  /** Username of the bot, once it is known. */
  botName: () => string | undefined
  clock: Clock
  ids: Ids
  log: Log
  rememberRoute: (write: Write, sessionKey: string, agentId: string, route: Route) => void
  pairingReply: PlanContext["pairingReply"]
  /** Rows that tell somebody something of ours. */
  notice: (route: Route, text: string) => NewOutbox[]
  /** What is done after the commit; never waited for. */
  onEffect: (effect: Effect) => void
}

/** Answers to strangers beyond a first burst are spaced, so that a flood of them never delays a reply. */
const pairingBurst = 20
const pairingSpacingMs = 200
/** An answer that would leave later is not promised: its code would be half over, and a new person would wait for nothing. */
const pairingLongestWaitMs = 5 * 60_000

/** Nobody was refused, or another line tells of it. */
const quietReasons: ReadonlySet<SkipReason> = new Set([
  "service-message",
  "edited",
  "other-kind",
  "unreadable",
  "empty-click",
  "click-repeated",
  "reactions-off",
  "reaction-without-emoji",
  "reaction-to-others",
  "reaction-repeated",
])

export class Intake {
  readonly counters: Record<string, number> = {}
  lastInboundAt: number | undefined
  readonly #options: IntakeOptions
  readonly #log: Log
  readonly #earlier: Earlier
  readonly #drops: DropLog
  /** When the answers to strangers that are planned so far will have left. */
  #pairingBusyUntil = 0

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#log = options.log
    this.#earlier = new Earlier(options.store)
    this.#drops = new DropLog(options)
  }

  offset(): number | undefined {
    return readOffset(this.#options.store, this.#options.bot)
  }

  /**
   * Durable when it resolves; when it rejects nothing has changed. Not called again before it has settled.
   * `nextOffset` is undefined for updates that came by webhook: they are not in order, so no poll may go on after them.
   * `nameless` are entries of an answer that are no updates: they are set aside.
   */
  async take(
    updates: readonly Update[],
    nextOffset: number | undefined,
    nameless: readonly unknown[] = [],
  ): Promise<void> {
    const { store, bot, book, pins, moves, rememberRoute } = this.#options
    const known = knownDeliveries(store, bot, updates.flatMap(deliveryIdsOf))
    const fresh = updates.filter((update) => {
      const ids = deliveryIdsOf(update)
      if (ids.some((id) => known.has(id))) return false
      for (const id of ids) known.add(id)
      return true
    })
    const repeats = updates.length - fresh.length
    const busyUntil = this.#pairingBusyUntil
    try {
      const planned = [...this.#planAll(fresh), ...nameless.map((each) => this.#setAside(each, "it has no update_id"))]
      const routes = lastToRemember(planned)
      await store.ingestBatch(
        planned.map((each) => each.entry),
        async (write) => {
          if (nextOffset === undefined) deleteOffset(write, bot)
          else saveOffset(write, bot, nextOffset)
          book.flush(write)
          pins.flush(write)
          for (const [sessionKey, route] of routes) rememberRoute(write, sessionKey, agentOf(sessionKey), route)
          this.#keepQueuesShort(write, planned)
          this.#trimHistories(write, planned)
          for (const each of planned.flatMap(membershipOf)) {
            noteMembership(write, { channel: bot.channel, account: bot.account, chatId: each.chatId }, each.isMember)
          }
          for (const move of movesOf(planned)) moves.apply(write, move, bot.account)
        },
      )
      book.settle()
      pins.settle()
      if (movesOf(planned).length > 0) moves.settle()
      if (repeats > 0) this.#log.debug({ updates: repeats }, "updates seen before")
      this.#count("duplicate", repeats)
      for (const each of planned) this.#tell(each)
    } catch (error) {
      book.reload()
      pins.reload()
      moves.reload()
      this.#pairingBusyUntil = busyUntil
      throw error
    }
  }

  /**
   * What somebody wrote before they were let in, taken in as if it had come now. Inside a transaction. False when there
   * is nothing to answer in it, or its sender is still not heard.
   */
  admit(write: Write, senderId: string, message: string): boolean {
    const { bot, book, rememberRoute } = this.#options
    const update = JSON.parse(message) as Update
    if (wrongField(update) !== undefined) return false
    const earlier = this.#earlier.beginBatch()
    const paired = new Set(book.paired).add(senderId)
    // Who was shut out again meanwhile is not asked to ask once more.
    const waiting = { paired, ask: (): PairingAnswer => ({ kind: "seen" }) }
    const planned = planUpdate(update, this.#context(earlier, waiting))
    if (planned.kind !== "accepted") return false
    for (const job of planned.entry.jobs ?? []) write.addJob(job)
    earlier.note(planned.entry.jobs)
    for (const [sessionKey, route] of lastToRemember([planned]))
      rememberRoute(write, sessionKey, agentOf(sessionKey), route)
    this.#log.info({ bot: bot.botId, sender: senderId }, "first message of a person let in is answered")
    return true
  }

  #context(earlier: EarlierTurns, book: PlanContext["book"]): PlanContext {
    const { settings, bot, botName, agentId, pins, activations, queueChoices, moves, ids, clock, store } = this.#options
    return {
      earlier,
      settings: moves.follow(settings.account(bot.account)),
      botId: bot.botId,
      botName: botName(),
      agentId: agentId(),
      book,
      pins,
      now: clock.now(),
      ids,
      pairingReply: (route, senderId, code) => {
        const rows = this.#pace(this.#options.pairingReply(route, senderId, code))
        // Nobody is told now: whoever writes again when the flood is over asks anew.
        if (rows.length === 0) this.#options.book.forget(senderId)
        return rows
      },
      look: createLookups({ store, bot, isModel: this.#options.isModel ?? (() => false) }),
      activationOf: (key) => activations.of(key),
      queueChoiceOf: (key) => queueChoices.of(key),
      onChatMoved: (move) => moves.see(move),
    }
  }

  #planAll(updates: readonly Update[]): Planned[] {
    const earlier = this.#earlier.beginBatch()
    const context = this.#context(earlier, this.#options.book)
    return updates.map((update) => {
      try {
        const wrong = wrongField(update)
        if (wrong !== undefined) return this.#setAside(update, `${wrong} is of a wrong type`)
        const planned = planUpdate(update, context)
        earlier.note(planned.entry.jobs)
        return planned
      } catch (error) {
        return this.#setAside(update, describeError(error))
      }
    })
  }

  /** One update of an unforeseen shape must not hold up all others for ever. */
  #setAside(update: unknown, reason: string): Planned {
    const { bot, clock } = this.#options
    const hint = "Look at it with: svc channels updates"
    this.#log.error({ reason, hint }, "update not understood, set aside")
    return { kind: "skipped", entry: asideEntry(bot, update, reason, clock.now()), reason: "unreadable" }
  }

  /** What a group says while nobody asks the agent is kept up to the limit, not for ever. */
  #trimHistories(write: Write, planned: readonly Planned[]): void {
    const { settings, bot } = this.#options
    const keys = planned.flatMap((each) => (each.kind === "noted" && each.historyOf ? [each.historyOf] : []))
    trimHistory(write, bot.account, new Set(keys), settings.account(bot.account).historyLimit)
  }

  /** What goes beyond the cap of a queue is dropped with the very message that made it too long, and its sender told. */
  #keepQueuesShort(write: Write, planned: readonly Planned[]): void {
    const { store, notice } = this.#options
    for (const job of planned.flatMap(({ entry }) => entry.jobs ?? [])) {
      const input = job.kind === turnJobKind ? (job.payload as unknown as TurnInput) : undefined
      const dropped = input && keepToCap(store, write, input)
      if (!input?.queue || !input.route || !dropped) continue
      this.#log.warn({ session: input.sessionKey, sender: input.askedBy?.id, dropped: dropped.count }, "queue full")
      this.#count("queue-dropped", dropped.count)
      if (dropped.isFirst) for (const row of notice(input.route, droppedText(input.queue))) write.addOutbox(row)
    }
  }

  #pace(rows: NewOutbox[]): NewOutbox[] {
    const now = this.#options.clock.now()
    const earliest = now - pairingBurst * pairingSpacingMs
    const runAt = Math.max(this.#pairingBusyUntil, earliest) + pairingSpacingMs
    if (runAt > now + pairingLongestWaitMs) return []
    this.#pairingBusyUntil = runAt
    return runAt <= now ? rows : rows.map((row) => ({ ...row, runAt }))
  }

  #tell(planned: Planned): void {
    for (const effect of planned.effects ?? []) this.#options.onEffect(effect)
    const update = planned.entry.deliveryId
    switch (planned.kind) {
      case "accepted":
        this.lastInboundAt = this.#options.clock.now()
        this.#count("accepted")
        this.#log.debug({ update, chat: planned.route.chatId, session: planned.sessionKey }, "message accepted")
        return
      case "asked":
        this.#count(planned.told ? "pairing-request" : "pairing-repeat")
        if (planned.told) this.#log.info({ update, sender: planned.senderId }, "pairing request")
        return
      case "noted":
        this.#count(planned.what)
        if (planned.what === "no-mention") this.#noteDrop(planned.entry, planned.what)
        else if (planned.what.startsWith("bot-"))
          this.#log.info({ update, chat: planned.chatId }, planned.what.replaceAll("-", " "))
        else this.#log.debug({ update, chat: planned.chatId, what: planned.what }, "update noted")
        return
      case "skipped":
        this.#count(`skipped-${planned.reason}`)
        if (!quietReasons.has(planned.reason)) this.#noteDrop(planned.entry, planned.reason)
        else this.#log.debug({ update, chat: planned.chatId, reason: planned.reason }, "update skipped")
    }
  }

  #noteDrop({ deliveryId: update, payload }: IngestEntry, reason: string): void {
    const seen = isJsonObject(payload) ? payload : {}
    const text = (key: string) => (seen[key] === undefined || seen[key] === null ? undefined : String(seen[key]))
    this.#drops.note({ update, chat: text("chat") ?? "", topic: text("topic"), sender: text("sender"), reason })
  }

  #count(name: string, by = 1): void {
    if (by > 0) this.counters[name] = (this.counters[name] ?? 0) + by
  }
}

function movesOf(planned: readonly Planned[]): ChatMove[] {
  return planned.flatMap((each) => (each.kind === "noted" && each.move ? [each.move] : []))
}

/** Whoever is heard in a group proves that the bot is in it. */
function membershipOf(planned: Planned): Membership[] {
  if (planned.membership) return [planned.membership]
  const chatId =
    planned.kind === "accepted" && planned.route.chatKind !== "private"
      ? planned.route.chatId
      : planned.kind === "noted" && planned.historyOf !== undefined
        ? planned.chatId
        : undefined
  return chatId === undefined ? [] : [{ chatId, isMember: true }]
}

type Accepted = Extract<Planned, { kind: "accepted" }>

/**
 * Of each session the last message of the batch: that is where it was last heard from. Direct chats count for the main
 * session, also where they have sessions of their own: it is where `last` is looked for.
 */
function lastToRemember(planned: readonly Planned[]): Map<string, Route> {
  // A group that shares the main session is not where its owner is looked for.
  const isElsewhere = ({ route, sessionKey }: Accepted) =>
    route.chatKind !== "private" && sessionKey === mainKey(agentOf(sessionKey))
  const accepted = planned.filter(
    (each): each is Accepted => each.kind === "accepted" && each.remember && !isElsewhere(each),
  )
  return new Map(
    accepted.map(({ route, sessionKey }) => [
      route.chatKind === "private" ? mainKey(agentOf(sessionKey)) : sessionKey,
      route,
    ]),
  )
}

function agentOf(sessionKey: string): string {
  return agentOfKey(sessionKey) ?? "main"
}
