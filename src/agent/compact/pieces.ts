// A past as text, in pieces that have room in one question each.
import type { ModelMessage } from "../../models/contract.ts"
import { type TranscriptEntry, textOfMessage } from "../../sessions/index.ts"

export type Kept = TranscriptEntry & { id: number; tokens: number }

export interface Piece {
  text: string
  /** The newest message in it. */
  until: number
}

/** A message that is longer than one piece is cut. */
export function piecesOf(entries: readonly Kept[], room: number): Piece[] {
  const result: Piece[] = []
  let text = ""
  let until = 0
  for (const { id, message } of entries) {
    const line = describe(message).slice(0, room)
    if (text !== "" && text.length + line.length > room) {
      result.push({ text, until })
      text = ""
    }
    text += `${line}\n\n`
    until = id
  }
  return text === "" ? result : [...result, { text, until }]
}

const speakers: Record<ModelMessage["role"], string> = {
  user: "User",
  assistant: "Assistant",
  tool: "Result of a tool",
}

function describe(message: ModelMessage): string {
  const calls =
    message.role === "assistant"
      ? message.toolCalls.map(({ name, input }) => `\n(calls ${name} ${JSON.stringify(input)})`)
      : []
  return `${speakers[message.role]}: ${textOfMessage(message)}${calls.join("")}`
}
