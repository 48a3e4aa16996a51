// The agent loop: model step -> journal -> tool calls -> journal -> model step ..., until the model has answered.
// Each step is on the disk before the next begins, so that after a crash the loop goes on after the last one.
import { AppError, type CrashPoint } from "../kernel/index.ts"
import type {
  ModelDelta,
  ModelMessage,
  ModelReply,
  ModelRequest,
  ToolCall,
  ToolResultPart,
} from "../models/contract.ts"
import { type Step, type Store, writeStep } from "../store/index.ts"
import { type RunToolOptions, interruptedResult, isRepeatable, runTool, toolSchemas } from "./tool-runner.ts"

/** A model that calls tools for ever is stopped here; a long shopping trip takes about thirty. */
const maxModelSteps = 60

export interface LoopOptions extends RunToolOptions {
  store: Store
  jobId: number
  /** Steps of an earlier attempt, `prompt` first. */
  steps: readonly Step[]
  system: string
  history: readonly ModelMessage[]
  prompt: ModelMessage
  complete: (request: ModelRequest) => Promise<ModelReply>
  signal: AbortSignal
  onDelta?: (delta: ModelDelta) => void
  crashPoint: CrashPoint
}

export interface LoopResult {
  text: string
  /** What the turn adds to the transcript after its prompt. */
  messages: ModelMessage[]
  toolResults: ToolResultPart[]
  model: string
  modelSteps: number
}

interface AssistantStep {
  text: string
  toolCalls: ToolCall[]
  model: string
}

export async function runLoop(options: LoopOptions): Promise<LoopResult> {
  const journal = new TurnJournal(options)
  const schemas = toolSchemas(options.tools)
  for (;;) {
    const last = journal.lastAssistant
    const isAnswered = last !== undefined && last.toolCalls.length === 0
    if (isAnswered) {
      return {
        text: last.text,
        messages: journal.messages,
        toolResults: journal.toolResults,
        model: last.model,
        modelSteps: journal.modelSteps,
      }
    }
    if (last) await runCalls(options, journal, last.toolCalls)
    if (journal.modelSteps >= maxModelSteps) {
      throw new AppError("model-failed", `The turn was stopped after ${maxModelSteps} steps without an answer`)
    }
    options.crashPoint("turn.beforeModel")
    const reply = await options.complete({
      system: options.system,
      messages: [...options.history, options.prompt, ...journal.messages],
      tools: schemas,
      signal: options.signal,
      onDelta: (delta) => {
        options.crashPoint("turn.inModel")
        options.onDelta?.(delta)
      },
    })
    await journal.addAssistant({ text: reply.text, toolCalls: reply.toolCalls, model: reply.model })
    options.crashPoint("turn.afterModel")
  }
}

async function runCalls(options: LoopOptions, journal: TurnJournal, calls: readonly ToolCall[]): Promise<void> {
  for (const call of calls) {
    if (journal.hasResult(call.id)) continue
    options.signal.throwIfAborted()
    if (journal.hasStarted(call.id) && !isRepeatable(options.tools, call)) {
      await journal.addResult(interruptedResult(call))
      continue
    }
    await journal.addStart(call.id)
    options.crashPoint("turn.beforeTool")
    await journal.addResult(await runTool(options, call))
    options.crashPoint("turn.afterTool")
  }
}

/** The journal's rows as the conversation they stand for. */
class TurnJournal {
  readonly messages: ModelMessage[] = []
  readonly toolResults: ToolResultPart[] = []
  lastAssistant: AssistantStep | undefined
  modelSteps = 0
  readonly #started = new Set<string>()
  readonly #options: LoopOptions
  #next: number

  constructor(options: LoopOptions) {
    this.#options = options
    this.#next = Math.max(0, ...options.steps.map((step) => step.n + 1))
    for (const step of options.steps) this.#apply(step)
  }

  // Ids repeat between steps with some providers; a call belongs to the assistant step before it.
  hasResult(callId: string): boolean {
    const last = this.messages.at(-1)
    return last?.role === "tool" && last.results.some((result) => result.callId === callId)
  }

  hasStarted(callId: string): boolean {
    return this.#started.has(`${this.modelSteps}:${callId}`)
  }

  addAssistant(data: AssistantStep): Promise<void> {
    return this.#add("assistant", data)
  }

  addStart(callId: string): Promise<void> {
    return this.#add("tool-start", { callId })
  }

  addResult(data: ToolResultPart): Promise<void> {
    return this.#add("tool-result", data)
  }

  async #add(kind: string, data: unknown): Promise<void> {
    const step = { n: this.#next, kind, data }
    await writeStep(this.#options.store, this.#options.jobId, step)
    this.#next += 1
    this.#apply(step)
  }

  #apply(step: Step): void {
    if (step.kind === "assistant") {
      const data = step.data as AssistantStep
      this.modelSteps += 1
      this.lastAssistant = data
      this.messages.push({ role: "assistant", text: data.text, toolCalls: data.toolCalls })
    } else if (step.kind === "tool-start") {
      this.#started.add(`${this.modelSteps}:${(step.data as { callId: string }).callId}`)
    } else if (step.kind === "tool-result") {
      const result = step.data as ToolResultPart
      this.toolResults.push(result)
      const last = this.messages.at(-1)
      if (last?.role === "tool") last.results.push(result)
      else this.messages.push({ role: "tool", results: [result] })
    }
  }
}
