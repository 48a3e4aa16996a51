// The prepared conversation -> `messages` of the request, in two steps: drafts, which neighbours can still join, then
// the form on the wire. Reasoning goes back under the name that the server knows; marks for caches are set here.
import { isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"
import type { ContentPart, ToolResultPart } from "../contract.ts"
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
  /** `from`: it is this message and nothing else. */
  | { role: "user"; content: ContentPart[]; marked: boolean; from?: PreparedMessage | undefined }
  | { role: "assistant"; parts: AssistantPart[]; from?: PreparedMessage }
  | { role: "tool"; result: ToolResultPart; marked: boolean }

/** Words alone have one form with all servers; the past is the same objects from turn to turn. */
const wireTexts = new WeakMap<PreparedMessage, JsonObject>()
/** Of those, as JSON. */
const wireJson = new WeakMap<object, string>()

/** What `JSON.stringify` would give. */
export function stringifyMessages(messages: readonly Json[]): string {
  return `[${messages.map((message) => (isJsonObject(message) ? jsonOf(message) : JSON.stringify(message))).join(",")}]`
}

function jsonOf(message: JsonObject): string {
  return wireJson.get(message) ?? JSON.stringify(message)
}

export function toWireMessages(conversation: Conversation, ways: Ways): JsonObject[] {
  const { system, messages } = conversation
  const marked = ways.cacheMarks ? markedMessages(messages) : new Set<number>()
  const drafts: Draft[] = []
  messages.forEach((message, index) => addDrafts(drafts, message, marked.has(index), ways))
  const wire = drafts.map((draft) => knownWire(draft, ways) ?? toWire(draft, conversation, ways))
  if (system === "") return wire
  return [{ role: "system", content: textContent([system.toWellFormed()], ways.cacheMarks) }, ...wire]
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
      return addUser(drafts, message.content, { marked, from: message }, ways)
    case "assistant":
      drafts.push({ role: "assistant", parts: message.parts, from: message })
      return
    case "tool":
      return addResults(drafts, message.results, marked, ways)
  }
}

/** Two messages of a user in a row become one: templates that want turns to alternate refuse them. */
function addUser(
  drafts: Draft[],
  content: ContentPart[],
  { marked, from }: { marked: boolean; from?: PreparedMessage },
  ways: Ways,
): void {
  const last = drafts.at(-1)
  if (last?.role === "user") {
    last.from = undefined
    last.content = [...last.content, ...content]
    last.marked ||= marked
    return
  }
  if (last?.role === "tool" && ways.assistantBeforeUser) {
    drafts.push({ role: "assistant", parts: [{ type: "text", text: "The results are above." }] })
  }
  drafts.push({ role: "user", content: [...content], marked, from })
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
  addUser(drafts, [...pictures, { type: "text", text: "The pictures belong to the results above." }], { marked }, ways)
}

/** Undefined: the form depends on more than the words. */
function knownWire(draft: Draft, ways: Ways): JsonObject | undefined {
  if (draft.role === "tool" || !draft.from) return undefined
  if (draft.role === "user" ? draft.marked : ways.reasoningFiller !== undefined) return undefined
  const known = wireTexts.get(draft.from)
  if (known) return known
  const parts: readonly (ContentPart | AssistantPart)[] = draft.role === "user" ? draft.content : draft.parts
  const isWords = parts.every((part) => part.type === "text" && !("meta" in part))
  if (!isWords) return undefined
  const wire: JsonObject =
    draft.role === "user"
      ? { role: "user", content: wireContent(draft.content, false) }
      : { role: "assistant", content: wordsOf(draft.parts).toWellFormed() }
  wireTexts.set(draft.from, wire)
  wireJson.set(wire, JSON.stringify(wire))
  return wire
}

function wordsOf(parts: readonly AssistantPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("")
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
