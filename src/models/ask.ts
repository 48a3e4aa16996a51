// One model, asked until it has answered, fails for good, or has used its attempts. A key that is refused gives way to
// the next; a thinking level that is refused is left out, and a conversation whose form is refused is told in words.
import {
  backoffMs,
  type Clock,
  explainHandles,
  type Ids,
  isOutOfHandles,
  type Log,
  type Redactor,
  type RetryPolicy,
} from "../kernel/index.ts"
import type { AdmitCall, AdmittedCall, ModelReply, ModelRequest, ThinkingLevel, UsageRecord } from "./contract.ts"
import type { ContextLimits } from "./context-limits.ts"
import { costOf } from "./cost.ts"
import { type Failure, classifyFailure } from "./failure/index.ts"
import { createInterfaces } from "./interfaces.ts"
import { type Environment, type KeyRing, type KeyTrouble, createKeyRing, findKeys } from "./keys.ts"
import { createOfflineModel } from "./offline/commander.ts"
import { createGuardedFetch } from "./providers/guarded-fetch.ts"
import type { Progress } from "./progress.ts"
import type { ModelTarget } from "./resolve.ts"
import { type StepParts, runStep } from "./step.ts"
import type { ServerContext } from "./server-context.ts"
import type { ProviderSettings } from "./view.ts"
import { waysOf } from "./ways.ts"
import { countReply, mayHaveBeenCharged, planCall } from "./worst-case.ts"

export interface ModelLimits {
  retry: RetryPolicy
  /** A longer wait than this is not waited for: the next model is asked at once. */
  maxRetryAfterMs: number
  /** Unless the configuration says otherwise of a provider or a model. */
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
  /** Told of each call that a provider has answered; must not throw. Not used where calls are admitted. */
  onUsage?: ((record: UsageRecord) => void) | undefined
  /** Asked before each call; unset: all may be made. */
  admit?: AdmitCall | undefined
}

export type Outcome = { kind: "reply"; reply: ModelReply } | { kind: "failed"; failure: Failure }

export interface AskOptions {
  agentId: string
  thinking: ThinkingLevel | undefined
  progress: Progress
  retry: RetryPolicy
}

/** Throws `model-key-missing`, `storage-handles`, or the signal's reason; every failure of the provider is an outcome. */
export type Ask = (target: ModelTarget, options: AskOptions) => Promise<Outcome>

/** Added to a wait that the provider named, in part at random: never early, and not all at the same moment. */
const retryAfterSpreadMs = 100
/** Runs whose conversation a model has refused for its form; more than a gateway has at a time. */
const maxRefusedForms = 500

/** Servers are updated and configurations change; until then each step would be refused once. */
const refusedLevelMs = 60 * 60_000

/** Their values are ordinary words, which would be missing all over the log. */
const plainHeaders = new Set(["accept", "content-type", "http-referer", "origin", "referer", "user-agent", "x-title"])

interface AskState extends AskParts {
  offline: ReturnType<typeof createOfflineModel>
  step: StepParts
  keys: KeyRing
  /** `model run` of those. */
  refusedForms: Set<string>
  /** `model level` that its server has refused, to the monotonic time until which it is asked without one. */
  unthinking: Map<string, number>
  contextLimits: ContextLimits
  serverContext: ServerContext
}

/** What the registry knows of models from themselves, and shares. */
export type Learnt = Pick<AskState, "contextLimits" | "serverContext">

export function createAsk(parts: AskParts, learnt: Learnt): Ask {
  const interfaces = createInterfaces(parts)
  const step = { interfaceOf: interfaces, maxOutputCharacters: parts.limits.maxOutputCharacters }
  const offline = createOfflineModel(parts)
  const state: AskState = {
    ...parts,
    offline,
    step,
    keys: createKeyRing(parts),
    refusedForms: new Set(),
    unthinking: new Map(),
    ...learnt,
  }
  return async (target, options) => {
    const { settings } = target
    return settings ? await askUntilDone(state, { ...options, target, settings }) : await askOffline(state, options)
  }
}

async function askOffline({ offline }: AskState, { progress }: AskOptions): Promise<Outcome> {
  return { kind: "reply", reply: progress.whole(await offline.complete(progress.request)) }
}

interface Question extends AskOptions {
  target: ModelTarget
  settings: ProviderSettings
}

async function askUntilDone(state: AskState, question: Question): Promise<Outcome> {
  const { target, progress } = question
  await state.serverContext.look(target, question.settings, progress.signal)
  const startedAt = state.clock.monotonic()
  let otherKeys = findKeys(target, state.environment).length - 1
  for (let attempt = 1; ; attempt += 1) {
    // Another run may learn meanwhile that the level is refused; this one was asked with it all the same.
    const asked = { ...question, thinking: isRefusedLevel(state, question) ? undefined : question.thinking }
    const outcome = await askOnce(state, asked)
    if (outcome.kind === "reply") return outcome
    const { failure } = outcome
    if (failure.contextLimit !== undefined && failure.isLasting)
      state.contextLimits.learn(target.id, failure.contextLimit)
    const fields = { model: target.id, attempt, ms: Math.round(state.clock.monotonic() - startedAt) }
    const isUnthinking = leaveThinkingOut(state, asked, failure)
    const isMended = !isUnthinking && failure.kind === "form" && mendForm(state, question)
    const hasOtherKey = failure.otherKeyMayHelp && otherKeys > 0
    if (hasOtherKey) otherKeys -= 1
    const isAtOnce = isUnthinking || isMended || hasOtherKey
    const delayMs = isAtOnce ? 0 : nextDelay(state, limitsFor(state, question), failure, attempt)
    const told = { failure: failure.kind, status: failure.status, code: failure.code, reason: failure.message }
    const again = isUnthinking ? "without thinking" : isMended ? "in words" : "with another key"
    const next = isAtOnce ? { again } : { retryInMs: delayMs }
    state.log.warn({ ...fields, ...told, ...next }, "model failed")
    if (delayMs === undefined) return outcome
    if (isAtOnce) attempt -= 1
    await sleep(state.clock, delayMs, progress.signal)
  }
}

async function askOnce(state: AskState, question: Question): Promise<Outcome> {
  const { target, settings, progress, thinking, agentId } = question
  const { limits, redactor, clock } = state
  const key = state.keys.next(target, state.environment)[0]
  keepSecret(state, question)
  const plan = planCall(target, settings, { agentId, request: progress.request })
  const admitted = (await state.admit?.(plan, progress.signal)) ?? unbounded(state)
  const { request, written } = watchOutput(progress.request, admitted.maxOutputTokens)
  const startedAt = clock.monotonic()
  const idleSeconds = target.entry.idleTimeoutSeconds ?? settings.idleTimeoutSeconds
  const idleTimeoutMs = idleSeconds === undefined ? limits.idleTimeoutMs : idleSeconds * 1000
  const { fetch, wasCalled } = watchFetch(
    createGuardedFetch({ idleTimeoutMs, maxResponseBytes: limits.maxResponseBytes }),
  )
  try {
    const reply = await runStep(state.step, {
      target,
      settings,
      ways: waysOf(target, settings),
      key,
      thinking,
      request,
      plain: state.refusedForms.has(formKey(question)),
      fetch,
    })
    const ms = Math.round(clock.monotonic() - startedAt)
    const cost = costOf(target.prices, reply.usage)
    state.log.info({ model: target.id, ms, ...reply.usage, cost, finishReason: reply.finishReason }, "model answered")
    const counted = countReply(plan, reply, cost)
    const record = { model: target.id, agentId, usedFor: request.usedFor, usage: reply.usage, cost, ms, counted }
    admitted.settle(record)
    state.keys.accept(target, key)
    state.serverContext.answered(target)
    return { kind: "reply", reply: progress.whole(reply) }
  } catch (error) {
    if (wasCalled() && mayHaveBeenCharged(error, written() > 0)) admitted.lose(countReply(plan, written()))
    else admitted.refund()
    request.signal.throwIfAborted()
    // No provider is to blame, and another model could not be reached either.
    if (isOutOfHandles(error)) throw explainHandles(error)
    const failure = classifyFailure(error, { now: clock.now(), redactor })
    if (failure.otherKeyMayHelp) state.keys.setAside(target, key, troubleOf(failure))
    progress.restart()
    return { kind: "failed", failure }
  }
}

/** Where nothing bounds calls, they are only counted. */
function unbounded({ onUsage }: AskState): AdmittedCall {
  return { settle: (record) => onUsage?.(record), refund: () => undefined, lose: () => undefined }
}

/** The request with the limit of its reply, and how many characters have been written so far. */
function watchOutput(given: ModelRequest, most: number | undefined) {
  let characters = 0
  const limited =
    most === undefined ? given : { ...given, maxOutputTokens: Math.min(most, given.maxOutputTokens ?? most) }
  const { onDelta } = limited
  const request: ModelRequest = {
    ...limited,
    onDelta(delta) {
      characters += delta.text.length
      onDelta?.(delta)
    },
  }
  return { request, written: () => characters }
}

/** A request that could not even be made costs nothing. */
function watchFetch(fetch: typeof globalThis.fetch): { fetch: typeof globalThis.fetch; wasCalled: () => boolean } {
  let wasCalled = false
  return {
    fetch(input, init) {
      wasCalled = true
      return fetch(input, init)
    },
    wasCalled: () => wasCalled,
  }
}

function troubleOf({ kind, retryAfterMs }: Failure): KeyTrouble {
  return kind === "busy" ? { kind: "limited", retryAfterMs } : { kind: "refused" }
}

/** Keys and headers are taken out of whatever is logged or told from here on. */
function keepSecret({ redactor, environment }: AskState, { target, settings }: Question): void {
  for (const key of findKeys(target, environment)) if (key) redactor.add(key.reveal())
  for (const [name, value] of Object.entries({ ...settings.headers, ...target.entry.headers })) {
    if (!plainHeaders.has(name.toLowerCase())) redactor.add(value)
  }
  if (settings.kind !== "bedrock") return
  for (const name of ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]) redactor.add(environment[name] ?? "")
}

/**
 * True when the same is to be asked without a thinking level. Ollama: '"x" does not support thinking'; LiteLLM:
 * "does not support parameters: ['reasoning_effort']"; strict servers: "Unrecognized request argument".
 */
function leaveThinkingOut(state: AskState, { target, thinking }: Question, failure: Failure): boolean {
  if (failure.kind !== "form" || thinking === undefined) return false
  if (!/thinking|reasoning|effort/i.test(failure.message) || /signature|thinking blocks?\b/i.test(failure.message))
    return false
  state.unthinking.set(`${target.id} ${thinking}`, state.clock.monotonic() + refusedLevelMs)
  return true
}

function isRefusedLevel({ unthinking, clock }: AskState, { target, thinking }: Question): boolean {
  return (unthinking.get(`${target.id} ${thinking}`) ?? 0) > clock.monotonic()
}

/** True when the same conversation is to be asked once more, in words. It stays so told for the rest of the run. */
function mendForm({ refusedForms }: AskState, question: Question): boolean {
  const key = formKey(question)
  // Words did not help either: it was not the form.
  if (refusedForms.delete(key)) return false
  if (question.progress.request.messages.every((message) => message.role === "user")) return false
  if (refusedForms.size >= maxRefusedForms) refusedForms.clear()
  refusedForms.add(key)
  return true
}

function formKey({ target, progress }: Question): string {
  const { sessionKey, runId } = progress.usedFor
  return `${target.id} ${runId ?? sessionKey ?? ""}`
}

/** An operator waits for a check, and wants to hear of a busy provider rather than wait for it. */
function limitsFor({ limits }: AskState, { progress, retry: policy }: Question): ModelLimits {
  if (progress.usedFor.purpose !== "check") return { ...limits, retry: policy }
  const retry = { ...policy, attempts: Math.min(policy.attempts, 2) }
  return { ...limits, retry, maxRetryAfterMs: Math.min(limits.maxRetryAfterMs, 10_000) }
}

/** Milliseconds until the next attempt; undefined when there is to be none. */
function nextDelay({ ids }: AskState, limits: ModelLimits, failure: Failure, attempt: number): number | undefined {
  if (!failure.retryable || attempt >= limits.retry.attempts) return undefined
  if (failure.retryAfterMs === undefined) return backoffMs(limits.retry, attempt)
  if (failure.retryAfterMs > limits.maxRetryAfterMs) return undefined
  return failure.retryAfterMs + retryAfterSpreadMs + ids.below(retryAfterSpreadMs)
}

/** The clock rejects with an error of its own; callers are promised the signal's reason. */
async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return
  try {
    await clock.sleep(ms, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
