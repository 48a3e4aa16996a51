// How a reply ended is looked at: one that was cut at its limit is gone on with once, one that says nothing is asked for
// again, one that was refused counts as failed, so that a fallback may answer.
import type { Ask, AskOptions, Outcome } from "./ask.ts"
import type { ModelReply, ReplayPart, ThinkingLevel, ToolCall, Usage } from "./contract.ts"
import type { Failure } from "./failure/index.ts"
import type { ModelTarget } from "./resolve.ts"

const goOn = "[Your reply was cut off at its length limit. Go on exactly where it stopped, without repeating anything.]"
const sayShort =
  "[Your reply was cut off at its length limit before it had said anything. Answer now and briefly; a tool that you call gets a shorter input.]"
const sayAnything = "[Your reply was empty. Answer now.]"
const cutNote = "\n\n(The answer ends here: it has reached the longest reply of the model.)"

export function createAnswer(ask: Ask): Ask {
  return async (target, options) => {
    const outcome = await ask(target, options)
    return outcome.kind === "reply" ? await settle(ask, target, options, outcome.reply) : outcome
  }
}

async function settle(ask: Ask, target: ModelTarget, options: AskOptions, reply: ModelReply): Promise<Outcome> {
  if (reply.finishReason === "refused") return declined(options)
  const readable = { ...reply, ...readableCalls(reply) }
  if (readable.toolCalls.length > 0) return { kind: "reply", reply: { ...readable, finishReason: "tool-calls" } }
  if (reply.finishReason === "length" || reply.finishReason === "paused") {
    return await goOnWith(ask, target, options, readable)
  }
  return reply.text.trim() === "" ? await askAgain(ask, target, options, reply) : { kind: "reply", reply }
}

/** A call that the limit has cut in its middle cannot be read, and must not be run. */
function readableCalls({ toolCalls, finishReason, replay }: ModelReply): Pick<ModelReply, "toolCalls" | "replay"> {
  const kept = finishReason === "length" ? toolCalls.filter((call) => typeof call.input === "object") : toolCalls
  if (kept.length === toolCalls.length) return { toolCalls, ...(replay ? { replay } : {}) }
  if (!replay) return { toolCalls: kept }
  const isKept = (part: ReplayPart) => part.type !== "call" || kept.some((call) => call.id === part.id)
  return { toolCalls: kept, replay: { source: replay.source, parts: replay.parts.filter(isKept) } }
}

async function goOnWith(ask: Ask, target: ModelTarget, options: AskOptions, cut: ModelReply): Promise<Outcome> {
  const isBare = cut.text.trim() === ""
  const progress = isBare
    ? options.progress.continueWith(undefined, sayShort)
    : options.progress.continueWith(cut, goOn)
  // A model that has used all of its reply for thinking would do so again.
  const thinking: ThinkingLevel | undefined = isBare && cut.reasoning !== "" ? "off" : options.thinking
  const outcome = await ask(target, { ...options, progress, thinking })
  if (outcome.kind === "failed") return isBare ? outcome : { kind: "reply", reply: ended(cut) }
  const rest = { ...outcome.reply, ...readableCalls(outcome.reply) }
  const whole = isBare ? rest : join(cut, rest)
  if (whole.toolCalls.length > 0) return { kind: "reply", reply: { ...whole, finishReason: "tool-calls" } }
  if (rest.finishReason === "refused") return isBare ? declined(options) : { kind: "reply", reply: ended(cut) }
  if (whole.text.trim() === "") return failed(options, "broken", "The reply was cut off before it had said anything")
  return { kind: "reply", reply: rest.finishReason === "length" ? ended(whole) : whole }
}

function ended(reply: ModelReply): ModelReply {
  const { replay: _changed, ...rest } = reply
  return { ...rest, text: reply.text.trimEnd() + cutNote }
}

function join(first: ModelReply, second: ModelReply): ModelReply {
  const parts = [...partsOf(first), ...partsOf(second)]
  const source = first.replay?.source ?? second.replay?.source
  const reasoning = [first.reasoning, second.reasoning].filter((text) => text !== "").join("\n")
  const { replay: _own, ...rest } = second
  return {
    ...rest,
    text: first.text + second.text,
    reasoning,
    usage: addUsage(first.usage, second.usage),
    ...(source === undefined ? {} : { replay: { source, parts } }),
  }
}

function partsOf({ text, toolCalls, replay }: ModelReply): ReplayPart[] {
  if (replay) return replay.parts
  const calls = toolCalls.map((call: ToolCall): ReplayPart => ({ type: "call", id: call.id }))
  return [...(text === "" ? [] : [{ type: "text" as const, length: text.length }]), ...calls]
}

function addUsage(one: Usage, other: Usage): Usage {
  const add = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? (a ?? b) : a + b)
  return {
    inputTokens: add(one.inputTokens, other.inputTokens),
    outputTokens: add(one.outputTokens, other.outputTokens),
    cacheReadTokens: add(one.cacheReadTokens, other.cacheReadTokens),
    cacheWriteTokens: add(one.cacheWriteTokens, other.cacheWriteTokens),
    reasoningTokens: add(one.reasoningTokens, other.reasoningTokens),
  }
}

/** Models end a turn with nothing when their tools have said all; anything else that is empty is a fault. */
async function askAgain(ask: Ask, target: ModelTarget, options: AskOptions, empty: ModelReply): Promise<Outcome> {
  const progress = options.progress.continueWith(undefined, sayAnything)
  const outcome = await ask(target, { ...options, progress })
  if (outcome.kind === "failed") return outcome
  const { reply } = outcome
  if (reply.finishReason === "refused") return declined(options)
  if (reply.text.trim() !== "" || reply.toolCalls.length > 0) return outcome
  if (options.progress.request.messages.at(-1)?.role === "tool") return { kind: "reply", reply: empty }
  return failed(options, "empty", "The model gave an empty reply twice")
}

function declined(options: AskOptions): Outcome {
  return failed(options, "declined", "The model declined to answer", "The model declined to answer this.")
}

function failed(options: AskOptions, kind: Failure["kind"], message: string, chatMessage = `${message}.`): Outcome {
  options.progress.restart()
  return { kind: "failed", failure: { kind, message, chatMessage, retryable: false, otherKeyMayHelp: false } }
}
