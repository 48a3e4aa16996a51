// One model, asked until it answers, fails for good, or has used its attempts.
import { backoffMs, type Clock, type Ids, type Log, type Redactor, type RetryPolicy } from "../kernel/index.ts"
import type { ModelReply, ModelRequest, ThinkingLevel, UsageRecord } from "./contract.ts"
import { findKey, type Environment } from "./keys.ts"
import { createOfflineModel } from "./offline/commander.ts"
import { createProviderClients } from "./providers/clients.ts"
import { createReasoningMemory } from "./providers/continuation.ts"
import { classifyFailure, type Failure } from "./providers/failure.ts"
import { createGuardedFetch } from "./providers/guarded-fetch.ts"
import { runStep, type StepParts } from "./providers/step.ts"
import type { ModelTarget } from "./resolve.ts"

export interface ModelLimits {
  retry: RetryPolicy
  /** A longer Retry-After is not waited for: the next model is asked at once. */
  maxRetryAfterMs: number
  idleTimeoutMs: number
  maxOutputCharacters: number
  maxResponseBytes: number
}

export interface AskParts {
  /** Variables of the environment, for `<PROVIDER>_API_KEY`. */
  environment: Environment
  clock: Clock
  ids: Ids
  log: Log
  redactor: Redactor
  limits: ModelLimits
  /** Told of each call that a provider has answered; must not throw. */
  onUsage?: ((record: UsageRecord) => void) | undefined
}

export type Outcome = { kind: "reply"; reply: ModelReply } | { kind: "failed"; failure: Failure; hasShown: boolean }

/** Throws `model-key-missing`, or the signal's reason; every failure of the provider is an outcome. */
export type Ask = (
  target: ModelTarget,
  thinking: ThinkingLevel,
  request: ModelRequest,
  agentId: string,
) => Promise<Outcome>

/** Added to a Retry-After, in part at random: never early, and not all at the same moment. */
const retryAfterSpreadMs = 100

export function createAsk(parts: AskParts): Ask {
  const { limits } = parts
  const offline = createOfflineModel(parts)
  const step: StepParts = {
    clients: createProviderClients({ fetch: createGuardedFetch(limits) }),
    reasoning: createReasoningMemory(),
    maxOutputCharacters: limits.maxOutputCharacters,
  }

  async function askOnce(target: ModelTarget, thinking: ThinkingLevel, request: ModelRequest): Promise<Outcome> {
    if (!target.settings) return { kind: "reply", reply: await offline.complete(request) }
    const key = findKey(target, parts.environment)
    if (key) parts.redactor.add(key.reveal())
    for (const header of Object.values(target.settings.headers ?? {})) parts.redactor.add(header)
    let hasShown = false
    const { onDelta } = request
    const watched: ModelRequest = onDelta
      ? {
          ...request,
          onDelta: (delta) => {
            hasShown = true
            onDelta(delta)
          },
        }
      : request
    try {
      const reply = await runStep(step, { target, settings: target.settings, key, thinking, request: watched })
      return { kind: "reply", reply }
    } catch (error) {
      request.signal.throwIfAborted()
      const failure = classifyFailure(error, { now: parts.clock.now(), redactor: parts.redactor })
      return { kind: "failed", failure, hasShown }
    }
  }

  return async (target, thinking, request, agentId) => {
    const startedAt = parts.clock.monotonic()
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await askOnce(target, thinking, request)
      const fields = { model: target.id, attempt, ms: Math.round(parts.clock.monotonic() - startedAt) }
      if (outcome.kind === "reply") {
        const { usage, finishReason } = outcome.reply
        parts.log.info({ ...fields, ...usage, finishReason }, "model answered")
        const { usedFor } = request
        const record = { model: target.id, agentId, usedFor, usage, cost: undefined, ms: fields.ms }
        if (target.settings) parts.onUsage?.(record)
        return outcome
      }
      const { kind, status, message } = outcome.failure
      const delayMs = outcome.hasShown ? undefined : nextDelay(parts, outcome.failure, attempt)
      parts.log.warn({ ...fields, failure: kind, status, reason: message, retryInMs: delayMs }, "model failed")
      if (delayMs === undefined) return outcome
      await sleep(parts.clock, delayMs, request.signal)
    }
  }
}

/** Milliseconds until the next attempt; undefined when there is to be none. */
function nextDelay({ limits, ids }: AskParts, failure: Failure, attempt: number): number | undefined {
  if (!failure.retryable || attempt >= limits.retry.attempts) return undefined
  if (failure.retryAfterMs === undefined) return backoffMs(limits.retry, attempt)
  if (failure.retryAfterMs > limits.maxRetryAfterMs) return undefined
  return failure.retryAfterMs + retryAfterSpreadMs + ids.below(retryAfterSpreadMs)
}

/** The clock rejects with an error of its own; callers are promised the signal's reason. */
async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
