// What a turn for a terminal has written so far, in memory: deltas -> whole words -> whoever follows the run. It is a
// preview; what counts is the outbox row at the turn's end.
import type { TurnObserver } from "../../agent/turn-input.ts"
import { draftText } from "./live-text.ts"

/**
 * Only whole words: secrets are looked for in what is told, and half of one would not be found. What is no ASCII has no
 * secrets in it and needs no spaces.
 */
export function shownOf(written: string): string {
  let end = written.length
  while (end > 0 && isWordCharacter(written.charCodeAt(end - 1))) end -= 1
  return draftText(written.slice(0, end), Number.POSITIVE_INFINITY)
}

function isWordCharacter(code: number): boolean {
  return code > 0x20 && code < 0x7f
}

export interface LiveText {
  stream: string
  text: string
}

interface LiveRun extends LiveText {
  /** The steps before the one under way, as they were shown. */
  before: string
  /** Of the step under way, as the model wrote it. */
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
    const run = this.#runs.get(runId)
    if (run) this.#bringUpToDate(run)
    return run
  }

  // When it is asked for, and not with each delta: nobody may be there.
  #bringUpToDate(run: LiveRun): void {
    const text = [run.before, shownOf(run.written)].filter((part) => part !== "").join("\n\n")
    // What was shown cannot be taken back: what begins otherwise is a stream of its own.
    if (!text.startsWith(run.text)) run.stream = this.#newStream()
    run.text = text
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
    return {
      onStep: ({ before }) => {
        // Now it is whole, its last word too.
        if (before !== undefined) run.written = `${before}\n`
        this.#bringUpToDate(run)
        run.before = run.text
        run.written = ""
        this.changed(runId)
      },
      onDelta: ({ kind, text }) => {
        if (kind !== "text") return
        run.written += text
        this.changed(runId)
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
