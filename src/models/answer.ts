// How a reply ended is looked at: one that was cut at its limit is gone on with once, one that says nothing is asked for
// again, one that was refused counts as failed, so that a fallback may answer.
import { AppError } from "../kernel/index.ts"
import type { Ask, AskOptions, Outcome } from "./ask.ts"
import type { ModelReply, ThinkingLevel, Usage } from "./contract.ts"
import type { Failure } from "./failure/index.ts"
import type { ModelTarget } from "./resolve.ts"

const goOn = "[Your reply was cut off at its length limit. Go on exactly where it stopped, without repeating anything.]"
const sayShort =
  "[Your reply was cut off at its length limit before it had said anything. Answer now and briefly; a tool that you call gets a shorter input.]"
const sayAnything = "[Your reply was empty. Answer now.]"
const cutNote = "\n\n(The answer ends here: it has reached the longest reply of the model.)"
const spentNote = "\n\n(The answer ends here: a limit on spending is reached.)"

export function createAnswer(ask: Ask): Ask {
  return async (target, options) => {
    const { progress } = options
    const isBehindTools = progress.request.messages.at(-1)?.role === "tool"
    const outcome = await settle({ ask, target, options, isBehindTools }, await ask(target, options), {
      continued: false,
      repeated: false,
    })
    // What this model has said is void for the next one.
    if (outcome.kind === "failed") progress.startOver()
    return outcome
  }
}

interface Question {
  ask: Ask
  target: ModelTarget
  options: AskOptions
  /** Tools have run: a model may have nothing to add. */
  isBehindTools: boolean
}

/** What has been tried already; each is tried once. */
interface Tried {
  continued: boolean
  repeated: boolean
  /** The reply that stands when going on with it fails. */
  cut?: ModelReply
  /** What the replies before have used. */
  used?: Usage
}

async function settle(question: Question, outcome: Outcome, tried: Tried): Promise<Outcome> {
  const { cut } = tried
  const { progress } = question.options
  const cutShort = (stands: ModelReply): Outcome => ({ kind: "reply", reply: ended(stands, progress.endWith(stands)) })
  if (outcome.kind === "failed") return cut ? cutShort(cut) : outcome
  const reply = withoutCutCalls(joined(outcome.reply, tried))
  if (reply.finishReason === "refused") return cut ? cutShort(cut) : declined()
  if (reply.toolCalls.length > 0) return { kind: "reply", reply: { ...reply, finishReason: "tool-calls" } }
  const isBlank = reply.text.trim() === ""
  if (reply.finishReason === "length" || reply.finishReason === "paused") {
    if (!tried.continued) return await goOnWith(question, reply, tried)
    if (isBlank) return failed("broken", "The reply was cut off before it had said anything")
    return { kind: "reply", reply: reply.finishReason === "length" ? ended(reply, reply.text) : reply }
  }
  if (!isBlank || progress.request.mayBeSilent) return { kind: "reply", reply }
  if (!tried.repeated) return await askAgain(question, reply, tried)
  // Models end a turn with nothing when their tools have said all; anything else that is empty is a fault.
  return question.isBehindTools ? { kind: "reply", reply } : failed("empty", "The model gave an empty reply twice")
}

/** A call that the limit has cut in its middle cannot be read, and must not be run. What is left is told plainly. */
function withoutCutCalls(reply: ModelReply): ModelReply {
  if (reply.finishReason !== "length") return reply
  const toolCalls = reply.toolCalls.filter((call) => typeof call.input === "object")
  if (toolCalls.length === reply.toolCalls.length) return reply
  const { replay: _ofMore, ...rest } = reply
  return { ...rest, toolCalls }
}

async function goOnWith({ ask, target, options, ...more }: Question, cut: ModelReply, tried: Tried): Promise<Outcome> {
  const isBlank = cut.text.trim() === ""
  options.progress.continueBehind(cut, isBlank ? sayShort : goOn)
  // A model that has used all of its reply for thinking would do so again.
  const thinking: ThinkingLevel | undefined = isBlank && cut.reasoning !== "" ? "off" : options.thinking
  const next: Tried = { ...tried, continued: true, used: cut.usage, ...(isBlank ? {} : { cut }) }
  let outcome: Outcome
  try {
    outcome = await ask(target, { ...options, thinking })
  } catch (error) {
    // What there was room for under the cap is paid for, and is an answer.
    if (isBlank || !(error instanceof AppError) || error.code !== "budget-exceeded") throw error
    return { kind: "reply", reply: ended(cut, options.progress.endWith(cut), spentNote) }
  }
  return await settle({ ask, target, options, ...more }, outcome, next)
}

async function askAgain({ ask, target, options, ...more }: Question, empty: ModelReply, tried: Tried) {
  options.progress.continueBehind(empty, sayAnything)
  const outcome = await ask(target, options)
  return await settle({ ask, target, options, ...more }, outcome, { ...tried, repeated: true, used: empty.usage })
}

/** The words stay as they were streamed: those of them that a person has been sent are known by that. */
function ended(reply: ModelReply, text: string, note = cutNote): ModelReply {
  const { replay: _changed, ...rest } = reply
  return { ...rest, text: text + note }
}

/** With what the replies before it have thought and used. Their words stand in it already. */
function joined(reply: ModelReply, { cut, used, continued, repeated }: Tried): ModelReply {
  if (!used) return reply
  const reasoning = [cut?.reasoning ?? "", reply.reasoning].filter((text) => text !== "").join("\n")
  const calls = 1 + Number(continued) + Number(repeated)
  return { ...reply, reasoning, usage: addUsage(used, reply.usage), calls }
}

function addUsage(one: Usage, other: Usage): Usage {
  const add = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? (a ?? b) : a + b)
  return {
    inputTokens: add(one.inputTokens, other.inputTokens),
    outputTokens: add(one.outputTokens, other.outputTokens),
    cacheReadTokens: add(one.cacheReadTokens, other.cacheReadTokens),
    cacheWriteTokens: add(one.cacheWriteTokens, other.cacheWriteTokens),
    reasoningTokens: add(one.reasoningTokens, other.reasoningTokens),
    ...(one.cost === undefined && other.cost === undefined ? {} : { cost: add(one.cost, other.cost) }),
  }
}

function declined(): Outcome {
  return failed("declined", "The model declined to answer", "The model declined to answer this.")
}

function failed(kind: Failure["kind"], message: string, chatMessage = `${message}.`): Outcome {
  return { kind: "failed", failure: { kind, message, chatMessage, retryable: false, otherKeyMayHelp: false } }
}
