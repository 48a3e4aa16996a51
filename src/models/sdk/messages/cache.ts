// Marks for the cache of the Messages interface. A request's beginning is tools, system, messages, in this order: the
// mark on the system prompt covers the tools.
import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { cachePlaces } from "../cache-marks.ts"

const mark = { anthropic: { cacheControl: { type: "ephemeral" } } }

export function markPrompt(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const messages = prompt.flatMap((message) => (message.role === "system" ? [] : [message]))
  const marked = new Set(cachePlaces(messages.map((message) => message.role)).map((place) => messages[place]))
  return prompt.map((message) => {
    if (message.role === "system") return { ...message, providerOptions: mark }
    return marked.has(message) ? markLastPart(message) : message
  })
}

/** For a prompt without a system message. */
export function markTools(tools: readonly LanguageModelV4FunctionTool[]): LanguageModelV4FunctionTool[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, providerOptions: mark } : tool))
}

/** Thinking and empty text cannot carry a mark. */
function markLastPart<Message extends LanguageModelV4Message>(message: Message): Message {
  if (message.role === "system") return message
  const parts = [...message.content]
  const place = parts.findLastIndex(
    (part) => part.type === "file" || part.type.startsWith("tool-") || (part.type === "text" && part.text !== ""),
  )
  const part = parts[place]
  if (part === undefined) return message
  const options = { ...part.providerOptions, anthropic: { ...part.providerOptions?.anthropic, ...mark.anthropic } }
  return { ...message, content: parts.with(place, { ...part, providerOptions: options }) }
}
