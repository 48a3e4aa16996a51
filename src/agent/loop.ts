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
  UsedFor,
} from "../models/contract.ts"
import { type RunToolOptions, interruptedResult, isRepeatable, runTool, toolSchemas } from "./tool-runner.ts"
import type { TurnStep } from "./turn-input.ts"
import { type JournalOptions, TurnJournal } from "./turn-journal.ts"

/** A model that calls tools for ever is stopped here; a long shopping trip takes about thirty. */
const maxModelSteps = 60

export interface LoopOptions extends RunToolOptions, JournalOptions {
  system: string
  history: readonly ModelMessage[]
  prompt: ModelMessage
  complete: (request: ModelRequest) => Promise<ModelReply>
  usedFor: UsedFor
  signal: AbortSignal
  onStep?: (step: TurnStep) => void
  onDelta?: (delta: ModelDelta) => void
  /** Whether the model's thinking is part of the result. */
  keepReasoning?: boolean
  crashPoint: CrashPoint
}

export interface LoopResult {
  text: string
  /** Empty unless it was to be kept. */
  reasoning: string
  /** What the turn adds to the transcript after its prompt. */
  messages: ModelMessage[]
  toolResults: ToolResultPart[]
  model: string
  modelSteps: number
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
        reasoning: journal.reasoning,
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
    options.onStep?.({ number: journal.modelSteps, ...(last ? { before: last.text } : {}) })
    const reply = await options.complete({
      system: options.system,
      messages: [...options.history, options.prompt, ...journal.messages],
      tools: schemas,
      usedFor: options.usedFor,
      signal: options.signal,
      onDelta: (delta) => {
        options.crashPoint("turn.inModel")
        options.onDelta?.(delta)
      },
    })
    const { text, toolCalls, model } = reply
    const reasoning = options.keepReasoning && reply.reasoning !== "" ? { reasoning: reply.reasoning } : {}
    await journal.addAssistant({ text, toolCalls, model, ...reasoning })
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
