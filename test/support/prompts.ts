// What a recorded model request says, in the parts that tests look at.
import type { Json } from "../../src/kernel/index.ts"
import type { RecordedRequest } from "./model-server/index.ts"

export interface ChatMessage {
  role: string
  content: Json
}

export function messagesOf(request: RecordedRequest): ChatMessage[] {
  return (request.body["messages"] ?? []) as unknown as ChatMessage[]
}

function words(content: Json): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((part) => String((part as { text?: string }).text ?? "")).join("\n")
}

/** The words of the newest message: what this step of the model answers to. */
export function lastWords(request: RecordedRequest): string {
  const last = messagesOf(request).at(-1)
  return last ? words(last.content) : ""
}

export function lastRole(request: RecordedRequest): string {
  return messagesOf(request).at(-1)?.role ?? ""
}

/** The words of the newest message of the user, whatever tools have said since. */
export function lastPrompt(request: RecordedRequest): string {
  const last = messagesOf(request).findLast((message) => message.role === "user")
  return last ? words(last.content) : ""
}
