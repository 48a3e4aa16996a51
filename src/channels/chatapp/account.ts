// One bot account: its token, its two clients (polling and calls keep connections of their own), its poll loop, its
// counters. The channel gives it updates' meaning through `intake`; it owns everything that has to be stopped.
import {
  type Background,
  type Clock,
  type CrashPoint,
  type Log,
  type Redactor,
  describeError,
} from "../../kernel/index.ts"
import type { ChannelAccountStatus } from "../contract.ts"
import type { BotKey } from "../store.ts"
import { type Client, createClient } from "./client.ts"
import { describeFailure } from "./failure.ts"
import type { Intake } from "./inbound/intake.ts"
import { DraftCalls } from "./outbound/draft.ts"
import { SendPacer } from "./outbound/pacing.ts"
import { ActionBudget } from "./outbound/typing.ts"
import { type PollState, type PollTiming, defaultPollTiming, pollUpdates } from "./polling.ts"
import { type Settings, channelName } from "./settings.ts"
import { type TokenResult, botIdOf, resolveToken } from "./token.ts"

export interface AccountOptions {
  accountId: string
  settings: Settings
  environmentToken: string | undefined
  stateFolder: string
  clock: Clock
  log: Log
  redactor: Redactor
  background: Background
  crashPoint: CrashPoint
  createIntake: (bot: BotKey) => Intake
  pollTiming?: Partial<PollTiming>
}

const getMeTimeoutMs = 10_000
const getMeRetryMs = { first: 1_000, most: 60_000 }

interface Running {
  bot: BotKey
  calls: Client
  polls: Client
  intake: Intake
  abort: AbortController
  done: Promise<void>
}

type AccountState = Pick<ChannelAccountStatus, "state" | "error">

export class Account {
  readonly id: string
  readonly budget: ActionBudget
  readonly pacer: SendPacer
  readonly drafts = new DraftCalls()
  readonly #options: AccountOptions
  readonly #log: Log
  #token: TokenResult = { kind: "none" }
  #state: AccountState = { state: "off" }
  #running: Running | undefined
  #botName: string | undefined
  #hasTopics = false
  #lastOutboundAt: number | undefined

  constructor(options: AccountOptions) {
    this.#options = options
    this.id = options.accountId
    this.#log = options.log.child({ part: channelName, account: options.accountId })
    this.budget = new ActionBudget(options.clock)
    this.pacer = new SendPacer(options.clock)
  }

  /** The client for calls; undefined while the account has no usable token. */
  get client(): Client | undefined {
    return this.#running?.calls
  }

  get botId(): string | undefined {
    return this.#running?.bot.botId
  }

  /** The bot's private chats can have topics; false until the platform has said so. */
  get hasTopics(): boolean {
    return this.#hasTopics
  }

  noteSent(): void {
    this.#lastOutboundAt = this.#options.clock.now()
  }

  /** `taken` are the bots that other accounts poll already: two polls of one bot end each other. */
  async start(taken: ReadonlyMap<string, string>): Promise<void> {
    const { settings, environmentToken, stateFolder, redactor } = this.#options
    const own = settings.account(this.id)
    if (!own.enabled) return this.#become({ state: "off" })
    this.#token = resolveToken({ settings: own, environmentToken, stateFolder, redactor, log: this.#log })
    if (this.#token.kind === "none") return this.#become({ state: "off" })
    if (this.#token.kind === "error") return this.#fail(this.#token.message)
    const { token } = this.#token
    const bot: BotKey = { channel: channelName, account: this.id, botId: botIdOf(token) }
    const other = taken.get(bot.botId)
    if (other !== undefined) return this.#fail(`the bot of this account is already used by account ${other}`)
    this.#become({ state: "starting" })
    const [calls, polls] = await Promise.all([
      createClient({ token, apiRoot: own.apiRoot }),
      createClient({ token, apiRoot: own.apiRoot }),
    ])
    const running: Running = {
      bot,
      calls,
      polls,
      intake: this.#options.createIntake(bot),
      abort: new AbortController(),
      done: Promise.resolve(),
    }
    this.#running = running
    this.#warnOfNames()
    this.#log.info({ bot: bot.botId, source: this.#token.source }, "channel account started")
    const { promise, resolve } = Promise.withResolvers<void>()
    running.done = promise
    this.#options.background.run(`poll ${channelName} ${this.id}`, async () => {
      await Promise.all([this.#poll(running), this.#identify(running)]).finally(resolve)
    })
  }

  /** Stops taking in. Calls still work: what is in the outbox may leave while the gateway stops. */
  async stop(): Promise<void> {
    this.#running?.abort.abort()
    await this.#running?.done
    this.#running?.polls.close()
    this.#become({ state: "off" })
  }

  /** After `stop`, when another account object takes this one's place. */
  dispose(): void {
    this.#running?.calls.close()
  }

  status(): ChannelAccountStatus {
    const own = this.#options.settings.account(this.id)
    const lastInboundAt = this.#running?.intake.lastInboundAt
    return {
      channel: channelName,
      account: this.id,
      enabled: own.enabled,
      configured: this.#token.kind === "found",
      ...this.#state,
      mode: "polling",
      tokenSource: this.#token.kind === "none" ? "none" : this.#token.source,
      ...(this.#botName === undefined ? {} : { botName: this.#botName }),
      ...(lastInboundAt === undefined ? {} : { lastInboundAt }),
      ...(this.#lastOutboundAt === undefined ? {} : { lastOutboundAt: this.#lastOutboundAt }),
      counters: { ...this.#running?.intake.counters },
    }
  }

  /** The loop handles what it foresees; after anything else it begins again from the store's offset. */
  async #poll(running: Running): Promise<void> {
    const { signal } = running.abort
    const timing = { ...defaultPollTiming, ...this.#options.pollTiming }
    while (!signal.aborted) {
      try {
        return await this.#pollOnce(running, timing)
      } catch (error) {
        this.#log.error({ err: error }, "polling failed unexpectedly, will begin again")
        this.#follow({ kind: "waiting", reason: describeError(error) })
        await this.#options.clock.sleep(timing.restartMs, signal).catch(() => undefined)
      }
    }
  }

  async #pollOnce(running: Running, timing: PollTiming): Promise<void> {
    const { clock, crashPoint } = this.#options
    await pollUpdates({
      client: running.polls,
      clock,
      crashPoint,
      log: this.#log,
      signal: running.abort.signal,
      offset: running.intake.offset(),
      store: (updates, nextOffset) => running.intake.take(updates, nextOffset),
      onState: (state) => this.#follow(state),
      timing,
    })
  }

  /** The bot's name is for people; taking in private messages does not wait for it. */
  async #identify(running: Running): Promise<void> {
    const { signal } = running.abort
    for (let delayMs = getMeRetryMs.first; !signal.aborted; delayMs = Math.min(delayMs * 2, getMeRetryMs.most)) {
      const me = await running.calls.call("getMe", {}, { timeoutMs: getMeTimeoutMs, signal })
      if (me.ok) {
        this.#botName = me.value.username
        this.#hasTopics = me.value.has_topics_enabled === true
        this.#log.info({ bot: me.value.username }, "bot identified")
        return
      }
      if (signal.aborted) return
      this.#log.debug({ reason: describeFailure(me.failure) }, "bot not identified yet")
      // The poll meets the same refusal and tells of it.
      if (me.failure.kind === "refused" && me.failure.code < 429) return
      await this.#options.clock.sleep(delayMs, signal).catch(() => undefined)
    }
  }

  #follow(state: PollState): void {
    if (state.kind === "running") this.#become({ state: "running" })
    else this.#become({ state: state.kind, error: this.#options.redactor.redact(state.reason) })
  }

  #fail(message: string): void {
    this.#become({ state: "stopped", error: this.#options.redactor.redact(message) })
    this.#log.error({ reason: message }, "channel account not started")
  }

  #become(state: AccountState): void {
    this.#state = state
  }

  /** Names can change hands; ids cannot. */
  #warnOfNames(): void {
    const { names } = this.#options.settings.account(this.id).allow
    if (names.size === 0) return
    const hint = "An @name can pass to somebody else; list the numeric user id instead (it stands in the log)"
    this.#log.warn({ names: [...names].map((name) => `@${name}`), hint }, "allowFrom lists names")
  }
}
