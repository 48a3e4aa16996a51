// A turn that somebody has stopped: what it had said and done by then. Nothing is tried again; what was asked and done
// stays part of the conversation, and what the person has seen already is not taken back.
import type { ModelMessage } from "../models/contract.ts"
import { readSteps } from "../store/index.ts"
import type { LoopResult } from "./loop.ts"
import { stoppedResult } from "./tool-runner.ts"
import { type JournalOptions, TurnJournal } from "./turn-journal.ts"

/** What a turn that is told to stop is aborted with: it ends there, nothing is tried again. */
export class TurnStopped extends Error {
  /** The person has watched it being written: the words so far become a message. */
  readonly wasSeen: boolean
  /** By a newer message, which is answered instead. */
  readonly isInterrupted: boolean

  constructor(options: { wasSeen?: boolean; isInterrupted?: boolean } = {}) {
    super("stopped")
    this.name = "TurnStopped"
    this.wasSeen = options.wasSeen ?? false
    this.isInterrupted = options.isInterrupted ?? false
  }
}

/** Tells later turns why the answer before them ends in the middle. */
const stopMark = "[Stopped here by the person who had asked.]"
const interruptMark = "[Stopped here, because the person who had asked wrote something newer. See below.]"

/** The result of a turn that was seen and stopped; `writing` is what the step under way had written. */
export async function stoppedLoop(
  options: Omit<JournalOptions, "steps">,
  writing: string,
  { isInterrupted }: Pick<TurnStopped, "isInterrupted">,
): Promise<LoopResult & { isStopped: true }> {
  const mark = isInterrupted ? interruptMark : stopMark
  const journal = new TurnJournal({ ...options, steps: await readSteps(options.store, options.jobId) })
  const said = journal.messages.flatMap((message) => (message.role === "assistant" ? [message.text] : []))
  // Providers refuse a conversation in which a call has no result.
  const messages = journal.messages.flatMap((message, index) => closed(message, journal.messages[index + 1]))
  messages.push({ role: "assistant", text: writing.trim() === "" ? mark : `${writing}\n\n${mark}`, toolCalls: [] })
  return {
    text: [...said, writing].filter((text) => text.trim() !== "").join("\n\n"),
    reasoning: "",
    messages,
    toolResults: journal.toolResults,
    model: journal.lastAssistant?.model ?? "",
    modelSteps: journal.modelSteps + 1,
    steeredFrom: journal.steeredFrom,
    // Each message of the journal has become one, but for the last, so the places are the same.
    taintedFrom: journal.taintedFrom ?? (journal.isTainted ? messages.length - 1 : undefined),
    isTainted: journal.isTainted,
    isStopped: true,
  }
}

function closed(message: ModelMessage, next: ModelMessage | undefined): ModelMessage[] {
  if (message.role === "tool") return []
  if (message.role !== "assistant" || message.toolCalls.length === 0) return [message]
  const results = next?.role === "tool" ? next.results : []
  const open = message.toolCalls.filter(({ id }) => results.every(({ callId }) => callId !== id))
  return [message, { role: "tool", results: [...results, ...open.map(stoppedResult)] }]
}
