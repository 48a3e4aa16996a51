// How far one turn may go: steps, tool calls, and equal calls that bring nothing new. At a limit calls are not made any
// more and the model is told to answer with what it has; a turn that goes on all the same is ended. All of it is read from
// the journal, so a crash changes nothing.
import { isDeepStrictEqual } from "node:util"
import { AppError } from "../kernel/index.ts"
import type { ModelMessage, ToolCall, ToolResultPart } from "../models/contract.ts"

export interface TurnLimits {
  /** Questions to the model. */
  steps: number
  toolCalls: number
  /** Equal calls with equal results. */
  repeatedCalls: number
}

/** Steps behind the last one that may call tools: one to answer, one more for a model that has not understood. */
const lastSteps = 2
/** Calls that were refused as repetitions before the turn is ended as a loop. */
const maxRefused = 3

/** What a journal says of the turn so far. */
interface TurnSoFar {
  messages: readonly ModelMessage[]
  toolResults: readonly ToolResultPart[]
  modelSteps: number
}

const refusals = {
  steps: (most: number) => `Not done: a turn has ${most} steps at most, and this one has used them.`,
  toolCalls: (most: number) => `Not done: a turn makes ${most} tool calls at most, and this one has made them.`,
  repeatedCalls: (most: number) =>
    `Not done: this very call was made ${most} times in this turn with the same result each time.`,
}
const answerNow = " Answer now with what you have, and say what is left undone."
const goAnotherWay = " Making it again brings nothing new: go another way, or answer with what you have."

/** Undefined: it may be made. */
export function refusedCall(
  turn: TurnSoFar,
  limits: TurnLimits,
  call: ToolCall,
): { limit: keyof TurnLimits; result: ToolResultPart } | undefined {
  const limit = limitOf(turn, limits, call)
  if (!limit) return undefined
  const text = refusals[limit](limits[limit]) + (limit === "repeatedCalls" ? goAnotherWay : answerNow)
  return {
    limit,
    result: { callId: call.id, toolName: call.name, content: [{ type: "text", text }], isError: true },
  }
}

function limitOf(turn: TurnSoFar, limits: TurnLimits, call: ToolCall): keyof TurnLimits | undefined {
  if (turn.modelSteps >= limits.steps) return "steps"
  if (turn.toolResults.length >= limits.toolCalls) return "toolCalls"
  return sameResults(turn.messages, call) >= limits.repeatedCalls ? "repeatedCalls" : undefined
}

/** Throws `turn-limit` for a turn that goes on behind its limits, or in circles. Before a step. */
export function checkLimits({ messages, toolResults, modelSteps }: TurnSoFar, limits: TurnLimits): void {
  const refusedFor = (limit: keyof TurnLimits) => {
    const words = refusals[limit](limits[limit])
    return toolResults.filter(
      ({ isError, content: [part] }) => isError && part?.type === "text" && part.text.startsWith(words),
    )
  }
  const repeated = refusedFor("repeatedCalls")
  if (repeated.length >= maxRefused) {
    throw new AppError(
      "turn-limit",
      `I was going in circles, with the tool ${repeated.at(-1)?.toolName} again and again`,
    )
  }
  if (modelSteps >= limits.steps + lastSteps) {
    throw new AppError("turn-limit", `${limits.steps} steps have brought no answer`)
  }
  const stepsBehind = messages.filter((message) => message.role === "tool" && isRefused(message.results, limits)).length
  if (refusedFor("toolCalls").length > 0 && stepsBehind > lastSteps) {
    throw new AppError("turn-limit", `${limits.toolCalls} tool calls have brought no answer`)
  }
}

function isRefused(results: readonly ToolResultPart[], { toolCalls }: TurnLimits): boolean {
  const words = refusals.toolCalls(toolCalls)
  return results.some(({ content: [part] }) => part?.type === "text" && part.text.startsWith(words))
}

/** How often this very call had the result that it had the last time. */
function sameResults(messages: readonly ModelMessage[], call: ToolCall): number {
  const results: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") continue
    const same = message.toolCalls.filter(
      (each) => each.name === call.name && isDeepStrictEqual(each.input, call.input),
    )
    if (same.length === 0) continue
    const next = messages[index + 1]
    const answers = next?.role === "tool" ? next.results : []
    for (const each of same) {
      const answer = answers.find(({ callId }) => callId === each.id)
      if (answer && !isOwnRefusal(answer)) results.push(textOf(answer))
    }
  }
  const last = results.at(-1)
  return results.filter((result) => result === last).length
}

const own = /^Not done: this very call was made \d+ times/

function isOwnRefusal({ content: [part] }: ToolResultPart): boolean {
  return part?.type === "text" && own.test(part.text)
}

/** Ids of boundaries are random, and say nothing of what is in them. */
function textOf({ content, isError }: ToolResultPart): string {
  const parts = content.map((part) => (part.type === "text" ? part.text : part.data))
  return `${isError} ${parts.join("\n").replaceAll(/<(\/?)untrusted-content id="[^"]*"/g, "<$1untrusted-content")}`
}
