// The order of turns that every provider takes: a user begins and ends, user and assistant alternate, and whoever says
// nothing is not there. Chat templates of local models raise an error where others only frown.
import type { PreparedMessage } from "../providers/contract.ts"

const user = (text: string): PreparedMessage => ({ role: "user", content: [{ type: "text", text }] })

export function tidy(messages: readonly PreparedMessage[]): PreparedMessage[] {
  const result: PreparedMessage[] = []
  for (const message of messages) {
    if (isEmpty(message)) continue
    const last = result.at(-1)
    if (last?.role === "user" && message.role === "user") {
      result[result.length - 1] = { role: "user", content: [...last.content, ...message.content] }
    } else if (last?.role === "assistant" && message.role === "assistant") {
      result[result.length - 1] = { role: "assistant", parts: [...last.parts, ...message.parts] }
    } else {
      // Mistral: "Unexpected role 'user' after role 'tool'".
      if (last?.role === "tool" && message.role === "user") result.push(silence())
      result.push(message)
    }
  }
  if (result[0]?.role === "assistant") result.unshift(user("(The conversation began earlier.)"))
  if (result.length === 0) return [user("(an empty message)")]
  // A reply that is to be continued by the model itself is refused by most: somebody has to ask.
  if (result.at(-1)?.role === "assistant") result.push(user("(Go on.)"))
  return result
}

function silence(): PreparedMessage {
  return { role: "assistant", parts: [{ type: "text", text: "(no answer)" }] }
}

function isEmpty(message: PreparedMessage): boolean {
  if (message.role === "user") return message.content.length === 0
  // Reasoning that led to nothing: Responses refuses an item "without its required following item".
  if (message.role === "assistant") return message.parts.every((part) => part.type === "reasoning")
  return message.results.length === 0
}
