// Who the bot is: for people, and for groups, where it does not know without its name when it is called. Kept, so that
// after a restart the first updates are judged by it although the platform has not said it yet.
import { type Clock, type Log, isJsonObject } from "../../kernel/index.ts"
import type { Store } from "../../store/index.ts"
import type { Client } from "./client.ts"
import { describeFailure } from "./failure.ts"
import { channelName } from "./settings.ts"

export interface BotIdentity {
  name: string
  /** Its private chats can have topics. */
  hasTopics: boolean
}

const timeoutMs = 10_000
const retryMs = { first: 1_000, most: 60_000 }

export async function readIdentity(store: Store, botId: string): Promise<BotIdentity | undefined> {
  const kept = await store.meta.get(keyOf(botId))
  if (!isJsonObject(kept) || typeof kept["name"] !== "string") return undefined
  return { name: kept["name"], hasTopics: kept["hasTopics"] === true }
}

function keyOf(botId: string): string {
  return `${channelName}.bot.${botId}`
}

/**
 * Asks until the platform says it, and keeps the answer. A refusal is asked about again like silence: the intake, which goes
 * on as well, needs the name once the token is taken. `onAsked`: the first try is over.
 */
export async function identifyBot(options: {
  client: Client
  store: Store
  botId: string
  clock: Clock
  log: Log
  signal: AbortSignal
  onIdentity: (identity: BotIdentity) => void
  onAsked: () => void
}): Promise<void> {
  const { client, store, botId, clock, log, signal, onIdentity, onAsked } = options
  for (let delayMs = retryMs.first; !signal.aborted; delayMs = Math.min(delayMs * 2, retryMs.most)) {
    const me = await client.call("getMe", {}, { timeoutMs, signal })
    if (me.ok) {
      const { username, has_topics_enabled: hasTopics } = me.value
      const identity = { name: username, hasTopics: hasTopics === true }
      onIdentity(identity)
      log.info({ bot: username }, "bot identified")
      onAsked()
      // Asked again at the next start: no reason to stop for.
      await store.meta
        .set(keyOf(botId), identity)
        .catch((error: unknown) => log.warn({ err: error }, "the bot's name was not kept"))
    } else onAsked()
    if (me.ok || signal.aborted) return
    log.debug({ reason: describeFailure(me.failure) }, "bot not identified yet")
    await clock.sleep(delayMs, signal).catch(() => undefined)
  }
}
