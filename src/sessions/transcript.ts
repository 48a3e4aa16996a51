// How much of a conversation fits into a model's context, and what of it is kept.
import type { ContentPart, ModelMessage } from "../models/contract.ts"
import type { Origin } from "./route.ts"

/** Whose words an entry holds. Set when it is written, never guessed from what it says. */
export interface Provenance {
  /** Least trusted source of what it says, or was written under. */
  origin: Origin
  /** False: it holds words of others, or was said after such words had been read. */
  trusted: boolean
}

export interface TranscriptEntry extends Provenance {
  message: ModelMessage
}

/** The past as a model is shown it. */
export interface Past {
  messages: ModelMessage[]
  /** About how many they are together. */
  tokens: number
  /** Older messages have no room any more, and no summary stands for them. */
  isCut: boolean
  /** The least trusted of exactly these messages; undefined when none of them holds words of others. */
  foreign: Origin | undefined
}

/** What an image costs, roughly, with the providers we know. */
const imageTokens = 1_000
/** Characters to a token; low for English, about right for code and other scripts. */
export const charactersPerToken = 3.5

export function estimateTokens(message: ModelMessage): number {
  return 4 + Math.ceil(countCharacters(message) / charactersPerToken) + countImages(message) * imageTokens
}

function countCharacters(message: ModelMessage): number {
  if (message.role === "user") return textLength(message.content)
  if (message.role === "tool") return message.results.reduce((sum, result) => sum + textLength(result.content), 0)
  const calls = message.toolCalls.reduce((sum, call) => sum + JSON.stringify(call.input).length, 0)
  // Reasoning that is sent back counts; signatures and the like do not, or little.
  const thought = (message.replay?.parts ?? []).reduce(
    (sum, part) => sum + (part.type === "reasoning" ? part.text.length : 0),
    0,
  )
  return message.text.length + calls + thought
}

function textLength(content: readonly ContentPart[]): number {
  return content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0)
}

function countImages(message: ModelMessage): number {
  if (message.role === "assistant") return 0
  const content = message.role === "user" ? message.content : message.results.flatMap((result) => result.content)
  return content.filter((part) => part.type === "image").length
}

/**
 * The newest messages that fit, starting with a user's: a tool result without its call, or an answer without
 * its question, is refused by providers.
 */
export function trimToBudget<Entry extends { message: ModelMessage; tokens: number }>(
  messages: readonly Entry[],
  maxTokens: number,
): Entry[] {
  let start = messages.length
  let tokens = 0
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    tokens += messages[index]?.tokens ?? 0
    if (tokens > maxTokens) break
    if (messages[index]?.message.role === "user") start = index
  }
  return messages.slice(start)
}

/** The message as it is kept: pictures are for the turn that took them, later turns read that there was one. */
export function withoutImages(message: ModelMessage): ModelMessage {
  const strip = (content: ContentPart[]): ContentPart[] =>
    content.map((part) => (part.type === "image" ? { type: "text", text: "(a picture, no longer shown)" } : part))
  if (message.role === "user") return { ...message, content: strip(message.content) }
  if (message.role === "assistant") return message
  return { ...message, results: message.results.map((result) => ({ ...result, content: strip(result.content) })) }
}
