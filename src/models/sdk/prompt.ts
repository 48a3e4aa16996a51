// Prepared messages -> the packages' prompt: assistant parts in their order with their provider's own words beside
// them, tool results with their pictures inside, or behind in a message of the user.
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider"
import type { ContentPart, ToolResultPart } from "../contract.ts"
import type { AssistantPart, PreparedMessage, StepCall } from "../providers/contract.ts"
import { toProviderOptions } from "./meta.ts"

export interface PromptForm {
  /** Name under which the package reads a part's own words. */
  key: string
  /** Where pictures of tool results go, unless the configuration says otherwise. */
  toolPictures: "in-result" | "after-result"
  /** Whether the provider takes this reasoning back. */
  takesReasoning(part: Extract<AssistantPart, { type: "reasoning" }>): boolean
}

type Picture = Extract<ContentPart, { type: "image" }>

const pictureBelow = "[The picture is in the next message.]"
export const picturesAbove = "Pictures of the tool results above:"

export function toPrompt(call: StepCall, form: PromptForm): LanguageModelV4Prompt {
  const place = toolPicturesOf(call, form.toolPictures)
  const system: LanguageModelV4Prompt = call.system === "" ? [] : [{ role: "system", content: call.system }]
  return [...system, ...call.messages.flatMap((message) => toMessages(message, form, place))]
}

export function toolPicturesOf(call: StepCall, usual: PromptForm["toolPictures"]): PromptForm["toolPictures"] {
  return call.target.entry.quirks?.toolPictures ?? call.settings.quirks?.toolPictures ?? usual
}

function toMessages(
  message: PreparedMessage,
  form: PromptForm,
  place: PromptForm["toolPictures"],
): LanguageModelV4Message[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: message.content.map(toUserPart) }]
    case "assistant":
      return assistantMessage(message.parts, form)
    case "tool": {
      const results = message.results.map((result) => toResult(result, place))
      const behind = place === "after-result" ? picturesOf(message.results) : []
      if (behind.length === 0) return [{ role: "tool", content: results }]
      const content = [{ type: "text" as const, text: picturesAbove }, ...behind.map(toFile)]
      return [
        { role: "tool", content: results },
        { role: "user", content },
      ]
    }
  }
}

export function picturesOf(results: readonly ToolResultPart[]): Picture[] {
  return results.flatMap((result) => result.content.filter((part) => part.type === "image"))
}

/** The text of a result whose pictures stand elsewhere. */
export function resultText(result: ToolResultPart): string {
  return result.content.map((part) => (part.type === "text" ? part.text : pictureBelow)).join("\n")
}

function toUserPart(part: ContentPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  return part.type === "text" ? { type: "text", text: part.text } : toFile(part)
}

/** Marked as data: an untagged text that looks like an address would be taken for a file to be fetched. */
function toFile({ data, mediaType }: Picture): LanguageModelV4FilePart & { type: "file" } {
  return { type: "file", mediaType, data: { type: "data", data } }
}

function toResult(result: ToolResultPart, place: PromptForm["toolPictures"]): LanguageModelV4ToolResultPart {
  return { type: "tool-result", toolCallId: result.callId, toolName: result.toolName, output: toOutput(result, place) }
}

function toOutput(result: ToolResultPart, place: PromptForm["toolPictures"]): LanguageModelV4ToolResultPart["output"] {
  if (place === "in-result" && picturesOf([result]).length > 0) {
    return { type: "content", value: result.content.map((part) => (part.type === "text" ? part : toFile(part))) }
  }
  return { type: result.isError ? "error-text" : "text", value: resultText(result) }
}

function assistantMessage(parts: readonly AssistantPart[], form: PromptForm): LanguageModelV4Message[] {
  const content = parts
    .filter((part) => part.type !== "reasoning" || form.takesReasoning(part))
    .map((part) => {
      const own = toProviderOptions(part.meta, form.key)
      return part.type === "call"
        ? { type: "tool-call" as const, toolCallId: part.id, toolName: part.name, input: part.input, ...own }
        : { type: part.type, text: part.text, ...own }
    })
  return content.length === 0 ? [] : [{ role: "assistant", content }]
}
