// The model registry: selection -> models to try -> one step, with retries and then the fallbacks in order.
// Every decision is one log line with model, attempt and status; prompts and keys are never among its fields.
import { AppError } from "../kernel/index.ts"
import { createAnswer } from "./answer.ts"
import { createAsk, type AskOptions, type AskParts, type ModelLimits, type Outcome } from "./ask.ts"
import { createContextLimits } from "./context-limits.ts"
import type { ModelRegistry, ModelReply } from "./contract.ts"
import { type Failure, classifyFailure } from "./failure/index.ts"
import { findKey } from "./keys.ts"
import { ModelFailure } from "./model-failure.ts"
import { Progress } from "./progress.ts"
import { resolveSelection, resolveTarget } from "./resolve.ts"
import { createServerContext } from "./server-context.ts"
import type { ModelsView } from "./view.ts"

export interface ModelRegistryParts extends Omit<AskParts, "limits"> {
  /** The configuration as it is now; called for every description and every step. */
  view: () => ModelsView
  limits?: Partial<ModelLimits>
}

const defaultLimits: ModelLimits = {
  retry: { attempts: 7, minDelayMs: 500, maxDelayMs: 8000, jitter: 0.25 },
  maxRetryAfterMs: 60_000,
  idleTimeoutMs: 120_000,
  // Twice the longest reply that models are known to give.
  maxOutputCharacters: 1_000_000,
  // Streams frame each word in some 200 bytes of JSON.
  maxResponseBytes: 64 * 1024 * 1024,
}

/** Another model answers sooner than a busy one. */
const maxAttemptsBeforeFallback = 3

export function createModelRegistry(parts: ModelRegistryParts): ModelRegistry {
  const contextLimits = createContextLimits(parts.clock)
  const serverContext = createServerContext({
    clock: parts.clock,
    keyOf: (target) => findKey(target, parts.environment),
    log: parts.log,
  })
  const limits = { ...defaultLimits, ...parts.limits }
  const ask = createAnswer(createAsk({ ...parts, limits }, { contextLimits, serverContext }))

  return {
    describe(selection) {
      const { primary, fallbacks, thinking } = resolveSelection(parts.view(), selection)
      findKey(primary, parts.environment)
      const { id, vision } = primary
      const contextTokens = Math.min(
        // What the server says of itself is true, whatever is known of the model.
        primary.entry.contextTokens ?? serverContext.limitOf(primary) ?? primary.contextTokens,
        contextLimits.of(id) ?? Number.POSITIVE_INFINITY,
      )
      const promptTokens = Math.max(contextTokens / 2, contextTokens - (primary.maxOutputTokens ?? 0))
      return { id, contextTokens, promptTokens, vision, thinking: thinking ?? "default", fallbacks }
    },

    async complete(selection, request) {
      request.signal.throwIfAborted()
      const view = parts.view()
      const { primary, fallbacks, thinking } = resolveSelection(view, selection)
      // A selection that can never work is told as what it is, before any fallback.
      findKey(primary, parts.environment)
      const failures: { id: string; failure: Failure }[] = []
      // A check asks whether this very model works.
      const others = request.usedFor.purpose === "check" ? [] : fallbacks
      const progress = new Progress(request)
      const asked = [primary.id, ...others]
      for (const id of asked) {
        if (failures.length > 0) parts.log.warn({ model: id, instead: primary.id }, "model fallback chosen")
        const retry = parts.limits?.retry ?? { ...limits.retry, ...view.retry }
        const attempts = id === asked.at(-1) ? retry.attempts : Math.min(retry.attempts, maxAttemptsBeforeFallback)
        const options = { agentId: selection.agentId, thinking, progress, retry: { ...retry, attempts } }
        const outcome = await tryModel(view, id, options)
        if (outcome.kind === "reply") return withFailed(outcome.reply, failures)
        failures.push({ id, failure: outcome.failure })
      }
      throw allFailed(failures)
    },
  }

  /** A fallback that is not usable (unknown, no key) counts as failed and the next one is asked. */
  async function tryModel(view: ModelsView, id: string, options: AskOptions): Promise<Outcome> {
    try {
      return await ask(resolveTarget(view, id), options)
    } catch (error) {
      if (!(error instanceof AppError) || (error.code !== "model-unknown" && error.code !== "model-key-missing"))
        throw error
      const failure = classifyFailure(error, { now: parts.clock.now(), redactor: parts.redactor })
      parts.log.warn({ model: id, reason: error.message }, "model skipped")
      return { kind: "failed", failure }
    }
  }
}

/** Providers answer with whole pages at times; the log has no more either. */
const maxReasonCharacters = 300

/** Who reads what a run did is to see why another model has answered. */
function withFailed(reply: ModelReply, failures: readonly { id: string; failure: Failure }[]): ModelReply {
  if (failures.length === 0) return reply
  const failedBefore = failures.map(({ id, failure }) => ({
    model: id,
    reason: failure.message.slice(0, maxReasonCharacters),
  }))
  return { ...reply, failedBefore }
}

/** What a later try may well do: the conversation itself was not refused. */
const awayKinds = new Set<Failure["kind"]>(["network", "busy", "silent", "key", "credit", "empty"])

/** The same for whatever is asked, until somebody changes something. */
const placeKinds = new Set<Failure["kind"]>(["unknown-model", "broken"])

/** 413 tells a conversation that is too long for every model, 503 one that some model may yet answer. */
function allFailed(failures: readonly { id: string; failure: Failure }[]): ModelFailure {
  const told = failures.map(({ id, failure }) => `${id}: ${failure.message}`).join("; ")
  // Shortened, it may be answered by those who said so, whatever keeps the others.
  const isTooLong = failures.some(({ failure }) => failure.kind === "context")
  const isAway = failures.some(({ failure }) => awayKinds.has(failure.kind))
  const hint = failures.find(({ failure }) => failure.hint !== undefined)?.failure.hint
  const limits = failures.flatMap(({ failure }) => failure.contextLimit ?? [])
  // Of the model that was wanted: why a fallback did not step in is for the operator.
  const first = failures[0]?.failure
  return new ModelFailure(`No model could answer. ${told}`, {
    kind: first?.kind ?? "refused",
    reason: first?.message ?? "No model could answer",
    chatMessage: first?.chatMessage ?? "No model could answer.",
    isOfPlace: failures.some(({ failure }) => placeKinds.has(failure.kind) || failure.isElsewhere === true),
    ...(isTooLong && limits.length > 0 ? { contextLimit: Math.min(...limits) } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(isTooLong ? { status: 413 } : isAway ? { status: 503 } : {}),
  })
}

/** Whether a failed step failed only because the conversation was too long: trimming it and asking again may help. */
export function isContextTooLong(error: unknown): boolean {
  return error instanceof AppError && error.code === "model-failed" && error.status === 413
}

/** Whether a step failed because no model could be reached, not because of what it was asked. */
export function isModelAway(error: unknown): boolean {
  if (!(error instanceof AppError)) return false
  return error.code === "model-key-missing" || (error.code === "model-failed" && error.status === 503)
}
