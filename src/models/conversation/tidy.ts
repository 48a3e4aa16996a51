// The order of turns that every provider takes: a user begins and ends, user and assistant alternate, and whoever says
// nothing is not there. Chat templates of local models raise an error where others only frown.
import type { PreparedMessage } from "../providers/contract.ts"

const user = (text: string): PreparedMessage => ({ role: "user", content: [{ type: "text", text }] })

/** Puts the message behind those that are in order; messages that are in them already are not changed. */
export function addInOrder(ordered: PreparedMessage[], message: PreparedMessage): void {
  if (isEmpty(message)) return
  const last = ordered.at(-1)
  if (last?.role === "user" && message.role === "user") {
    ordered[ordered.length - 1] = { role: "user", content: [...last.content, ...message.content] }
  } else if (last?.role === "assistant" && message.role === "assistant") {
    ordered[ordered.length - 1] = { role: "assistant", parts: [...last.parts, ...message.parts] }
  } else {
    if (last === undefined && message.role === "assistant") ordered.push(user("(The conversation began earlier.)"))
    // Mistral: "Unexpected role 'user' after role 'tool'".
    if (last?.role === "tool" && message.role === "user") ordered.push(silence())
    ordered.push(message)
  }
}

/** What is in order, with somebody who asks at its end. */
export function askedAtTheEnd(ordered: readonly PreparedMessage[]): PreparedMessage[] {
  if (ordered.length === 0) return [user("(an empty message)")]
  // A reply that is to be continued by the model itself is refused by most: somebody has to ask.
  return ordered.at(-1)?.role === "assistant" ? [...ordered, user("(Go on.)")] : [...ordered]
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
