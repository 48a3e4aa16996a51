// The packages' counts -> ours. They write 0 where a server has said nothing; what it has said is in `raw`.
import type { LanguageModelV4Usage } from "@ai-sdk/provider"
import { isJsonObject } from "../../kernel/index.ts"
import type { Usage } from "../contract.ts"

export function toUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage): Usage {
  return {
    // No prompt and no reply takes no token at all: 0 is a count that nobody gave.
    inputTokens: known(inputTokens.total),
    outputTokens: known(outputTokens.total),
    cacheReadTokens: said(raw, readNames) ? inputTokens.cacheRead : undefined,
    cacheWriteTokens: said(raw, writeNames) ? inputTokens.cacheWrite : undefined,
    reasoningTokens: said(raw, reasoningNames) ? outputTokens.reasoning : undefined,
  }
}

const known = (tokens: number | undefined) => (tokens === undefined || tokens <= 0 ? undefined : tokens)

/** Messages, Responses, Gemini. The last leaves a count out when it is 0, but only it tells the total in this way. */
const readNames = ["cache_read_input_tokens", "cached_tokens", "totalTokenCount"]
const writeNames = ["cache_creation_input_tokens", "cache_write_tokens"]
const reasoningNames = ["thinking_tokens", "reasoning_tokens", "totalTokenCount"]

function said(raw: unknown, names: readonly string[]): boolean {
  if (!isJsonObject(raw)) return false
  return Object.entries(raw).some(([name, value]) =>
    names.includes(name) ? typeof value === "number" : isJsonObject(value) && said(value, names),
  )
}
