// The agent loop: model step -> journal -> tool calls -> journal -> model step ..., until the model has answered.
// Each step is on the disk before the next begins, so that after a crash the loop goes on after the last one.
import type { CrashPoint } from "../kernel/index.ts"
import type { ModelDelta, ModelMessage, ModelReply, ModelRequest, ToolResultPart, UsedFor } from "../models/contract.ts"
import type { Origin } from "../sessions/route.ts"
import type { Write } from "../store/index.ts"
import type { SteeredStep } from "./queue/contract.ts"
import {
  type GatedCall,
  type Permission,
  type RunToolOptions,
  interruptedResult,
  isRepeatable,
  producedMedia,
  runTool,
  toolSchemas,
} from "./tool-runner.ts"
import type { TurnStep } from "./turn-input.ts"
import { type TurnLimits, checkLimits, refusedCall } from "./turn-limits.ts"
import { type AssistantStep, type JournalOptions, TurnJournal } from "./turn-journal.ts"

export interface LoopOptions extends Omit<RunToolOptions, "approve">, JournalOptions {
  /** Asks an owner; `step` is that of the model which made the call. */
  approve?: (call: GatedCall & { step: number }) => Promise<Permission>
  limits: TurnLimits
  system: string
  history: readonly ModelMessage[]
  prompt: ModelMessage
  complete: (request: ModelRequest) => Promise<ModelReply>
  usedFor: UsedFor
  /** Asked before each step: whether saying nothing is an answer now. */
  mayBeSilent?: () => boolean
  /** Asked between two steps: what has come meanwhile and is to be part of this turn. */
  steer?: () => Promise<((write: Write) => SteeredStep | undefined) | undefined>
  signal: AbortSignal
  onStep?: (step: TurnStep) => void
  onDelta?: (delta: ModelDelta) => void
  /** The deltas of this step are void; returns what of them a person has been sent for good. */
  onRestart?: () => string
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
  /** The first of the messages that holds words of others, or was written under them; unset: none. */
  taintedFrom?: number | undefined
  /** Of those messages that came while the turn ran, by their place: whose words they hold. */
  steeredFrom: ReadonlyMap<number, Origin>
  /** The answer was written from words of others, too. */
  isTainted: boolean
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
        taintedFrom: journal.taintedFrom,
        steeredFrom: journal.steeredFrom,
        isTainted: last.tainted ?? false,
      }
    }
    if (last) {
      await runCalls(options, journal, last)
      const steered = await options.steer?.()
      if (steered) await journal.addSteered(steered)
    }
    checkLimits(journal, options.limits)
    options.crashPoint("turn.beforeModel")
    const { isTainted } = journal
    options.onStep?.({ number: journal.modelSteps, isTainted, ...(last ? { before: last.text } : {}) })
    const reply = await options.complete({
      system: options.system,
      messages: [...options.history, options.prompt, ...journal.messages],
      tools: schemas,
      usedFor: options.usedFor,
      mayBeSilent: options.mayBeSilent?.() ?? false,
      signal: options.signal,
      onDelta: (delta) => {
        options.crashPoint("turn.inModel")
        options.onDelta?.(delta)
      },
      onRestart: () => options.onRestart?.() ?? "",
    })
    const { text, toolCalls, model, replay, failedBefore } = reply
    const failed = failedBefore ? { failedBefore } : {}
    const reasoning = options.keepReasoning && reply.reasoning !== "" ? { reasoning: reply.reasoning } : {}
    const tainted = isTainted ? { tainted: true as const } : {}
    await journal.addAssistant({
      text,
      toolCalls,
      model,
      ...failed,
      ...reasoning,
      ...(replay ? { replay } : {}),
      ...tainted,
    })
    options.crashPoint("turn.afterModel")
  }
}

/** Calls of one step were made from the same words: what the first brings is not yet part of the second. */
async function runCalls(options: LoopOptions, journal: TurnJournal, step: AssistantStep): Promise<void> {
  const made = (path: string) => producedMedia(journal.toolResults).has(path)
  const context = { ...options.context, made, tainted: step.tainted ?? false }
  const { approve } = options
  const ask = approve && ((call: GatedCall) => approve({ ...call, step: journal.modelSteps }))
  for (const call of step.toolCalls) {
    if (journal.hasResult(call.id)) continue
    options.signal.throwIfAborted()
    if (journal.hasStarted(call.id) && !isRepeatable(options.tools, call)) {
      await journal.addResult(interruptedResult(call))
      continue
    }
    const refused = refusedCall(journal, options.limits, call)
    if (refused) {
      options.log.warn({ tool: call.name, run: options.context.runId, limit: refused.limit }, "tool call over a limit")
      await journal.addResult(refused.result)
      continue
    }
    await journal.addStart(call.id)
    options.crashPoint("turn.beforeTool")
    const { result, isForeign } = await runTool({ ...options, context, approve: ask }, call)
    await journal.addResult(result, isForeign)
    options.crashPoint("turn.afterTool")
  }
}
