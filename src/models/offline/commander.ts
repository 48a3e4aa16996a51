// `offline/commander`: a deterministic model without network behind the interface of the real ones.
// messages -> task (split by trust) -> commands -> the next tool call, or the final text. Keeps no state.
import type { Clock, Ids } from "../../kernel/index.ts"
import type { ContentPart, ModelMessage, ModelReply, ModelRequest, ToolCall } from "../contract.ts"
import { answeredQuestion } from "./answered.ts"
import { parseCommands, type Command } from "./commands.ts"
import { perform, type Performance } from "./perform.ts"
import { quoteForeign, readConversation, type Observation, type SplitText } from "./reading.ts"

export const offlineModelId = "offline/commander"
export const offlineContextTokens = 32_768

const heartbeatAcknowledgment = "HEARTBEAT_OK"
/** Last line of a webhook's report whose answer went to a chat. */
const deliveredLine = /\n\((?:queued for|delivered to) \S+ chat [^\n]*\)$/
/** Last line of any webhook's report: bookkeeping, not news. */
const deliveryLine = /\n\((?:not )?delivered\b[^\n]*\)$/
const maxQuote = 200
const maxEvents = 5
/** Pieces in which the final text is streamed: enough to be seen as a stream, few enough to cost nothing. */
const deltaCount = 4
/** What a picture counts for in the token estimate: about 1000 tokens, as real models charge. */
const imageCharacters = 4000
/** What words of another party may make this model do: nothing that reaches outside. */
const harmless = new Set<Command["kind"]>(["say", "wait", "help"])

export interface OfflineModel {
  /** One step. Rejects with the signal's reason when it is aborted. */
  complete(request: ModelRequest): Promise<ModelReply>
}

export function createOfflineModel(parts: { clock: Clock; ids: Ids }): OfflineModel {
  return {
    async complete(request) {
      request.signal.throwIfAborted()
      const { task, observations } = readConversation(request.messages)
      const answered = answeredQuestion(task)
      if (typeof answered === "object") return advance(answered, observations, request, parts)
      const plan: Plan = answered === undefined ? choosePlan(task) : { kind: "text", text: answered }
      if (plan.kind === "text") return finish(request, plan.text, "")
      return advance(perform(plan.commands), observations, request, parts)
    },
  }
}

type Plan = { kind: "text"; text: string } | { kind: "commands"; commands: Command[] }

function choosePlan(task: SplitText): Plan {
  const foreign = task.foreign.map(quoteForeign)
  const events = [...task.events.map(quoteForeign), ...foreign]
  if (task.own.includes(heartbeatAcknowledgment)) {
    // What went to a chat has been read there: a heartbeat would only tell it again.
    const unread = events.filter((event) => !deliveredLine.test(event))
    return { kind: "text", text: unread.length > 0 ? eventReport(unread) : heartbeatAcknowledgment }
  }
  const commands = parseCommands(task.own)
  // A sentence of framing around foreign text is no command; a person's own commands beside it are.
  const isTask = commands.some((command) => command.kind !== "unknown")
  if (foreign.length > 0 && !isTask) return planForeign(foreign.join("\n"))
  if (commands.length > 0) return { kind: "commands", commands }
  return events.length > 0
    ? { kind: "text", text: eventReport(events) }
    : { kind: "commands", commands: [{ kind: "help" }] }
}

/** So many commands nobody sends on purpose; reading each of a stranger's hundred thousand would hold up everything. */
const maxForeignCommands = 500

function planForeign(text: string): Plan {
  const isDocument = text.split(/[;\n]/, maxForeignCommands + 1).length > maxForeignCommands
  const commands = isDocument ? [] : parseCommands(text)
  if (commands.length > 0 && commands.every((command) => harmless.has(command.kind))) {
    // Once more: the quotes that a text was written in may have hidden the start of its line.
    const safe = commands.map((command) =>
      command.kind === "say" ? { ...command, text: quoteForeign(command.text) } : command,
    )
    return { kind: "commands", commands: safe }
  }
  return { kind: "text", text: `Received: ${shorten(text)}` }
}

function eventReport(events: readonly string[]): string {
  const shown = events.slice(0, maxEvents).map((event) => `Event: ${shorten(event.replace(deliveryLine, ""))}`)
  if (events.length > maxEvents) shown.push(`And ${events.length - maxEvents} more.`)
  return shown.join("\n")
}

function shorten(text: string): string {
  return text.length > maxQuote ? `${text.slice(0, maxQuote)}…` : text
}

/** Replays what the conversation already holds, then does the first thing that it does not. */
async function advance(
  performance: Performance,
  observations: readonly Observation[],
  request: ModelRequest,
  parts: { clock: Clock; ids: Ids },
): Promise<ModelReply> {
  const has = (name: string) => request.tools.some((tool) => tool.name === name)
  let seen = 0
  let reasoning = ""
  let next = performance.next()
  while (!next.done) {
    const need = next.value
    if (need.kind === "call") {
      const observation = observations[seen]
      if (!observation && has(need.tool)) {
        return reply(request, {
          text: "",
          reasoning,
          toolCalls: [{ id: parts.ids.uuid(), name: need.tool, input: need.input }],
        })
      }
      if (observation) seen += 1
      next = performance.next(observation)
      continue
    }
    // A pause or a thought before a tool call that has been made already belongs to an earlier step.
    if (seen === observations.length) {
      if (need.kind === "wait") await pause(parts.clock, need.seconds, request.signal)
      else {
        reasoning += need.text
        request.onDelta?.({ kind: "reasoning", text: need.text })
      }
    }
    next = performance.next(undefined)
  }
  return finish(request, next.value, reasoning)
}

async function pause(clock: Clock, seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await clock.sleep(seconds * 1000, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

function finish(request: ModelRequest, text: string, reasoning: string): ModelReply {
  const size = Math.max(1, Math.ceil(text.length / deltaCount))
  for (let start = 0; start < text.length; start += size) {
    request.onDelta?.({ kind: "text", text: text.slice(start, start + size) })
  }
  return reply(request, { text, reasoning, toolCalls: [] })
}

function reply(request: ModelRequest, made: { text: string; reasoning: string; toolCalls: ToolCall[] }): ModelReply {
  const calls = made.toolCalls.map((call) => JSON.stringify(call.input)).join("")
  return {
    ...made,
    finishReason: made.toolCalls.length > 0 ? "tool-calls" : "stop",
    usage: {
      inputTokens: estimateTokens(request.system.length + sizeOf(request.messages)),
      outputTokens: estimateTokens(made.text.length + made.reasoning.length + calls.length),
    },
    model: offlineModelId,
  }
}

function sizeOf(messages: readonly ModelMessage[]): number {
  const sizeOfParts = (parts: readonly ContentPart[]) =>
    parts.reduce((total, part) => total + (part.type === "text" ? part.text.length : imageCharacters), 0)
  return messages.reduce((total, message) => {
    if (message.role === "user") return total + sizeOfParts(message.content)
    if (message.role === "assistant") return total + message.text.length
    return total + message.results.reduce((sum, result) => sum + sizeOfParts(result.content), 0)
  }, 0)
}

/** Four characters a token: the usual rule of thumb, good enough for numbers that nobody is billed for. */
function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}
