// A reply shown while it is written: deltas -> newest text -> one call at a time, a few a second. Decoration like typing:
// it shares typing's budget, never touches the final answer, and nothing of it is sent once the turn has ended.
import type { TurnObserver, TurnView } from "../../../agent/turn-input.ts"
import type { Background, Clock } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { Client } from "../client.ts"
import { type AccountSettings, maxTextChars } from "../settings.ts"
import { draftText, withThinking } from "../../shared/live-text.ts"
import { blockEnd } from "./draft-blocks.ts"
import { floodWaitMs } from "./outcome.ts"
import type { ActionBudget } from "./typing.ts"

const minIntervalMs = 300
const afterFailureMs = 1_000
/** The platform shows a draft for thirty seconds. */
const refreshMs = 20_000
/** A later text waits for it. The final message does not: it cuts what is still on its way. */
const callTimeoutMs = 1_500

/**
 * Calls on their way that what follows has to come after: drafts, reactions. By chat, in which several turns may run:
 * each topic has its own.
 */
export class DraftCalls {
  readonly #calls = new Map<string, Set<TrackedCall>>()

  /** Resolves when none of the chat is on its way: what is sent then comes after it. */
  async idle(chatId: string): Promise<void> {
    await Promise.all(this.#of(chatId).map(({ done }) => done))
  }

  /** The same, but those that take longer than `graceMs` are cut: a reply does not wait for decoration. */
  async finish(chatId: string, graceMs: number): Promise<void> {
    const calls = this.#of(chatId)
    if (calls.length === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, graceMs)
    await Promise.race([Promise.all(calls.map(({ done }) => done)), promise])
    clearTimeout(timer)
    const open = this.#calls.get(chatId)
    for (const call of calls) if (open?.has(call)) call.cut()
  }

  /** `cut` ends the call. */
  async track<T>(chatId: string, call: Promise<T>, cut: () => void = () => undefined): Promise<T> {
    const tracked: TrackedCall = { done: call.then(() => undefined), cut }
    const calls = this.#calls.get(chatId) ?? new Set()
    this.#calls.set(chatId, calls.add(tracked))
    const result = await call
    calls.delete(tracked)
    if (calls.size === 0 && this.#calls.get(chatId) === calls) this.#calls.delete(chatId)
    return result
  }

  #of(chatId: string): TrackedCall[] {
    return [...(this.#calls.get(chatId) ?? [])]
  }
}

interface TrackedCall {
  done: Promise<void>
  cut: () => void
}

export interface DraftOptions {
  view: TurnView
  client: () => Client | undefined
  route: Route
  settings: AccountSettings
  calls: DraftCalls
  budget: ActionBudget
  clock: Clock
  background: Background
  /** It was not shown. */
  onDropped: () => void
}

/** Private chats only: inside topics, or everywhere when the configuration says so. */
export function wantsDraft(route: Route, settings: AccountSettings, hasTopics: boolean): boolean {
  // Parts that are sent early say all that a draft would.
  if (settings.streamMode === "off" || settings.blockStreaming || route.chatKind !== "private") return false
  return settings.draftIn === "private" || (hasTopics && route.threadId !== undefined)
}

/**
 * The draft of the turn that answers this message. Made of the message alone: a click on a draft's stop button finds its
 * turn also when the gateway was restarted in between.
 */
export function draftIdOf(route: Route): number {
  return Number(route.messageId ?? 1)
}

export function startDraft(options: DraftOptions): Required<TurnObserver> {
  const { clock, background, settings, view } = options
  const limit = Math.min(settings.textChunkLimit, maxTextChars)
  const ended = new AbortController()
  let changed = Promise.withResolvers<void>()
  let written = ""
  /** Where the present step begins in it. */
  let stepStart = 0
  /** What the model thinks before it writes. */
  let thinking = ""
  let blockShown = 0
  const wanted = () => {
    if (settings.streamMode === "block") blockShown = blockEnd(written, blockShown, settings.draftChunk, limit)
    const shown = settings.streamMode === "block" ? written.slice(0, blockShown) : written
    return withThinking(draftText(shown, limit), thinking, limit)
  }
  background.run("draft", async () => {
    let shown = ""
    let shownAt = -Infinity
    while (!ended.signal.aborted) {
      changed = Promise.withResolvers<void>()
      const text = wanted()
      const isDue = text !== "" && (text !== shown || clock.monotonic() - shownAt >= refreshMs)
      if (isDue) {
        const attempt = await showDraft(options, text)
        if (attempt.kind === "refused") return
        if (attempt.kind === "shown") {
          shown = text
          shownAt = clock.monotonic()
        }
        const pauseMs = attempt.kind === "shown" ? minIntervalMs : attempt.pauseMs
        await clock.sleep(pauseMs, ended.signal).catch(() => undefined)
      } else {
        await Promise.race([changed.promise, clock.sleep(refreshMs, ended.signal).catch(() => undefined)])
      }
    }
  })
  return {
    onStep({ before }) {
      // After a restart the steps before it are known from the journal only.
      if (written.trim() === "") written = before ?? ""
      if (written.trim() !== "") written = `${written.trimEnd()}\n\n`
      thinking = ""
      stepStart = written.length
    },
    onDelta({ kind, text }) {
      if (kind === "text") {
        written += text
        thinking = ""
      } else if (view.reasoning === "stream") thinking += text
      changed.resolve()
    },
    onRestart() {
      written = written.slice(0, stepStart)
      blockShown = Math.min(blockShown, stepStart)
      thinking = ""
      changed.resolve()
      return ""
    },
    end() {
      ended.abort()
    },
  }
}

/** `refused`: this chat takes none. */
type Attempt = { kind: "shown" } | { kind: "later"; pauseMs: number } | { kind: "refused" }

async function showDraft(options: DraftOptions, text: string): Promise<Attempt> {
  const { client, route, budget, calls } = options
  const current = client()
  if (!current || !budget.take()) return { kind: "later", pauseMs: minIntervalMs }
  const cut = new AbortController()
  const call = current.call(
    "sendMessageDraft",
    {
      chat_id: Number(route.chatId),
      draft_id: draftIdOf(route),
      text,
      can_stop: true,
      // What was written becomes a message; until that is there, the words stay where they are.
      keep_on_stop: true,
      ...(route.threadId === undefined ? {} : { message_thread_id: Number(route.threadId) }),
    },
    { timeoutMs: callTimeoutMs, signal: cut.signal },
  )
  const result = await calls.track(route.chatId, call, () => cut.abort())
  if (result.ok) return { kind: "shown" }
  options.onDropped()
  const waitMs = floodWaitMs(result.failure)
  if (waitMs !== undefined) return { kind: "later", pauseMs: waitMs }
  const isRefused = result.failure.kind === "refused" && result.failure.code < 500
  return isRefused ? { kind: "refused" } : { kind: "later", pauseMs: afterFailureMs }
}
