// What a prompt costs: tokens by a plain estimate, and caches as providers keep them. One kind is written where the
// prompt is marked (Messages, Converse), the other by itself (all else).
import { createHash } from "node:crypto"
import { isJsonObject, type Json, type JsonObject } from "../../../src/kernel/index.ts"
import type { WireName } from "../provider-rules/index.ts"

export interface PromptTokens {
  /** All of the prompt. */
  input: number
  cacheRead: number
  cacheWrite: number
}

export interface Billing {
  charge(wire: WireName, model: string, body: JsonObject): PromptTokens
}

/** No cache keeps less: the smallest minimum of Anthropic's models, and OpenAI's. */
const minimumTokens = 1024
/** How many blocks before a mark are looked through for what was written earlier. Anthropic, "Prompt caching". */
const lookBack = 20
/** Beyond the minimum, automatic caches grow by this much. OpenAI, "Prompt caching". */
const automaticStep = 128

/** Four characters are about one token. */
export function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4)
}

interface PromptBlock {
  words: string
  marked: boolean
}

export function createBilling(): Billing {
  const written = new Set<string>()
  return {
    charge(wire, model, body) {
      const blocks = wire === "converse" ? converseBlocks(body) : wire === "messages" ? messagesBlocks(body) : undefined
      return blocks ? chargeMarked(written, model, blocks) : chargeAutomatic(written, model, plainPrompt(body))
    },
  }
}

function chargeMarked(written: Set<string>, model: string, blocks: readonly PromptBlock[]): PromptTokens {
  const hash = createHash("sha256").update(`marked ${model}`)
  let characters = 0
  const prefixes = blocks.map(({ words, marked }) => {
    characters += words.length
    hash.update(`${words.length} ${words}`)
    return { key: hash.copy().digest("base64"), tokens: estimateTokens(characters), marked }
  })
  let cacheRead = 0
  let upTo = 0
  for (const [index, prefix] of prefixes.entries()) {
    if (!prefix.marked) continue
    const known = prefixes.slice(Math.max(0, index - lookBack + 1), index + 1).findLast(({ key }) => written.has(key))
    cacheRead = Math.max(cacheRead, known?.tokens ?? 0)
    if (prefix.tokens >= minimumTokens) upTo = prefix.tokens
  }
  for (const { key, tokens, marked } of prefixes) if (marked && tokens >= minimumTokens) written.add(key)
  return { input: estimateTokens(characters), cacheRead, cacheWrite: Math.max(0, upTo - cacheRead) }
}

function chargeAutomatic(written: Set<string>, model: string, prompt: string): PromptTokens {
  const hash = createHash("sha256").update(`automatic ${model}`)
  const input = estimateTokens(prompt.length)
  let cacheRead = 0
  let done = 0
  for (let tokens = minimumTokens; tokens <= input; tokens += automaticStep) {
    hash.update(prompt.slice(done, tokens * 4))
    done = tokens * 4
    const key = hash.copy().digest("base64")
    if (written.has(key)) cacheRead = tokens
    written.add(key)
  }
  return { input, cacheRead, cacheWrite: 0 }
}

/** In the order in which every provider puts them together: tools, system, messages. */
function plainPrompt(body: JsonObject): string {
  const parts = [body.tools, body.systemInstruction, body.instructions, body.messages, body.input, body.contents]
  return parts.map((part) => (part === undefined ? "" : JSON.stringify(part))).join("\n")
}

function messagesBlocks(body: JsonObject): PromptBlock[] {
  const messages = listOf(body.messages).flatMap((message) =>
    isJsonObject(message) ? contentOf(message.content).map((block) => [message.role ?? "", block] as const) : [],
  )
  const blocks = [
    ...listOf(body.tools).map((tool) => toBlock("tool", tool)),
    ...contentOf(body.system).map((block) => toBlock("system", block)),
    ...messages.map(([role, block]) => toBlock(String(role), block)),
  ]
  const last = blocks.at(-1)
  if (last && body.cache_control !== undefined) last.marked = true
  return blocks
}

function toBlock(role: string, block: Json): PromptBlock {
  if (!isJsonObject(block)) return { words: `${role} ${JSON.stringify(block)}`, marked: false }
  const { cache_control: mark, ...rest } = block
  return { words: `${role} ${JSON.stringify(rest)}`, marked: mark !== undefined && mark !== null }
}

/** A mark is a block of its own here, behind what it marks. */
function converseBlocks(body: JsonObject): PromptBlock[] {
  const tools = isJsonObject(body.toolConfig) ? listOf(body.toolConfig.tools) : []
  const messages = listOf(body.messages).flatMap((message) =>
    isJsonObject(message) ? listOf(message.content).map((block) => [String(message.role), block] as const) : [],
  )
  const all: (readonly [string, Json])[] = [
    ...tools.map((tool) => ["tool", tool] as const),
    ...listOf(body.system).map((block) => ["system", block] as const),
    ...messages,
  ]
  const blocks: PromptBlock[] = []
  for (const [role, block] of all) {
    const last = blocks.at(-1)
    if (!isJsonObject(block) || !("cachePoint" in block)) {
      blocks.push({ words: `${role} ${JSON.stringify(block)}`, marked: false })
    } else if (last) last.marked = true
  }
  return blocks
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}

function contentOf(value: Json | undefined): Json[] {
  return typeof value === "string" ? [{ type: "text", text: value }] : listOf(value)
}
