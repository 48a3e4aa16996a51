// Answers while they are written: a turn's deltas -> whole words -> what has come since, a few times a second, to whoever
// listens. A preview in memory; what counts is the message at the turn's end.
import type { TurnInput, TurnObserver, TurnView } from "../../agent/turn-input.ts"
import { withThinking } from "../shared/live-text.ts"
import { LiveTexts } from "../shared/live.ts"
import type { WebDraft } from "./contract.ts"

export interface LiveOptions {
  newStream: () => string
  /** To the pages; nothing is made of it while there is none. */
  publish: (draft: () => WebDraft) => void
}

interface Writing {
  chat: string
  /** What pages have been told. */
  told: { stream: string; length: number; thinking: string }
  thinking: string
}

/** As fast as people read it as flowing. */
const everyMs = 80

export class WebLive {
  readonly #texts: LiveTexts
  readonly #publish: LiveOptions["publish"]
  readonly #writing = new Map<string, Writing>()
  readonly #due = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor({ newStream, publish }: LiveOptions) {
    this.#texts = new LiveTexts(newStream)
    this.#publish = publish
    this.#texts.onChange((runId) => this.#changed(runId))
  }

  observe({ sessionKey }: TurnInput, runId: string, view: TurnView): TurnObserver {
    const writing: Writing = { chat: sessionKey, told: { stream: "", length: 0, thinking: "" }, thinking: "" }
    this.#writing.set(runId, writing)
    const texts = this.#texts.observe(runId)
    this.#changed(runId)
    return {
      onStep(step) {
        writing.thinking = ""
        texts.onStep?.(step)
      },
      onDelta: (delta) => {
        if (delta.kind === "text") return texts.onDelta?.(delta)
        if (view.reasoning !== "stream") return
        writing.thinking += delta.text
        this.#changed(runId)
      },
      onRestart() {
        writing.thinking = ""
        return texts.onRestart?.() ?? ""
      },
      end: () => {
        this.#writing.delete(runId)
        this.#due.delete(runId)
        texts.end()
        this.#publish(() => ({ chat: writing.chat, runId, stream: writing.told.stream, at: 0, text: "", isOver: true }))
      },
    }
  }

  /** Of one chat, whole. */
  of(chat: string): WebDraft[] {
    const own = [...this.#writing].filter(([, writing]) => writing.chat === chat)
    return own.map(([runId, writing]) => {
      const { stream = "", text = "" } = this.#texts.of(runId) ?? {}
      return { chat, runId, stream, at: 0, text, ...thinkingOf(writing) }
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #changed(runId: string): void {
    if (!this.#writing.has(runId)) return
    this.#due.add(runId)
    this.#timer ??= setTimeout(() => this.#tell(), everyMs)
  }

  #tell(): void {
    this.#timer = undefined
    for (const runId of this.#due) {
      const writing = this.#writing.get(runId)
      if (writing) this.#tellOf(runId, writing)
    }
    this.#due.clear()
  }

  #tellOf(runId: string, writing: Writing): void {
    const { stream = "", text = "" } = this.#texts.of(runId) ?? {}
    const { told, chat, thinking } = writing
    const at = told.stream === stream ? told.length : 0
    const isNew = told.stream !== stream || text.length > at || thinking !== told.thinking
    if (!isNew) return
    this.#publish(() => ({ chat, runId, stream, at, text: text.slice(at), ...thinkingOf(writing) }))
    writing.told = { stream, length: text.length, thinking }
  }
}

/** Its newest part, as whole words. */
function thinkingOf({ thinking }: Writing): { thinking?: string } {
  const shown = withThinking("", thinking.slice(0, thinking.lastIndexOf(" ") + 1), Number.POSITIVE_INFINITY)
  return shown === "" ? {} : { thinking: shown }
}
