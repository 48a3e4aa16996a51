// Who the bot is: for people, and for groups, where it does not know without its name when it is called.
import type { Clock, Log } from "../../kernel/index.ts"
import type { Client } from "./client.ts"
import { describeFailure } from "./failure.ts"

export interface BotIdentity {
  name: string
  /** Its private chats can have topics. */
  hasTopics: boolean
}

const timeoutMs = 10_000
const retryMs = { first: 1_000, most: 60_000 }

/** Asks until the platform answers; undefined when stopped or refused. `onAsked`: the first try is over. */
export async function identifyBot(options: {
  client: Client
  clock: Clock
  log: Log
  signal: AbortSignal
  onIdentity: (identity: BotIdentity) => void
  onAsked: () => void
}): Promise<void> {
  const { client, clock, log, signal, onIdentity, onAsked } = options
  for (let delayMs = retryMs.first; !signal.aborted; delayMs = Math.min(delayMs * 2, retryMs.most)) {
    const me = await client.call("getMe", {}, { timeoutMs, signal })
    if (me.ok) {
      const { username, has_topics_enabled: hasTopics } = me.value
      onIdentity({ name: username, hasTopics: hasTopics === true })
      log.info({ bot: username }, "bot identified")
    }
    onAsked()
    if (me.ok || signal.aborted) return
    log.debug({ reason: describeFailure(me.failure) }, "bot not identified yet")
    // The intake meets the same refusal and tells of it.
    if (me.failure.kind === "refused" && me.failure.code < 429) return
    await clock.sleep(delayMs, signal).catch(() => undefined)
  }
}
