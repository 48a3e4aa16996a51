// One bot account: its token, its two clients (intake and calls keep connections of their own), how it gets updates,
// its counters. The channel gives it updates' meaning through `intake`; it owns everything that has to be stopped.
import {
  AppError,
  type Background,
  type Clock,
  type CrashPoint,
  type Ids,
  type Log,
  type Redactor,
  runWithTimeout,
} from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import type { ChannelAccountStatus } from "../contract.ts"
import type { NamePins } from "../pins.ts"
import type { BotKey } from "../store.ts"
import { type Client, createClient } from "./client.ts"
import { MenuRegistration } from "./commands/registration.ts"
import { type BotIdentity, identifyBot, readIdentity } from "./identify.ts"
import { describeFailure, isTokenRefused } from "./failure.ts"
import type { Intake } from "./inbound/intake.ts"
import { proxySecrets } from "./network.ts"
import { DraftCalls } from "./outbound/draft.ts"
import { SendPacer } from "./outbound/pacing.ts"
import { ActionBudget } from "./outbound/typing.ts"
import { type PollState, type PollTiming, defaultPollTiming } from "./polling.ts"
import { type ReceiveOptions, openWebhook, receiveByPolling } from "./receive.ts"
import { type AccountSettings, type Settings, channelName } from "./settings.ts"
import { type TokenResult, botIdOf, resolveToken } from "./token.ts"
import type { WebhookListeners } from "./webhook/listener.ts"
import type { WebhookReport } from "./webhook/registration.ts"

export interface AccountOptions {
  accountId: string
  settings: Settings
  environmentToken: string | undefined
  stateFolder: string
  runtimeFolder: string
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  redactor: Redactor
  background: Background
  crashPoint: CrashPoint
  listeners: WebhookListeners
  pins: NamePins
  createIntake: (bot: BotKey) => Intake
  /** What the menu offers beside commands. */
  skills?: () => readonly { name: string; description: string }[]
  pollTiming?: Partial<PollTiming>
}

/** Taking in waits so long for the first answer, and then goes on without a name. */
const nameWaitMs = 2_000
/** Less than whoever asks waits, so that silence is an answer, too. */
const checkTimeoutMs = 1_800

interface Running {
  bot: BotKey
  calls: Client
  receives: Client
  intake: Intake
  abort: AbortController
  startedAt: number
  /** Settles when the platform has been asked for the bot's name once. */
  asked: PromiseWithResolvers<void>
  done: Promise<void>
}

type AccountState = Pick<ChannelAccountStatus, "state" | "error">

export class Account {
  readonly id: string
  readonly budget: ActionBudget
  readonly pacer: SendPacer
  readonly drafts = new DraftCalls()
  readonly pins: NamePins
  readonly #options: AccountOptions
  readonly #menu: MenuRegistration
  readonly #log: Log
  #token: TokenResult = { kind: "none" }
  #state: AccountState = { state: "off" }
  #running: Running | undefined
  #connection = ""
  #identity: BotIdentity | undefined
  #lastOutboundAt: number | undefined
  #dropped = 0
  #lastPollAt: number | undefined
  #webhook: WebhookReport | undefined
  #sends = 0
  #isReplaced = false
  /** What the platform said of the token when it was last asked. */
  #refusal: string | undefined
  /** Why it gave no answer when it was last asked. */
  #silence: string | undefined

  constructor(options: AccountOptions) {
    this.#options = options
    this.id = options.accountId
    this.pins = options.pins
    this.#log = options.log.child({ part: channelName, account: options.accountId })
    this.#menu = new MenuRegistration({ ...options, log: this.#log, settings: () => options.settings.account(this.id) })
    this.budget = new ActionBudget(options.clock)
    this.pacer = new SendPacer(options.clock)
  }

  /** The client for calls; undefined while the account has no usable token. */
  get client(): Client | undefined {
    return this.#running?.calls
  }

  /** Aborts when the account stops. */
  get stopping(): AbortSignal | undefined {
    return this.#running?.abort.signal
  }

  get botId(): string | undefined {
    return this.#running?.bot.botId
  }

  /** What takes updates in; undefined while the account has no usable token. */
  get intake(): Intake | undefined {
    return this.#running?.intake
  }

  /** Its username; undefined until the platform has said it. */
  get botName(): string | undefined {
    return this.#identity?.name
  }

  /** The bot's private chats can have topics; false until the platform has said so. */
  get hasTopics(): boolean {
    return this.#identity?.hasTopics ?? false
  }

  /** The configuration of the menu may have changed. */
  refreshMenu(): void {
    const running = this.#running
    if (!running || running.abort.signal.aborted) return
    this.#menu.update({ botId: running.bot.botId, client: running.calls, signal: running.abort.signal })
  }

  /** Decoration that did not work. */
  noteDropped(): void {
    this.#dropped += 1
  }

  noteSent(): void {
    this.#lastOutboundAt = this.#options.clock.now()
  }

  /** It works, or tries to, with the connection that the configuration names now: nothing has to be started anew. */
  isCurrent(): boolean {
    const { state } = this.#state
    return state !== "off" && state !== "stopped" && this.#connection === this.#describeConnection()
  }

  /**
   * `taken` are the bots that other accounts use already: two polls of one bot end each other. Rejects only when
   * the webhook's listener cannot listen; the account is stopped then.
   */
  async start(taken: ReadonlyMap<string, string>): Promise<void> {
    const { settings } = this.#options
    const own = settings.account(this.id)
    if (!own.enabled) return this.#become({ state: "off" })
    this.#token = this.#resolveToken(own)
    if (this.#token.kind === "none") return this.#become({ state: "off" })
    if (this.#token.kind === "error") return this.#fail(this.#token.message)
    const { token, source } = this.#token
    const bot: BotKey = { channel: channelName, account: this.id, botId: botIdOf(token) }
    const other = taken.get(bot.botId)
    if (other !== undefined) return this.#fail(`the bot of this account is already used by account ${other}`)
    this.#become({ state: "starting" })
    this.#connection = this.#describeConnection()
    const running = await this.#connect(bot, own, token)
    this.#running = running
    this.#identity = await readIdentity(this.#options.store, bot.botId)
    if (this.#identity) running.asked.resolve()
    try {
      const receive = await this.#prepareReceiving(running, own)
      this.#log.info({ bot: bot.botId, source, mode: modeOf(own) }, "channel account started")
      this.#warnOfNames(own)
      this.#run(running, receive)
      this.refreshMenu()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      this.#fail(error.message)
      if (error.code !== "conflict") throw error
    }
  }

  /**
   * Asks the platform whether it is there and still knows the bot, which a poll that it holds open learns only later, and one
   * whose connection has died without a word only when its time is over. Never rejects.
   */
  async check(signal: AbortSignal): Promise<void> {
    const running = this.#running
    if (!running || running.abort.signal.aborted) return
    const me = await running.calls.call("getMe", {}, { timeoutMs: checkTimeoutMs, signal })
    if (this.#running !== running || running.abort.signal.aborted || signal.aborted) return
    if (me.ok) this.#identified()
    const isRefused = !me.ok && isTokenRefused(me.failure)
    this.#refusal = isRefused ? describeFailure(me.failure) : undefined
    this.#silence = me.ok || me.failure.kind === "refused" ? undefined : describeFailure(me.failure)
  }

  /** The bot is known to the platform: it works, though its first poll is still held open. */
  #identified(): void {
    if (this.#state.state === "starting") this.#become({ state: "running" })
  }

  /** Stops taking in. Calls still work: what is in the outbox may leave while the gateway stops. */
  async stop(): Promise<void> {
    this.#running?.abort.abort()
    await this.#running?.done
    this.#running?.receives.close()
    this.#become({ state: "off" })
  }

  /** A send of the outbox begins with this account's client. Returns what must be called when it has ended. */
  beginSend(): () => void {
    this.#sends += 1
    return () => {
      this.#sends -= 1
      this.#closeWhenIdle()
    }
  }

  /** After `stop`, when another account object takes this one's place. What is being sent is not cut: it has its own limit. */
  dispose(): void {
    this.#isReplaced = true
    this.#closeWhenIdle()
  }

  #closeWhenIdle(): void {
    if (this.#isReplaced && this.#sends === 0) this.#running?.calls.close()
  }

  status(): ChannelAccountStatus {
    const own = this.#options.settings.account(this.id)
    const intake = this.#running?.intake
    const pins = this.pins.list().map(({ name, senderId, pinnedAt }) => ({ name: `@${name}`, id: senderId, pinnedAt }))
    return {
      channel: channelName,
      account: this.id,
      enabled: own.enabled,
      configured: this.#token.kind === "found",
      ...this.#stateNow(),
      mode: modeOf(own),
      tokenSource: this.#token.kind === "none" ? "none" : this.#token.source,
      ...present({
        name: own.name,
        botName: this.#identity?.name,
        startedAt: this.#running?.startedAt,
        lastInboundAt: intake?.lastInboundAt,
        lastOutboundAt: this.#lastOutboundAt,
        lastPollAt: this.#lastPollAt,
        webhook: this.#webhook,
      }),
      pins,
      counters: {
        ...intake?.counters,
        ...(this.pins.refused > 0 ? { "name-refused": this.pins.refused } : {}),
        ...(this.#dropped > 0 ? { "decoration-dropped": this.#dropped } : {}),
      },
    }
  }

  #stateNow(): AccountState {
    const { redact } = this.#options.redactor
    if (this.#refusal !== undefined && this.#state.state !== "off") {
      return { state: "stopped", error: redact(this.#refusal) }
    }
    if (this.#silence === undefined || this.#state.state !== "running") return this.#state
    return { state: "waiting", error: redact(this.#silence) }
  }

  #resolveToken(own: AccountSettings): TokenResult {
    const { environmentToken, stateFolder, redactor } = this.#options
    return resolveToken({ settings: own, environmentToken, stateFolder, redactor, log: this.#log })
  }

  /** Everything that a running account cannot take over by itself. */
  #describeConnection(): string {
    const own = this.#options.settings.account(this.id)
    const { enabled, apiRoot, proxy, network, webhookUrl, webhookPath, webhookBind, webhookSecret } = own
    const webhook = webhookUrl === undefined ? [] : [webhookUrl, webhookPath, webhookBind, webhookSecret]
    const token = this.#resolveToken(own)
    return JSON.stringify([enabled, token.kind === "found" ? token.token : token, apiRoot, proxy, network, webhook])
  }

  async #connect(bot: BotKey, own: AccountSettings, token: string): Promise<Running> {
    const { redactor, clock } = this.#options
    for (const secret of proxySecrets(own.proxy)) redactor.add(secret)
    const network = { proxy: own.proxy, autoSelectFamily: own.network.autoSelectFamily }
    const connect = () => createClient({ token, apiRoot: own.apiRoot, network })
    const [calls, receives] = await Promise.all([connect(), connect()])
    return {
      bot,
      calls,
      receives,
      intake: this.#options.createIntake(bot),
      abort: new AbortController(),
      startedAt: clock.now(),
      asked: Promise.withResolvers<void>(),
      done: Promise.resolve(),
    }
  }

  async #prepareReceiving(running: Running, own: AccountSettings): Promise<() => Promise<void>> {
    const { pollTiming, clock } = this.#options
    const options: ReceiveOptions = {
      ...this.#options,
      bot: running.bot,
      settings: own,
      client: running.receives,
      intake: running.intake,
      log: this.#log,
      timing: { ...defaultPollTiming, ...pollTiming },
      signal: running.abort.signal,
      named: () => waitForName(running),
      onState: (state) => this.#follow(state),
      onAnswer: () => {
        this.#lastPollAt = clock.now()
        this.#answered()
      },
      onReport: (report) => (this.#webhook = report),
    }
    if (own.webhookUrl !== undefined) return await openWebhook(options, own.webhookUrl)
    return () => receiveByPolling(options)
  }

  #run(running: Running, receive: () => Promise<void>): void {
    const { promise, resolve } = Promise.withResolvers<void>()
    running.done = promise
    const { background, clock, store } = this.#options
    background.run(`receive ${channelName} ${this.id}`, async () => {
      const identifying = identifyBot({
        client: running.calls,
        store,
        botId: running.bot.botId,
        clock,
        log: this.#log,
        signal: running.abort.signal,
        onIdentity: (identity) => {
          this.#identity = identity
          this.#identified()
        },
        onAsked: running.asked.resolve,
      })
      await Promise.all([receive(), identifying]).finally(resolve)
    })
  }

  /** What an earlier check has met is over. */
  #answered(): void {
    this.#refusal = undefined
    this.#silence = undefined
  }

  #follow(state: PollState): void {
    if (state.kind === "running") {
      this.#answered()
      this.#become({ state: "running" })
    } else this.#become({ state: state.kind, error: this.#options.redactor.redact(state.reason) })
  }

  #fail(message: string): void {
    this.#become({ state: "stopped", error: this.#options.redactor.redact(message) })
    this.#log.error({ reason: message }, "channel account not started")
  }

  #become(state: AccountState): void {
    this.#state = state
  }

  /** Names can change hands; ids cannot. */
  #warnOfNames({ listedNames }: AccountSettings): void {
    if (listedNames.size === 0) return
    const hint =
      "An @name counts for the first id that writes under it; better list that id (svc channels status --json)"
    this.#log.warn({ names: [...listedNames].map((name) => `@${name}`), hint }, "allow lists hold names")
  }
}

/** The first updates are judged with the bot's name known, but they do not wait for it for ever. */
async function waitForName({ asked, abort }: Running): Promise<void> {
  await runWithTimeout(nameWaitMs, "getMe", () => asked.promise, abort.signal).catch(() => undefined)
}

function modeOf(settings: AccountSettings): "polling" | "webhook" {
  return settings.webhookUrl === undefined ? "polling" : "webhook"
}

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Without the fields that are undefined. */
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>
}
