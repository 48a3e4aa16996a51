// The journal of a turn: rows of the store <-> the conversation that they stand for. What is not in it has not happened.
import type { FailedModel, ModelMessage, Replay, ToolCall, ToolResultPart } from "../models/contract.ts"
import type { Origin } from "../sessions/route.ts"
import { type Step, type Store, type Write, insertStep, writeStep } from "../store/index.ts"
import type { SteeredStep } from "./queue/contract.ts"

export interface JournalOptions {
  store: Store
  jobId: number
  /** Of an earlier attempt, `prompt` first. */
  steps: readonly Step[]
  /** The prompt, or the past that stands before it, holds words of others. */
  isForeign?: boolean
}

export interface AssistantStep {
  text: string
  toolCalls: ToolCall[]
  model: string
  /** Models that failed before this one answered. */
  failedBefore?: FailedModel[]
  /** Only where somebody wants to read it. */
  reasoning?: string
  /** As its provider wants it back: what a crash must not lose. */
  replay?: Replay
  /** Words of others were part of what it was written from. */
  tainted?: true
}

interface ResultStep extends ToolResultPart {
  /** It brought words of others. */
  foreign?: true
}

/** The journal's rows as the conversation they stand for. */
export class TurnJournal {
  readonly messages: ModelMessage[] = []
  readonly toolResults: ToolResultPart[] = []
  lastAssistant: AssistantStep | undefined
  modelSteps = 0
  /** Of all steps so far, as far as it was kept. */
  reasoning = ""
  /** From here on words of others are part of what the model reads. It never ends within a turn. */
  isTainted: boolean
  /** The first of the messages that holds words of others, or was written under them. */
  taintedFrom: number | undefined
  /** Of those messages that have come while the turn ran: whose words they hold. */
  readonly steeredFrom = new Map<number, Origin>()
  readonly #started = new Set<string>()
  readonly #options: JournalOptions
  #next: number

  constructor(options: JournalOptions) {
    this.#options = options
    this.isTainted = options.isForeign ?? false
    this.#next = Math.max(0, ...options.steps.map((step) => step.n + 1))
    for (const step of options.steps) this.#apply(step)
  }

  // Ids repeat between steps with some providers; a call belongs to the assistant step before it.
  hasResult(callId: string): boolean {
    return this.#results()?.results.some((result) => result.callId === callId) ?? false
  }

  hasStarted(callId: string): boolean {
    return this.#started.has(`${this.modelSteps}:${callId}`)
  }

  /** Nothing is done after it but by a row that comes later: the start of a tool, a question, the end of the turn. */
  addAssistant(data: AssistantStep): Promise<void> {
    return this.#add("assistant", data, { force: false })
  }

  addStart(callId: string): Promise<void> {
    return this.#add("tool-start", { callId })
  }

  addResult(data: ToolResultPart, isForeign = false): Promise<void> {
    return this.#add("tool-result", isForeign ? { ...data, foreign: true } : data)
  }

  /** What `take` gives is in the journal in the very transaction in which it takes it. */
  async addSteered(take: (write: Write) => SteeredStep | undefined): Promise<void> {
    const { store, jobId } = this.#options
    const step = await store.write(async (write) => {
      const data = take(write)
      const taken = data && { n: this.#next, kind: "steered", data }
      if (taken) insertStep(write, jobId, taken)
      return taken
    })
    if (!step) return
    this.#next += 1
    this.#apply(step)
  }

  /** The message with the results of the last step's calls. */
  #results() {
    const last = this.messages.findLast((message) => message.role !== "user")
    return last?.role === "tool" ? last : undefined
  }

  async #add(kind: string, data: unknown, options?: { force: boolean }): Promise<void> {
    const step = { n: this.#next, kind, data }
    await writeStep(this.#options.store, this.#options.jobId, step, options)
    this.#next += 1
    this.#apply(step)
  }

  #apply(step: Step): void {
    if (step.kind === "assistant") {
      const data = step.data as AssistantStep
      this.modelSteps += 1
      this.lastAssistant = data
      if (data.reasoning) this.reasoning += `${this.reasoning === "" ? "" : "\n\n"}${data.reasoning}`
      if (data.tainted) this.#taint(this.messages.length)
      const replay = data.replay === undefined ? {} : { replay: data.replay }
      this.messages.push({ role: "assistant", text: data.text, toolCalls: data.toolCalls, ...replay })
    } else if (step.kind === "tool-start") {
      this.#started.add(`${this.modelSteps}:${(step.data as { callId: string }).callId}`)
    } else if (step.kind === "tool-result") {
      const { foreign, ...result } = step.data as ResultStep
      this.toolResults.push(result)
      const last = this.messages.at(-1)
      if (foreign) this.#taint(last?.role === "tool" ? this.messages.length - 1 : this.messages.length)
      if (last?.role === "tool") last.results.push(result)
      else this.messages.push({ role: "tool", results: [result] })
    } else if (step.kind === "steered") {
      const { message, origin, foreign } = step.data as SteeredStep
      if (foreign) this.#taint(this.messages.length)
      this.steeredFrom.set(this.messages.length, origin)
      this.messages.push(message)
    }
  }

  #taint(from: number): void {
    this.isTainted = true
    this.taintedFrom ??= from
  }
}
