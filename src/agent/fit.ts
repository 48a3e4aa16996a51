// A conversation that is longer than the model takes is shortened before it is asked, and asked again when the model
// says so: past turns first, then old results of this very turn, then long ones. Our count of tokens is rough, so it
// learns from what the provider counts. What has been left out stays out for the rest of the turn: a prompt whose
// beginning changes at each step would be read anew by the provider each time.
import type { Log } from "../kernel/index.ts"
import type { ContentPart, ModelMessage, ModelReply, ModelRequest } from "../models/contract.ts"
import { ModelFailure, createSum, isContextTooLong, toolSize } from "../models/index.ts"
import { charactersPerToken, estimateTokens } from "../sessions/index.ts"

export interface FitOptions {
  complete: (request: ModelRequest) => Promise<ModelReply>
  /** How many of a request's first messages are the past; what follows is the turn itself. */
  historyLength: number
  /** `provider/model` that is asked first. */
  model: string
  /** What the model takes in front of its longest reply. */
  promptTokens: number
  log: Log
}

/** The rest is for what our estimate misses. */
const usableShare = 0.9
/** When room is made, as much as serves some further steps, so that not every step changes the prompt. */
const roomyShare = 0.7
/** One for half and half of the past, and some for the results; more than any conversation has needed. */
const maxTries = 12
/** Longest text of one result, when the results themselves do not fit. */
const resultSizes = [60_000, 20_000, 8_000, 3_000]
const elided = "[This result was left out to make room. Call the tool again if it is needed.]"
const cutMark = "\n[The rest was left out to make room.]"
/** A small prompt says little about how the provider counts. */
const enoughToLearn = 500

export function fitRequests(options: FitOptions): (request: ModelRequest) => Promise<ModelReply> {
  const shape: Shape = { leftOut: 0, elided: 0, resultSize: 0 }
  let factor = 1
  const sizeOf = (messages: readonly ModelMessage[], request: ModelRequest) =>
    factor * (fixedTokens(request) + tokensOfAll(messages))
  const shrinkTo = (goal: number, request: ModelRequest): boolean => {
    const before = JSON.stringify(shape)
    const present = () => sizeOf(apply(shape, request.messages, options.historyLength), request)
    forgetPast(shape, request.messages, { historyLength: options.historyLength, excess: (present() - goal) / factor })
    while (present() > goal && shortenResults(shape, request.messages, options.historyLength));
    const isSmaller = JSON.stringify(shape) !== before
    if (isSmaller) options.log.warn({ ...shape }, "conversation too long for the model, asked with less of it")
    return isSmaller
  }
  return async (request) => {
    const usable = options.promptTokens * usableShare
    if (sizeOf(apply(shape, request.messages, options.historyLength), request) > usable) {
      shrinkTo(options.promptTokens * roomyShare, request)
    }
    for (let tries = 1; ; tries += 1) {
      const messages = apply(shape, request.messages, options.historyLength)
      try {
        const reply = await options.complete({ ...request, messages })
        // Others count differently, and several prompts are no one.
        if (reply.model === options.model && (reply.calls ?? 1) === 1)
          factor = learn(factor, sizeOf(messages, request), reply.usage.inputTokens)
        return reply
      } catch (error) {
        if (!isContextTooLong(error) || tries >= maxTries) throw error
        const limit = error instanceof ModelFailure ? error.contextLimit : undefined
        const size = sizeOf(messages, request)
        if (!shrinkTo(roomyShare * Math.min(size, limit ?? size), request)) throw error
      }
    }
  }
}

const tokensOfAll = createSum(estimateTokens)

/** What of a request is left out. */
interface Shape {
  /** Messages of the past, from its beginning. */
  leftOut: number
  /** Messages with results in this turn, from its beginning, whose results are not shown any more. */
  elided: number
  /** Index into `resultSizes` plus one; 0: whole. */
  resultSize: number
}

/** Leaves out as many past turns, oldest first, as hold `excess` tokens. */
function forgetPast(
  shape: Shape,
  messages: readonly ModelMessage[],
  { historyLength, excess }: { historyLength: number; excess: number },
): void {
  let left = excess
  while (left > 0 && shape.leftOut < historyLength) {
    const next = nextUser(messages, shape.leftOut + 1, historyLength)
    for (const message of messages.slice(shape.leftOut, next)) left -= estimateTokens(message)
    shape.leftOut = next
  }
}

/** The next smaller shape of the turn's own results; false when there is none. */
function shortenResults(shape: Shape, messages: readonly ModelMessage[], historyLength: number): boolean {
  // The newest results are what the model is about to look at.
  const results = messages.slice(historyLength).filter((message) => message.role === "tool").length
  if (shape.elided < results - 1) {
    shape.elided += 1
    return true
  }
  if (shape.resultSize >= resultSizes.length) return false
  shape.resultSize += 1
  return true
}

/** The past begins with a user's message: an answer without its question is refused by providers. */
function nextUser(messages: readonly ModelMessage[], from: number, end: number): number {
  for (let index = from; index < end; index += 1) if (messages[index]?.role === "user") return index
  return end
}

function apply(shape: Shape, messages: readonly ModelMessage[], historyLength: number): ModelMessage[] {
  if (shape.leftOut === 0 && shape.elided === 0 && shape.resultSize === 0) return [...messages]
  let seen = 0
  const size = shape.resultSize === 0 ? undefined : resultSizes[shape.resultSize - 1]
  return messages.slice(shape.leftOut).map((message, index) => {
    if (message.role !== "tool" || index + shape.leftOut < historyLength) return message
    seen += 1
    const isElided = seen <= shape.elided
    if (!isElided && size === undefined) return message
    const results = message.results.map((result) => ({
      ...result,
      content: isElided
        ? [{ type: "text" as const, text: elided }]
        : result.content.map((part) => cut(part, size ?? 0)),
    }))
    return { role: "tool", results }
  })
}

function cut(part: ContentPart, size: number): ContentPart {
  if (part.type === "image" || part.text.length <= size) return part
  return { type: "text", text: part.text.slice(0, size) + cutMark }
}

function fixedTokens({ system, tools }: ModelRequest): number {
  return (system.length + tools.reduce((sum, tool) => sum + toolSize(tool).characters + 1, 0)) / charactersPerToken
}

/** Within a factor of three: a provider that counts nonsense must not make us send nothing, or all. */
function learn(factor: number, estimated: number, counted: number | undefined): number {
  if (counted === undefined || counted < enoughToLearn || estimated <= 0) return factor
  return Math.min(3, Math.max(1 / 3, (factor * counted) / estimated))
}
