// What a turn for a terminal has written so far, in memory: deltas -> whole words -> whoever follows the run. It is a
// preview; what counts is the outbox row at the turn's end.
import type { TurnObserver } from "../../agent/turn-input.ts"
import { isSilence, silenceToken } from "../../agent/silence.ts"

/** Tags and media lines are for us, also one that has only begun at the end. */
const ours = /\[\[[^[\]\n]*(?:\]\]|\]?$)|\[$|^[ \t]{0,9}MEDIA:[^\n]*\n?/gm

/**
 * Only whole words: secrets are looked for in what is told, and half of one would not be found. What is no ASCII has no
 * secrets in it and needs no spaces.
 */
export function shownOf(written: string): string {
  const text = written
    .replace(/[\x21-\x7e]+$/, "")
    .replace(ours, "")
    .trim()
  return isSilence(text) || (text !== "" && silenceToken.startsWith(text)) ? "" : text
}

export interface LiveText {
  stream: string
  text: string
}

interface LiveRun extends LiveText {
  /** The steps before the one under way. */
  before: string
  written: string
}

export class LiveTexts {
  readonly #runs = new Map<string, LiveRun>()
  readonly #listeners = new Set<(runId: string) => void>()
  readonly #newStream: () => string

  constructor(newStream: () => string) {
    this.#newStream = newStream
  }

  /** Undefined while the run writes nothing here. */
  of(runId: string): LiveText | undefined {
    return this.#runs.get(runId)
  }

  /** Calls the listener when there is more to see of a run, or it has ended. Returns the way to leave. */
  onChange(listener: (runId: string) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  changed(runId: string): void {
    for (const listener of this.#listeners) listener(runId)
  }

  observe(runId: string): TurnObserver {
    const run: LiveRun = { stream: this.#newStream(), text: "", before: "", written: "" }
    this.#runs.set(runId, run)
    const show = (own: string) => {
      const text = [run.before, own].filter((part) => part !== "").join("\n\n")
      if (text === run.text) return
      // What is shown cannot be taken back: what begins otherwise is a stream of its own.
      if (!text.startsWith(run.text)) run.stream = this.#newStream()
      run.text = text
      this.changed(runId)
    }
    return {
      onStep: ({ before }) => {
        if (before !== undefined) show(shownOf(`${before}\n`))
        run.before = run.text
        run.written = ""
      },
      onDelta: ({ kind, text }) => {
        if (kind !== "text") return
        run.written += text
        show(shownOf(run.written))
      },
      onRestart: () => {
        run.written = ""
        return ""
      },
      end: () => {
        this.#runs.delete(runId)
        this.changed(runId)
      },
    }
  }
}
