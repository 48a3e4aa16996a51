// The prepared conversation -> `messages` of the request, in two steps: drafts, which neighbours can still join, then
// the form on the wire. Reasoning goes back under the name that the server knows; marks for caches are set here.
import { type Json, type JsonObject, createBeginnings, isJsonObject } from "../../kernel/index.ts"
import type { ContentPart, ToolResultPart } from "../contract.ts"
import { hasPicture } from "../conversation/index.ts"
import type { AssistantPart, PreparedMessage } from "../providers/contract.ts"
import type { Ways } from "./presets.ts"
import { replayedReasoning } from "./replay.ts"

export interface Conversation {
  system: string
  messages: readonly PreparedMessage[]
  /** Whether calls without a thought signature of their own get one that skips its check (Gemini 3). */
  dummySignatures: boolean
}

type Draft =
  | { role: "user"; content: ContentPart[]; marked: boolean }
  | { role: "assistant"; parts: AssistantPart[] }
  | { role: "tool"; result: ToolResultPart; marked: boolean }

/** In JSON, with a comma behind each message. */
const beginnings = createBeginnings<PreparedMessage, Buffer>()
const nothing = Buffer.alloc(0)

/**
 * `messages` of the request in JSON. Nearly all of them were in the request before this one, and are not written anew:
 * drafts in front of a reply are joined by nothing that comes later. Pictures and what is behind them are not kept.
 */
export function messagesInJson(conversation: Conversation, ways: Ways): Buffer {
  const { system, messages, dummySignatures } = conversation
  const conditions = [ways, dummySignatures]
  const most = endOfBeginning(messages, ways)
  const found = beginnings.find(messages, conditions)
  const known = found && found.length <= most && messages[found.length]?.role === "assistant" ? found : undefined
  const start = known?.length ?? 0
  const picture = messages.findIndex((message, index) => index >= start && hasPicture(message))
  const end = Math.max(start, endOfBeginning(picture === -1 ? messages : messages.slice(0, picture), ways))
  const json = (from: number, to: number) =>
    toWireMessages(conversation, { from, to }, ways)
      .map((message) => `${JSON.stringify(message)},`)
      .join("")
  const beginning = Buffer.concat([known?.made ?? nothing, Buffer.from(json(start, end))])
  beginnings.keep(messages, { length: end, made: beginning }, conditions)
  const told = system === "" ? "" : `${JSON.stringify(systemMessage(system, ways))},`
  return Buffer.concat([Buffer.from(`[${told}`), beginning, Buffer.from(`${json(end, messages.length).slice(0, -1)}]`)])
}

/** In front of the last reply; where marks are set, in front of the message that is marked before it. */
function endOfBeginning(messages: readonly PreparedMessage[], { cacheMarks }: Ways): number {
  const lastReply = messages.findLastIndex((message) => message.role === "assistant")
  const isReply = (message: PreparedMessage, index: number) => message.role === "assistant" && index < lastReply
  return Math.max(0, cacheMarks ? messages.findLastIndex(isReply) : lastReply)
}

function systemMessage(system: string, { cacheMarks }: Ways): JsonObject {
  return { role: "system", content: textContent([system.toWellFormed()], cacheMarks) }
}

function toWireMessages(
  conversation: Conversation,
  { from, to }: { from: number; to: number },
  ways: Ways,
): JsonObject[] {
  const { messages } = conversation
  const marked = ways.cacheMarks ? markedMessages(messages) : new Set<number>()
  const drafts: Draft[] = []
  messages.slice(from, to).forEach((message, index) => addDrafts(drafts, message, marked.has(from + index), ways))
  return drafts.map((draft) => toWire(draft, conversation, ways))
}

/**
 * The last message, and the one that was last in the request before this: where the cache ends that is read now, and
 * where the next one is read. Together with the system's mark these are three; Anthropic takes four.
 */
function markedMessages(messages: readonly PreparedMessage[]): Set<number> {
  const lastReply = messages.findLastIndex((message) => message.role === "assistant")
  return new Set([messages.length - 1, lastReply - 1].filter((index) => index >= 0))
}

function addDrafts(drafts: Draft[], message: PreparedMessage, marked: boolean, ways: Ways): void {
  switch (message.role) {
    case "user":
      return addUser(drafts, message.content, marked, ways)
    case "assistant":
      drafts.push({ role: "assistant", parts: message.parts })
      return
    case "tool":
      return addResults(drafts, message.results, marked, ways)
  }
}

/** Two messages of a user in a row become one: templates that want turns to alternate refuse them. */
function addUser(drafts: Draft[], content: ContentPart[], marked: boolean, ways: Ways): void {
  const last = drafts.at(-1)
  if (last?.role === "user") {
    last.content = [...last.content, ...content]
    last.marked ||= marked
    return
  }
  if (last?.role === "tool" && ways.assistantBeforeUser) {
    drafts.push({ role: "assistant", parts: [{ type: "text", text: "The results are above." }] })
  }
  drafts.push({ role: "user", content: [...content], marked })
}

/** Most servers refuse pictures in results, so that one message of a user behind all results shows them. */
function addResults(drafts: Draft[], results: readonly ToolResultPart[], marked: boolean, ways: Ways): void {
  const pictures =
    ways.toolPictures === "in-result"
      ? []
      : results.flatMap(({ content }) => content.filter(({ type }) => type === "image"))
  results.forEach((result, index) => {
    const isLast = index === results.length - 1
    drafts.push({ role: "tool", result, marked: marked && isLast && pictures.length === 0 })
  })
  if (pictures.length === 0) return
  // The words stand behind the pictures, so that a mark on them covers all.
  addUser(drafts, [...pictures, { type: "text", text: "The pictures belong to the results above." }], marked, ways)
}

function toWire(draft: Draft, conversation: Conversation, ways: Ways): JsonObject {
  switch (draft.role) {
    case "user":
      return { role: "user", content: wireContent(draft.content, draft.marked) }
    case "assistant":
      return assistantMessage(draft.parts, conversation, ways)
    case "tool":
      return {
        role: "tool",
        tool_call_id: draft.result.callId,
        ...(ways.namedResults ? { name: draft.result.toolName } : {}),
        content: resultContent(draft.result, draft.marked, ways),
      }
  }
}

function wireContent(content: readonly ContentPart[], marked: boolean): Json {
  const texts = content.flatMap((part) => (part.type === "text" ? [part.text.toWellFormed()] : []))
  if (texts.length === content.length) return textContent(texts, marked)
  const lastText = content.findLastIndex(({ type }) => type === "text")
  return content.map((part, index) => wirePart(part, marked && index === lastText))
}

function wirePart(part: ContentPart, marked: boolean): JsonObject {
  if (part.type === "image") {
    return { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${part.data}` } }
  }
  return { type: "text", text: part.text.toWellFormed(), ...(marked ? { cache_control: { type: "ephemeral" } } : {}) }
}

function textContent(texts: readonly string[], marked: boolean): Json {
  const text = texts.join("\n\n")
  return marked ? [{ type: "text", text, cache_control: { type: "ephemeral" } }] : text
}

function resultContent(result: ToolResultPart, marked: boolean, ways: Ways): Json {
  const texts = result.content.flatMap((part) => (part.type === "text" ? [part.text.toWellFormed()] : []))
  const pictures = result.content.filter(({ type }) => type === "image")
  const said = texts.join("\n")
  const absent = pictures.length > 0 ? "See the pictures." : "(no output)"
  const words = said.trim() === "" ? absent : said
  // There is no field for failure in this interface.
  const text = result.isError && !/^\W*error/i.test(words) ? `Error: ${words}` : words
  if (ways.toolPictures === "in-result" && pictures.length > 0) {
    return wireContent([{ type: "text", text }, ...pictures], marked)
  }
  return textContent([text], marked)
}

function assistantMessage(parts: readonly AssistantPart[], conversation: Conversation, ways: Ways): JsonObject {
  const isTagged = (part: AssistantPart) => ways.taggedReasoning && part.meta?.["tagged"] === true
  const text = parts.map((part) => (isTagged(part) ? inTags(part) : part.type === "text" ? part.text : "")).join("")
  const calls = parts.filter((part) => part.type === "call")
  const reasoning = replayedReasoning(
    parts.filter((part) => !isTagged(part)),
    ways,
  )
  const signed =
    calls.length === 0 || calls[0]?.meta?.["extra_content"] !== undefined || "reasoning_details" in reasoning
  const toolCalls = calls.map(({ id, name, input, meta }, index): JsonObject => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
    ...extraContent(meta),
    // Only the first of a reply's calls carries a signature, and only it is checked.
    ...(conversation.dummySignatures && !signed && index === 0 ? skippedSignature : {}),
  }))
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? ways.emptyContent : text.toWellFormed(),
    ...Object.assign({}, ...parts.map((part) => (part.type === "text" ? extraContent(part.meta) : {}))),
    ...reasoning,
    ...(calls.length === 0 ? {} : { tool_calls: toolCalls }),
  }
}

function inTags(part: AssistantPart): string {
  return part.type === "reasoning" ? `<think>\n${part.text.trim()}\n</think>\n\n` : ""
}

/** ai.google.dev/gemini-api/docs/thought-signatures: for calls that another model made. */
const skippedSignature = { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } }

function extraContent(meta: JsonObject | undefined): JsonObject {
  const extra = meta?.["extra_content"]
  return isJsonObject(extra) ? { extra_content: extra } : {}
}
