// Does a model work as this product uses it? One real, small request -> what worked and what did not, with the next step.
// Only when a provider refuses the request itself is it asked again, without the picture and then without the tools:
// a refusal costs nothing, and what is left tells which part was refused.
import { AppError, type Clock, withTimeout } from "../../kernel/index.ts"
import type { ModelRegistry, ModelSelection, ToolSchema } from "../contract.ts"
import { doubtModel } from "../doubt.ts"
import { type Environment, findKey } from "../keys.ts"
import { ModelFailure } from "../model-failure.ts"
import { type ModelTarget, resolveSelection } from "../resolve.ts"
import type { ModelsView } from "../view.ts"
import type { CheckFailure, ModelCheck } from "./contract.ts"
import { failureOf, keyOfFailure, tellReply } from "./tell.ts"
import { type Answer, type CheckForm, type Streamed, checkRequest } from "./request.ts"

export interface CheckParts {
  registry: ModelRegistry
  clock: Clock
  /** The configuration as it is now. */
  view: () => ModelsView
  environment: Environment
}

export interface CheckOptions {
  selection: ModelSelection
  /** The real tools of the product. */
  tools: readonly ToolSchema[]
  signal: AbortSignal
  timeoutMs?: number
}

export const usualCheckMs = 60_000

/** Rejects with the signal's reason when that aborts; everything else is told in the check. */
export async function checkModel(parts: CheckParts, options: CheckOptions): Promise<ModelCheck> {
  const { clock } = parts
  const selection = { ...options.selection, byOperator: true }
  const startedAt = clock.monotonic()
  const target = findTarget(parts, selection)
  if ("failure" in target) return notAsked(selection, target)
  const timeoutMs = options.timeoutMs ?? usualCheckMs
  const limit = withTimeout(timeoutMs, "The check", options.signal)
  try {
    const answer = await askAsPossible(parts, { ...options, selection, target, signal: limit.signal })
    options.signal.throwIfAborted()
    const durationMs = Math.round(clock.monotonic() - startedAt)
    const hasKey = findKey(target, parts.environment) !== undefined
    const facts = { target, hasKey, durationMs, contextTokens: toldContext(parts, selection) }
    if (answer.kind === "reply") return tellReply(answer, facts)
    const failure = failureOf(answer.error, { streamed: answer.streamed, timeoutMs })
    return { ...blank(target.id), failure, durationMs, ...keyOfFailure(failure, hasKey) }
  } finally {
    limit.clear()
  }
}

type NotFound = { failure: CheckFailure; key?: "missing" }

function findTarget(parts: CheckParts, selection: ModelSelection): ModelTarget | NotFound {
  try {
    const { primary } = resolveSelection(parts.view(), selection)
    findKey(primary, parts.environment)
    return primary
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { message, hint } = doubtModel(parts.view(), parts.environment, selection.model ?? "") ?? error
    const told = { message, hint: hint ?? null }
    return error.code === "model-key-missing"
      ? { failure: { kind: "key-missing", ...told }, key: "missing" }
      : { failure: { kind: "not-configured", ...told } }
  }
}

function notAsked({ model }: ModelSelection, { failure, key }: NotFound): ModelCheck {
  return { ...blank(model ?? ""), failure, key: key ?? null }
}

/** What the server itself has said meanwhile of how much it takes. */
function toldContext({ registry }: CheckParts, selection: ModelSelection): number {
  return registry.describe(selection).contextTokens
}

interface Question extends CheckOptions {
  target: ModelTarget
}

async function askAsPossible(parts: CheckParts, question: Question): Promise<Answer> {
  const { vision } = question.target
  const whole = await askOnce(parts, question, { picture: vision, tools: true })
  if (!isRefusal(whole)) return whole
  if (vision) {
    const blind = await askOnce(parts, question, { picture: false, tools: true })
    if (!isRefusal(blind)) return reduced(whole, blind)
  }
  return reduced(whole, await askOnce(parts, question, { picture: false, tools: false }))
}

/** What was refused as a whole, with less in it. When that fails as well, nothing of it was to blame. */
function reduced(whole: Answer, less: Answer): Answer {
  return less.kind === "reply" && whole.kind === "failed" ? { ...less, refusal: whole.error } : whole
}

/** The request was understood and not taken: with less in it, it may be. */
function isRefusal(answer: Answer): boolean {
  if (answer.kind === "reply" || !(answer.error instanceof ModelFailure)) return false
  return answer.error.kind === "form" || answer.error.kind === "refused"
}

async function askOnce({ registry, clock }: CheckParts, question: Question, form: CheckForm): Promise<Answer> {
  const startedAt = clock.monotonic()
  let streamed: Streamed = { pieces: 0, firstMs: null }
  try {
    const reply = await registry.complete(question.selection, {
      ...checkRequest(form, question.tools),
      signal: question.signal,
      onDelta() {
        const firstMs = streamed.firstMs ?? Math.round(clock.monotonic() - startedAt)
        streamed = { pieces: streamed.pieces + 1, firstMs }
      },
      onRestart() {
        streamed = { pieces: 0, firstMs: null }
        return ""
      },
    })
    return { kind: "reply", reply, form, streamed }
  } catch (error) {
    if (error instanceof AppError) return { kind: "failed", error, streamed }
    throw error
  }
}

function blank(model: string): ModelCheck {
  return {
    model,
    usable: false,
    failure: null,
    advice: [],
    key: null,
    exists: null,
    tools: null,
    pictures: null,
    reasoning: null,
    streaming: null,
    durationMs: 0,
    tokens: null,
    cost: null,
    context: null,
    maxOutputTokens: null,
  }
}
