// Our messages and tools -> the library's. Pictures go where the provider takes them; a conversation that was
// trimmed or cut by a crash is mended, because providers refuse tool calls without results and the reverse.
import type * as Library from "ai"
import { isJsonObject } from "../../kernel/index.ts"
import type { ContentPart, ModelMessage, ToolCall, ToolResultPart } from "../contract.ts"
import type { ReasoningMemory } from "./continuation.ts"

export interface MessageOptions {
  /** `provider/model` */
  model: string
  vision: boolean
  /** Where pictures of tool results go: into the result, or into a message of the user behind it. */
  toolPictures: "in-result" | "after-result"
  reasoning: ReasoningMemory
}

type LibraryMessage = Library.ModelMessage
type ToolOutput = Extract<Library.ToolContent[number], { type: "tool-result" }>["output"]

const pictureNote = "[A picture stands here, but this model takes no pictures.]"
const pictureBelow = "[The picture is in the next message.]"

export function toLibraryMessages(messages: readonly ModelMessage[], options: MessageOptions): LibraryMessage[] {
  return messages.flatMap((message, index): LibraryMessage[] => {
    if (message.role === "user") return [{ role: "user", content: userContent(message.content, options.vision) }]
    // Results are placed behind their calls, wherever they stood; results without a call have nowhere to go.
    if (message.role === "tool") return []
    if (message.toolCalls.length === 0) return message.text === "" ? [] : [{ role: "assistant", content: message.text }]
    const results = message.toolCalls.map((call) => findResult(messages, index, call))
    return [
      {
        role: "assistant",
        content: [
          ...options.reasoning.recall(options.model, message.toolCalls),
          ...(message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
          ...message.toolCalls.map(toLibraryCall),
        ],
      },
      { role: "tool", content: results.map((result) => toLibraryResult(result, options)) },
      ...picturesBehind(results, options),
    ]
  })
}

function findResult(messages: readonly ModelMessage[], from: number, call: ToolCall): ToolResultPart {
  for (const message of messages.slice(from + 1)) {
    if (message.role === "assistant") break
    const found = message.role === "tool" ? message.results.find((result) => result.callId === call.id) : undefined
    if (found) return found
  }
  const text = "There is no result: the call was interrupted."
  return { callId: call.id, toolName: call.name, content: [{ type: "text", text }], isError: true }
}

function userContent(
  content: readonly ContentPart[],
  vision: boolean,
): Extract<LibraryMessage, { role: "user" }>["content"] {
  const parts = content.filter((part) => part.type === "image" || part.text !== "")
  if (parts.length === 0) return "(an empty message)"
  return parts.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text }
    if (!vision) return { type: "text", text: pictureNote }
    return toFile(part)
  })
}

/** Marked as data: an untagged text that looks like an address would be taken for a file to be fetched. */
function toFile(picture: Extract<ContentPart, { type: "image" }>) {
  const { data, mediaType } = picture
  return { type: "file" as const, mediaType, data: { type: "data" as const, data } }
}

/** Providers want an object here; what the model wrote instead stays readable to it. */
function toLibraryCall(call: ToolCall): { type: "tool-call"; toolCallId: string; toolName: string; input: unknown } {
  const input = isJsonObject(call.input) ? call.input : { unreadable_input: call.input }
  return { type: "tool-call", toolCallId: call.id, toolName: call.name, input }
}

function toLibraryResult(result: ToolResultPart, options: MessageOptions) {
  return {
    type: "tool-result" as const,
    toolCallId: result.callId,
    toolName: result.toolName,
    output: toOutput(result, options),
  }
}

function toOutput(result: ToolResultPart, options: MessageOptions): ToolOutput {
  const hasPicture = result.content.some((part) => part.type === "image")
  if (hasPicture && options.vision && options.toolPictures === "in-result") {
    return {
      type: "content",
      value: result.content.map((part) => (part.type === "text" ? part : toFile(part))),
    }
  }
  const note = options.vision ? pictureBelow : pictureNote
  const text = result.content.map((part) => (part.type === "text" ? part.text : note)).join("\n")
  return { type: result.isError ? "error-text" : "text", value: text === "" ? "(no output)" : text }
}

function picturesBehind(results: readonly ToolResultPart[], options: MessageOptions): LibraryMessage[] {
  if (!options.vision || options.toolPictures === "in-result") return []
  const pictures = results.flatMap((result) => result.content.filter((part) => part.type === "image"))
  if (pictures.length === 0) return []
  const text = { type: "text" as const, text: "Pictures of the tool results above:" }
  return [{ role: "user", content: userContent([text, ...pictures], true) }]
}
