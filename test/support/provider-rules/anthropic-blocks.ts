// The content blocks of a Messages request with their places, as Anthropic's errors name them.
import type { Json, JsonObject } from "../../../src/kernel/index.ts"
import type { Fault } from "./contract.ts"
import { objectsOf, textOf } from "./read.ts"

export interface PlacedBlock {
  block: JsonObject
  type: string
  /** As `messages.3.content.1` or `system.0`. */
  at: string
}

export function badRequest(message: string): Fault {
  return { message, type: "invalid_request_error" }
}

export function messagesOf(body: JsonObject): JsonObject[] {
  return objectsOf(body.messages)
}

/** Blocks of one content; words alone are one block of text. */
export function blocksOf(content: Json | undefined): JsonObject[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content)
}

function placed(content: Json | undefined, at: string): PlacedBlock[] {
  return blocksOf(content).map((block, index) => ({ block, type: textOf(block.type), at: `${at}.${index}` }))
}

/** Blocks of the messages alone, without those inside of tool results. */
export function messageBlocks(body: JsonObject): PlacedBlock[] {
  return messagesOf(body).flatMap((message, index) => placed(message.content, `messages.${index}.content`))
}

/** All blocks: of the system prompt, of the messages, and inside of tool results. */
export function allBlocks(body: JsonObject): PlacedBlock[] {
  const inResults = messageBlocks(body).flatMap((outer) =>
    outer.type === "tool_result" ? placed(outer.block.content, `${outer.at}.tool_result.content`) : [],
  )
  return [...placed(body.system, "system"), ...messageBlocks(body), ...inResults]
}

export function toolUseIds(message: JsonObject | undefined): string[] {
  if (message?.role !== "assistant") return []
  return blocksOf(message.content)
    .filter((block) => block.type === "tool_use")
    .map((block) => textOf(block.id))
}
