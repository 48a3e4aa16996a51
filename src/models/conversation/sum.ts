// What all messages of a conversation come to, by a measure of each: counted on from what was counted before.
import { createBeginnings } from "../../kernel/index.ts"
import type { ModelMessage } from "../contract.ts"
import { hasPicture } from "./pictures.ts"

/** Results are added to the last message of a running turn; up to the last reply nothing is added any more. */
export function createSum(measure: (message: ModelMessage) => number): (messages: readonly ModelMessage[]) => number {
  const beginnings = createBeginnings<ModelMessage, number>()
  return (messages) => {
    const known = beginnings.find(messages) ?? { length: 0, made: 0 }
    const picture = messages.findIndex((message, index) => index >= known.length && hasPicture(message))
    const plain = picture === -1 ? messages : messages.slice(0, picture)
    const lastReply = plain.findLastIndex(({ role }) => role === "assistant")
    const end = Math.max(known.length, lastReply)
    const sum = (from: number, to: number, before: number) =>
      messages.slice(from, to).reduce((total, message) => total + measure(message), before)
    const made = sum(known.length, end, known.made)
    if (end > known.length) beginnings.keep(messages, { length: end, made })
    return sum(end, messages.length, made)
  }
}
