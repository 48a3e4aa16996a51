// A reply shown while it is written: deltas -> newest text -> one call at a time, a few a second. Decoration like typing:
// it shares typing's budget, never touches the final answer, and nothing of it is sent once the turn has ended.
import type { TurnObserver } from "../../../agent/turn-input.ts"
import type { Background, Clock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { Client } from "../client.ts"
import { type AccountSettings, maxTextChars } from "../settings.ts"
import { blockEnd, draftText } from "./draft-text.ts"
import type { ActionBudget } from "./typing.ts"

const minIntervalMs = 300
/** The platform shows a draft for thirty seconds. */
const refreshMs = 20_000
/** The final message waits for a draft that is on its way, so this bounds how late it can be. */
const callTimeoutMs = 1_500

/** Drafts that are on their way, by chat. One per account. */
export class DraftCalls {
  readonly #calls = new Map<string, Promise<void>>()

  /** Resolves when no draft of the chat is on its way: what is sent then comes after it. */
  async idle(chatId: string): Promise<void> {
    await this.#calls.get(chatId)
  }

  async track<T>(chatId: string, call: Promise<T>): Promise<T> {
    const done = call.then(() => undefined)
    this.#calls.set(chatId, done)
    const result = await call
    if (this.#calls.get(chatId) === done) this.#calls.delete(chatId)
    return result
  }
}

export interface DraftOptions {
  client: () => Client | undefined
  route: Route
  settings: AccountSettings
  calls: DraftCalls
  budget: ActionBudget
  clock: Clock
  background: Background
}

/** Private chats only: inside topics, or everywhere when the configuration says so. */
export function wantsDraft(route: Route, settings: AccountSettings, hasTopics: boolean): boolean {
  if (settings.streamMode === "off" || route.chatKind !== "private") return false
  return settings.draftIn === "private" || (hasTopics && route.threadId !== undefined)
}

export function startDraft(options: DraftOptions): Required<TurnObserver> {
  const { clock, background, settings } = options
  const limit = Math.min(settings.textChunkLimit, maxTextChars)
  const ended = new AbortController()
  let changed = Promise.withResolvers<void>()
  let written = ""
  let blockShown = 0
  const wanted = () => {
    if (settings.streamMode !== "block") return draftText(written, limit)
    blockShown = blockEnd(written, blockShown, settings.draftChunk, limit)
    return draftText(written.slice(0, blockShown), limit)
  }
  background.run("draft", async () => {
    let shown = ""
    let shownAt = -Infinity
    await changed.promise
    while (!ended.signal.aborted) {
      changed = Promise.withResolvers<void>()
      const text = wanted()
      const isDue = text !== "" && (text !== shown || clock.monotonic() - shownAt >= refreshMs)
      if (isDue) {
        const pauseMs = await showDraft(options, text)
        if (pauseMs === undefined) return
        shown = text
        shownAt = clock.monotonic()
        await clock.sleep(pauseMs, ended.signal).catch(() => undefined)
      } else {
        await Promise.race([changed.promise, clock.sleep(refreshMs, ended.signal).catch(() => undefined)])
      }
    }
  })
  return {
    onDelta({ kind, text }) {
      if (kind !== "text") return
      written += text
      changed.resolve()
    },
    end() {
      ended.abort()
      changed.resolve()
    },
  }
}

/** How long to wait before the next one; undefined when this chat takes none. */
async function showDraft(options: DraftOptions, text: string): Promise<number | undefined> {
  const { client, route, budget, calls } = options
  const current = client()
  if (!current || !budget.take()) return minIntervalMs
  const call = current.call(
    "sendMessageDraft",
    {
      chat_id: Number(route.chatId),
      draft_id: Number(route.messageId ?? 1),
      text,
      ...(route.threadId === undefined ? {} : { message_thread_id: Number(route.threadId) }),
    },
    { timeoutMs: callTimeoutMs },
  )
  const result = await calls.track(route.chatId, call)
  if (result.ok || result.failure.kind !== "refused") return minIntervalMs
  const { code, retryAfterSeconds } = result.failure
  if (code === 429) return Math.max(minIntervalMs, (retryAfterSeconds ?? 1) * 1000)
  return code >= 500 ? minIntervalMs : undefined
}
