// The conversation as it is kept -> a form that the target does not refuse, whoever wrote which part of it: no blank
// text, each call with its one result right behind it, ids and names in the target's form, pictures only where the
// model sees. What the target wrote itself goes back exactly as it came. Changes nothing of what is kept.
import { type JsonObject, createBeginnings, isJsonObject } from "../../kernel/index.ts"
import type { ContentPart, ModelMessage, Replay, ToolCall, ToolResultPart } from "../contract.ts"
import type { AssistantPart, PreparedMessage } from "../providers/contract.ts"
import { type CallIdForm, type CallIds, createCallIds, isSafeId, toToolName } from "./names.ts"
import { hasPicture } from "./pictures.ts"
import { addInOrder, askedAtTheEnd } from "./tidy.ts"

export interface PrepareOptions {
  /** What `Replay.source` must be for the target to get it back. */
  source: string
  vision: boolean
  callIds: CallIdForm
  /** The mended form: calls and results become words, nothing of any provider's own is left. For one that refused. */
  plain?: boolean
}

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>

const pictureNote = "[A picture stands here, but this model takes no pictures.]"
const noOutput = "(no output)"

interface Prepared {
  messages: readonly PreparedMessage[]
  ids: CallIds
}

/**
 * Up to a reply: the results of a call may stand anywhere in front of the next one. A reply has been asked for with all
 * that is before it, so nothing is added to that any more. Up to a picture: they are large, and gone from the next turn.
 */
const beginnings = createBeginnings<ModelMessage, Prepared>()

export function prepareConversation(messages: readonly ModelMessage[], options: PrepareOptions): PreparedMessage[] {
  const { source, vision, callIds, plain } = options
  const conditions = [source, vision, callIds, plain]
  const found = beginnings.find(messages, conditions)
  const known = found && messages[found.length]?.role === "assistant" ? found : undefined
  const ids = known?.made.ids.copy() ?? createCallIds(callIds)
  const ordered = [...(known?.made.messages ?? [])]
  const start = known?.length ?? 0
  const added = messages.slice(start)
  const picture = added.findIndex(hasPicture)
  const lastReply = added
    .slice(0, picture === -1 ? undefined : picture)
    .findLastIndex(({ role }) => role === "assistant")
  for (let index = start; index < messages.length; index += 1) {
    if (index === start + lastReply)
      beginnings.keep(messages, { length: index, made: { messages: [...ordered], ids: ids.copy() } }, conditions)
    for (const message of preparedOf(messages, index, ids, options)) addInOrder(ordered, message)
  }
  return askedAtTheEnd(ordered)
}

function preparedOf(
  messages: readonly ModelMessage[],
  index: number,
  ids: CallIds,
  options: PrepareOptions,
): Iterable<PreparedMessage> {
  const message = messages[index] as ModelMessage
  if (message.role === "user") return [{ role: "user", content: seen(message.content, options.vision) }]
  // Results are placed behind their calls, wherever they stood; results without a call have nowhere to go.
  if (message.role === "tool") return []
  const results = resultsOf(messages, index, message.toolCalls)
  return options.plain ? inWords(message, results, options) : withCalls(message, results, ids, options)
}

/** Only what says something: providers refuse blank texts. */
function seen(content: readonly ContentPart[], vision: boolean): ContentPart[] {
  return content.flatMap((part): ContentPart[] => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [part]
    return [vision ? part : { type: "text", text: pictureNote }]
  })
}

/** The result of each call, in the order of the calls; one that is missing was cut by a crash or a trimmed transcript. */
function resultsOf(messages: readonly ModelMessage[], from: number, calls: readonly ToolCall[]): ToolResultPart[] {
  const found = new Map<string, ToolResultPart>()
  for (let index = from + 1; index < messages.length && found.size < calls.length; index += 1) {
    const message = messages[index] as ModelMessage
    if (message.role === "assistant") break
    if (message.role === "tool") for (const result of message.results) found.set(result.callId, result)
  }
  return calls.map((call) => found.get(call.id) ?? missing(call))
}

function missing(call: ToolCall): ToolResultPart {
  const text = "There is no result: the call was interrupted."
  return { callId: call.id, toolName: call.name, content: [{ type: "text", text }], isError: true }
}

function* withCalls(
  message: AssistantMessage,
  results: readonly ToolResultPart[],
  ids: CallIds,
  options: PrepareOptions,
): Iterable<PreparedMessage> {
  const replay = message.replay?.source === options.source && fits(message, message.replay) ? message.replay : undefined
  const sent = new Map(message.toolCalls.map((call) => [call.id, ids.assign(call.id, replay !== undefined)]))
  const parts = replay ? replayed(message, replay, sent) : plainParts(message, sent)
  if (parts.length > 0) yield { role: "assistant", parts }
  if (results.length > 0) {
    yield {
      role: "tool",
      results: results.map((result, index) => ({
        ...result,
        callId: sent.get(message.toolCalls[index]?.id ?? "") ?? result.callId,
        toolName: toToolName(message.toolCalls[index]?.name ?? result.toolName),
        content: filled(seen(result.content, options.vision)),
      })),
    }
  }
}

function filled(content: ContentPart[]): ContentPart[] {
  return content.length > 0 ? content : [{ type: "text", text: noOutput }]
}

function plainParts(message: AssistantMessage, sent: ReadonlyMap<string, string>): AssistantPart[] {
  const text: AssistantPart[] = message.text.trim() === "" ? [] : [{ type: "text", text: message.text.trimEnd() }]
  return [...text, ...message.toolCalls.map((call) => toCall(call, sent))]
}

/** What the target said itself, unchanged and in its order, up to the last word or call: thinking that led to nothing is refused. */
function replayed(message: AssistantMessage, replay: Replay, sent: ReadonlyMap<string, string>): AssistantPart[] {
  const parts = replayedParts(message, replay, sent)
  return parts.slice(0, parts.findLastIndex((part) => part.type !== "reasoning") + 1)
}

function replayedParts(message: AssistantMessage, replay: Replay, sent: ReadonlyMap<string, string>): AssistantPart[] {
  let at = 0
  const calls = new Map(message.toolCalls.map((call) => [call.id, call]))
  return replay.parts.flatMap((part): AssistantPart[] => {
    const meta = part.meta === undefined ? {} : { meta: part.meta }
    if (part.type === "reasoning") return [{ type: "reasoning", text: part.text, ...meta }]
    if (part.type === "text") {
      const text = message.text.slice(at, at + part.length)
      at += part.length
      // Gemini signs a text that may be empty, and wants the signature back (ai.google.dev, "Thought signatures").
      const isSigned = part.meta?.["thoughtSignature"] !== undefined
      return text.trim() === "" && !isSigned ? [] : [{ type: "text", text, ...meta }]
    }
    const call = calls.get(part.id)
    return call ? [{ ...toCall(call, sent), ...meta }] : []
  })
}

/** Words and calls of the message and of its replay are the same: a message that was changed since is told as it is now. */
function fits(message: AssistantMessage, replay: Replay): boolean {
  let length = 0
  const calls: string[] = []
  for (const part of replay.parts) {
    if (part.type === "text") length += part.length
    else if (part.type === "call") calls.push(part.id)
  }
  return (
    length === message.text.length &&
    calls.length === message.toolCalls.length &&
    message.toolCalls.every((call, index) => calls[index] === call.id)
  )
}

function toCall(call: ToolCall, sent: ReadonlyMap<string, string>): Extract<AssistantPart, { type: "call" }> {
  return { type: "call", id: sent.get(call.id) ?? call.id, name: toToolName(call.name), input: toInput(call) }
}

/** Providers want an object here; what the model wrote instead stays readable to it. */
function toInput(call: ToolCall): JsonObject {
  return isJsonObject(call.input) ? call.input : { unreadable_input: call.input }
}

/** The mended form: what was called and what came back, told as a person would. */
function inWords(
  message: AssistantMessage,
  results: readonly ToolResultPart[],
  { vision }: PrepareOptions,
): PreparedMessage[] {
  const calls = message.toolCalls.map((call) => `[I called the tool ${toToolName(call.name)} with ${inputText(call)}]`)
  const said = [message.text.trim(), ...calls].filter((text) => text !== "").join("\n\n")
  const content = results.flatMap((result): ContentPart[] => [
    { type: "text", text: `[What the tool ${toToolName(result.toolName)} answered:]` },
    ...filled(seen(result.content, vision)),
  ])
  return [
    ...(said === "" ? [] : [{ role: "assistant" as const, parts: [{ type: "text" as const, text: said }] }]),
    ...(content.length === 0 ? [] : [{ role: "user" as const, content }]),
  ]
}

function inputText(call: ToolCall): string {
  return JSON.stringify(call.input)
}

/** Whether a reply says more than its text followed by its calls, so that its order or its ids must be kept. */
export function needsReplay(parts: Replay["parts"], calls: readonly ToolCall[]): boolean {
  if (calls.some((call) => !isSafeId(call.id))) return true
  const firstCall = parts.findIndex((part) => part.type === "call")
  return parts.some(
    (part, index) =>
      part.type === "reasoning" ||
      part.meta !== undefined ||
      (part.type === "text" && firstCall >= 0 && index > firstCall),
  )
}
