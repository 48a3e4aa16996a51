// How an account gets its updates, by polls or by webhook; both give them to the same intake. Each runs until the signal
// aborts or the platform refuses the token, and starts again by itself after anything unforeseen.
import { type Clock, type CrashPoint, type Ids, type Log, type Redactor, describeError } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import type { BotKey } from "../store.ts"
import type { Client } from "./client.ts"
import type { Intake } from "./inbound/intake.ts"
import { type PollState, type PollTiming, pollUpdates } from "./polling.ts"
import { takePollerLock } from "./poller-lock.ts"
import { type AccountSettings, channelName } from "./settings.ts"
import { isUpdate } from "./updates/batch.ts"
import { webhookAddress, webhookWarnings } from "./webhook/address.ts"
import { UpdateCollector } from "./webhook/collector.ts"
import type { WebhookListeners } from "./webhook/listener.ts"
import { type WebhookReport, keepWebhook } from "./webhook/registration.ts"
import { webhookSecret } from "./webhook/secret.ts"

export interface ReceiveOptions {
  bot: BotKey
  settings: AccountSettings
  client: Client
  intake: Intake
  store: Store
  listeners: WebhookListeners
  clock: Clock
  ids: Ids
  log: Log
  redactor: Redactor
  crashPoint: CrashPoint
  stateFolder: string
  /** Where the gateways of this user keep one another from polling the same bot. */
  runtimeFolder: string
  timing: PollTiming
  signal: AbortSignal
  /** Resolves when the bot's name is known, or need not be waited for any longer. */
  named: () => Promise<void>
  onState: (state: PollState) => void
  /** The platform has answered a poll. */
  onAnswer: () => void
  onReport: (report: WebhookReport) => void
}

export async function receiveByPolling(options: ReceiveOptions): Promise<void> {
  await options.named()
  const lock = await waitForTurn(options)
  try {
    await again(options, "polling failed unexpectedly, will begin again", () => pollOnce(options))
  } finally {
    lock?.release()
  }
}

async function pollOnce({ intake, store: _store, ...options }: ReceiveOptions): Promise<void> {
  await pollUpdates({
    ...options,
    offset: intake.offset(),
    store: (updates, nextOffset, nameless) => intake.take(updates, nextOffset, nameless),
  })
}

/** Waits until no other gateway of this machine polls the bot. Undefined when stopped, or where locks cannot be had. */
async function waitForTurn(options: ReceiveOptions): Promise<{ release(): void } | undefined> {
  const { bot, settings, stateFolder, runtimeFolder, clock, log, signal, timing, onState } = options
  const owner = { pid: process.pid, stateFolder, account: bot.account }
  for (let tries = 0; !signal.aborted; tries += 1) {
    const lock = takePollerLock({ folder: runtimeFolder, apiRoot: settings.apiRoot, botId: bot.botId, owner })
    if (lock.kind === "held") return lock
    if (lock.kind === "unavailable") {
      log.warn(
        { reason: lock.reason },
        "no lock for the poll: a second gateway of this bot is noticed by the platform only",
      )
      return undefined
    }
    const reason = `another gateway on this machine polls this bot (${lock.holder})`
    const hint = "Stop it, or give each gateway its own bot; this one takes over when the other ends"
    if (tries === 0) log.warn({ reason, hint }, "polling waits for another gateway")
    onState({ kind: "waiting", reason })
    await clock.sleep(timing.lockRetryMs, signal).catch(() => undefined)
  }
  return undefined
}

/** Listens, and resolves with what keeps the platform told of it. Rejects with `port-in-use` or `conflict`. */
export async function openWebhook(options: ReceiveOptions, webhookUrl: string): Promise<() => Promise<void>> {
  const { bot, settings, intake, store, listeners, ids, redactor, log, signal, named } = options
  const address = webhookAddress(settings, webhookUrl)
  const configured = settings.webhookSecret
  const secret = await webhookSecret({ configured, accountId: bot.account, store, ids, redactor })
  const collector = new UpdateCollector<unknown>(async (bodies) => {
    await named()
    const isUnread = (body: unknown) => !isUpdate(body)
    await intake.take(bodies.filter(isUpdate), undefined, bodies.filter(isUnread))
  })
  const close = await listeners.add(address, {
    account: bot.account,
    secret,
    take: (update) => collector.add(update),
  })
  log.info({ bind: address.bind, path: address.path }, "webhook listening")
  for (const warning of webhookWarnings(address, !isPublicPlatform(settings.apiRoot))) log.warn(warning)
  const key = `${channelName}.webhook.${bot.account}.${bot.botId}`
  return async () => {
    try {
      await again(options, "webhook registration failed unexpectedly, will begin again", () =>
        keepWebhook({
          ...options,
          url: address.url,
          secret,
          memory: { get: () => store.meta.get(key), set: (value) => store.meta.set(key, value) },
        }),
      )
      // A refused token ends the registration; what the platform still sends is taken in.
      await aborted(signal)
    } finally {
      await close()
      await collector.idle()
    }
  }
}

function isPublicPlatform(apiRoot: string): boolean {
  return new URL(apiRoot).hostname === "api.telegram.org"
}

/** The work handles what it foresees; after anything else it begins anew. */
async function again(options: ReceiveOptions, message: string, work: () => Promise<void>): Promise<void> {
  const { signal, clock, log, timing, onState } = options
  while (!signal.aborted) {
    try {
      return await work()
    } catch (error) {
      log.error({ err: error }, message)
      onState({ kind: "waiting", reason: describeError(error) })
      await clock.sleep(timing.restartMs, signal).catch(() => undefined)
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener("abort", () => resolve(), { once: true })
  await promise
}
