// What came back in a check -> what it says: which parts work, what it took, and the next step for what does not.
import type { AppError } from "../../kernel/index.ts"
import { costOf } from "../cost.ts"
import { contextOf, keyOfFact } from "../facts.ts"
import { isLocalServer } from "../known/index.ts"
import { ModelFailure } from "../model-failure.ts"
import type { ModelTarget } from "../resolve.ts"
import type { CheckFailure, CheckFailureKind, ModelCheck } from "./contract.ts"
import { isColourOfPicture } from "./picture.ts"
import { type Answer, type Streamed, answerOf } from "./request.ts"

type Replied = Extract<Answer, { kind: "reply" }>

export interface CheckFacts {
  target: ModelTarget
  hasKey: boolean
  durationMs: number
  /** As the registry has it behind the request. */
  contextTokens: number
}

export function tellReply(answer: Replied, facts: CheckFacts): ModelCheck {
  const { reply, form, streamed } = answer
  const { target, hasKey, durationMs } = facts
  const { inputTokens, outputTokens, reasoningTokens } = reply.usage
  const tools = form.tools ? (reply.toolCalls.length > 0 ? "called" : "not-called") : "refused"
  const told: ModelCheck = {
    model: target.id,
    usable: tools !== "refused",
    failure: tools === "refused" ? toolsRefused(answer) : null,
    advice: [],
    key: hasKey ? "accepted" : "none-needed",
    exists: true,
    tools,
    pictures: picturesOf(answer, target),
    reasoning: { tokens: reasoningTokens ?? null, characters: reply.reasoning.length },
    streaming: streamed,
    durationMs,
    tokens: { input: inputTokens ?? null, output: outputTokens ?? null },
    cost: costOf(target.prices, reply.usage) ?? null,
    context: contextOf(target, facts.contextTokens),
    maxOutputTokens: target.maxOutputTokens ?? null,
  }
  return { ...told, advice: adviceFor(told, answer, target) }
}

function picturesOf({ form, reply }: Replied, target: ModelTarget): ModelCheck["pictures"] {
  if (!target.vision) return "not-sent"
  // With the tools gone as well, nobody knows which of the two it was.
  if (!form.picture) return form.tools ? "refused" : null
  const words = answerOf(reply)
  if (words === "") return null
  return isColourOfPicture(words) ? "seen" : "wrong"
}

const toolsHint =
  "The agent cannot work without tools. Choose a model that calls them, or switch them on where the server is started (llama.cpp: --jinja; vLLM: --enable-auto-tool-choice and --tool-call-parser)."

function toolsRefused({ refusal }: Replied): CheckFailure {
  const reason = refusal instanceof ModelFailure ? `: ${refusal.reason}` : ""
  return { kind: "form", message: `It answers, but its provider refuses the tools${reason}`, hint: toolsHint }
}

/** Less leaves room for a few messages only. */
const usefulContextTokens = 16_384

function adviceFor(told: ModelCheck, { refusal }: Replied, target: ModelTarget): string[] {
  const { settings } = target
  if (!settings) {
    return [
      "This model follows a set of fixed commands. For a real one: svc config set agents.defaults.model <provider/model>",
    ]
  }
  const advice: string[] = []
  const setFalse = `set ${keyOfFact(target, "vision")} to false`
  if (told.tools === "not-called") {
    advice.push(
      "It took the tools but did not call the one that it was told to call: the agent may do less than it is asked. A larger model, or another chat template on the server, may do better.",
    )
  }
  if (told.pictures === "wrong") {
    advice.push(`It was sent a picture and told another colour than the picture's. If it cannot see, ${setFalse}.`)
  }
  if (told.pictures === "refused") {
    const reason = refusal instanceof ModelFailure ? ` (${refusal.reason})` : ""
    advice.push(`Requests with pictures are refused${reason}: ${setFalse}.`)
  }
  if (told.streaming?.pieces === 1) {
    advice.push(
      "The answer came in one piece: the server, or a proxy in front of it, does not stream. Drafts in chats then show nothing until the answer is complete.",
    )
  }
  const context = told.context?.tokens
  if (context !== undefined && context < usefulContextTokens) {
    const ollama = settings.preset === "ollama" ? " For Ollama start the server with OLLAMA_CONTEXT_LENGTH=32768." : ""
    advice.push(
      `It takes ${context.toLocaleString("en-US")} tokens: the agent's instructions and tools need about 4,000 of them, so that conversations are forgotten soon.${ollama}`,
    )
  }
  if (told.context?.from === "assumed") {
    advice.push(
      `How much it takes is not known; ${told.context.tokens.toLocaleString("en-US")} tokens are assumed. Set ${keyOfFact(target, "contextTokens")}.`,
    )
  }
  if (told.context?.from === "table" && isLocalServer(settings.preset, target.modelId)) {
    advice.push(
      `The server has not said how much it takes; ${told.context.tokens.toLocaleString("en-US")} tokens are assumed. Set ${keyOfFact(target, "contextTokens")}.`,
    )
  }
  return advice
}

export function failureOf(
  error: AppError,
  { streamed, timeoutMs }: { streamed: Streamed; timeoutMs: number },
): CheckFailure {
  if (error instanceof ModelFailure) {
    const { kind, reason, hint } = error
    return { kind, message: reason, hint: (kind === "context" ? contextHint : hint) ?? null }
  }
  if (error.code !== "timeout") return { kind: "broken", message: error.message, hint: error.hint ?? null }
  const seconds = Math.round(timeoutMs / 1000)
  const message =
    streamed.firstMs === null
      ? `It has not begun to answer within ${seconds} s`
      : `It began to answer after ${streamed.firstMs} ms, and was not done within ${seconds} s`
  return { kind: "timeout", message, hint: timeoutHint }
}

const contextHint =
  "The check sends little more than what describes the tools. Give the model a larger context where its server is started, or choose one that takes more."
const timeoutHint =
  "A server of your own may still be loading the model, or reads long prompts slowly: give it more time with --timeout 300. Else look at the provider's baseUrl and its status page."

type Learnt = Pick<ModelCheck, "key" | "exists">
const learnt: Readonly<Record<CheckFailureKind, { isKeyGood?: boolean; exists?: boolean }>> = {
  network: {},
  busy: {},
  silent: {},
  timeout: {},
  broken: {},
  refused: {},
  "not-configured": {},
  "key-missing": {},
  key: { isKeyGood: false },
  credit: { isKeyGood: true },
  form: { isKeyGood: true },
  "unknown-model": { exists: false },
  context: { isKeyGood: true, exists: true },
  declined: { isKeyGood: true, exists: true },
  empty: { isKeyGood: true, exists: true },
}

/** What a failure still says of the key and the model. */
export function keyOfFailure({ kind, message }: CheckFailure, hasKey: boolean): Learnt {
  const { isKeyGood, exists: found = null } = learnt[kind]
  // A 404 that speaks of no model is about the address.
  const exists = kind === "unknown-model" && !/model|deployment/i.test(message) ? null : found
  if (isKeyGood === false) return { key: "refused", exists }
  if (!hasKey) return { key: "none-needed", exists }
  return { key: isKeyGood ? "accepted" : null, exists }
}
