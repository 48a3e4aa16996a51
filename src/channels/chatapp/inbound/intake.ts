// A batch of updates -> what it causes, in one transaction with the offset. What was seen before changes nothing.
import type { Update } from "grammy/types"
import { type Clock, type Ids, type Log, describeError } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import { type IngestEntry, type NewOutbox, type Store, type Write, isJoinOpen } from "../../../store/index.ts"
import type { PairingBook } from "../../pairing-book.ts"
import { type BotKey, knownDeliveries, readOffset, saveOffset } from "../../store.ts"
import type { Settings } from "../settings.ts"
import { planUpdate } from "./plan.ts"
import type { Effect, PlanContext, Planned } from "./planned.ts"

export interface IntakeOptions {
  bot: BotKey
  store: Store
  settings: Settings
  agentId: () => string
  book: PairingBook
  clock: Clock
  ids: Ids
  log: Log
  rememberRoute: (write: Write, sessionKey: string, agentId: string, route: Route) => void
  pairingReply: PlanContext["pairingReply"]
  /** What is done after the commit; never waited for. */
  onEffect: (effect: Effect) => void
}

/** Answers to strangers beyond a first burst are spaced, so that a flood of them never delays a reply. */
const pairingBurst = 20
const pairingSpacingMs = 200

export class Intake {
  readonly counters: Record<string, number> = {}
  lastInboundAt: number | undefined
  readonly #options: IntakeOptions
  readonly #log: Log
  /** When the answers to strangers that are planned so far will have left. */
  #pairingBusyUntil = 0

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#log = options.log
  }

  offset(): number | undefined {
    return readOffset(this.#options.store, this.#options.bot)
  }

  /** Durable when it resolves; when it rejects nothing has changed. */
  async take(updates: readonly Update[], nextOffset: number): Promise<void> {
    const { store, bot, book, agentId, rememberRoute } = this.#options
    const known = knownDeliveries(
      store,
      bot,
      updates.map((update) => String(update.update_id)),
    )
    const fresh = updates.filter((update) => !known.has(String(update.update_id)))
    const busyUntil = this.#pairingBusyUntil
    try {
      const planned = this.#planAll(fresh)
      const route = lastToRemember(planned)
      await store.ingestBatch(
        planned.map((each) => each.entry),
        async (write) => {
          saveOffset(write, bot, nextOffset)
          book.flush(write)
          if (route) rememberRoute(write, route.sessionKey, agentId(), route.route)
        },
      )
      book.settle()
      if (known.size > 0) this.#log.debug({ updates: known.size }, "updates seen before")
      this.#count("duplicate", known.size)
      for (const each of planned) this.#tell(each)
    } catch (error) {
      book.reload()
      this.#pairingBusyUntil = busyUntil
      throw error
    }
  }

  #planAll(updates: readonly Update[]): Planned[] {
    const { settings, bot, agentId, book, ids, clock, store } = this.#options
    const now = clock.now()
    const joinKeys = new Set<string>()
    const context: PlanContext = {
      settings: settings.account(bot.account),
      botId: bot.botId,
      agentId: agentId(),
      book,
      now,
      ids,
      pairingReply: (route, senderId, code) => this.#pace(this.#options.pairingReply(route, senderId, code)),
      isJoinOpen: (key) => joinKeys.has(key) || isJoinOpen(store, key),
    }
    return updates.map((update) => {
      try {
        const planned = planUpdate(update, context)
        for (const job of planned.entry.jobs ?? []) if (job.join) joinKeys.add(job.join.key)
        return planned
      } catch (error) {
        // One update of an unforeseen shape must not hold up all others for ever.
        this.#log.error({ err: error, update: update.update_id }, "update not understood, skipped")
        return { kind: "skipped", entry: this.#unreadable(update, error), reason: "unreadable" }
      }
    })
  }

  #unreadable(update: Update, error: unknown): IngestEntry {
    const { bot } = this.#options
    const payload = { skipped: "unreadable", error: describeError(error) }
    return { source: bot.channel, account: bot.botId, deliveryId: String(update.update_id), payload }
  }

  #pace(rows: NewOutbox[]): NewOutbox[] {
    const now = this.#options.clock.now()
    const earliest = now - pairingBurst * pairingSpacingMs
    this.#pairingBusyUntil = Math.max(this.#pairingBusyUntil, earliest) + pairingSpacingMs
    const runAt = this.#pairingBusyUntil
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
        this.#log.debug({ update, chat: planned.chatId, what: planned.what }, "update noted")
        return
      case "skipped":
        this.#count(`skipped-${planned.reason}`)
        if (planned.reason === "group") {
          const reason = "groups are not answered in this release"
          this.#log.info({ update, chat: planned.chatId, reason }, "skipping group message")
        } else this.#log.debug({ update, chat: planned.chatId, reason: planned.reason }, "update skipped")
    }
  }

  #count(name: string, by = 1): void {
    if (by > 0) this.counters[name] = (this.counters[name] ?? 0) + by
  }
}

/** All private messages share one session: the last of the batch is where it was last heard from. */
function lastToRemember(planned: readonly Planned[]): Extract<Planned, { kind: "accepted" }> | undefined {
  return planned.findLast((each) => each.kind === "accepted" && each.remember) as
    | Extract<Planned, { kind: "accepted" }>
    | undefined
}
