// Counts of tokens, which every server puts elsewhere. Later ones replace earlier ones field by field, since some count
// on with every chunk. What nobody said stays undefined.
import { isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"
import type { Usage } from "../contract.ts"

export function createUsageReader() {
  let said: Partial<Usage> = {}
  return {
    /** A chunk, or a choice of one (Kimi). */
    read(holder: JsonObject): void {
      const { usage, timings } = holder
      const groq = holder["x_groq"]
      if (isJsonObject(timings)) said = { ...fromTimings(timings), ...said }
      if (isJsonObject(groq) && isJsonObject(groq["usage"])) said = { ...said, ...fromUsage(groq["usage"]) }
      if (isJsonObject(usage)) said = { ...said, ...fromUsage(usage) }
    },
    usage: (): Usage => ({
      inputTokens: said.inputTokens,
      outputTokens: said.outputTokens,
      cacheReadTokens: said.cacheReadTokens,
      cacheWriteTokens: said.cacheWriteTokens,
      reasoningTokens: said.reasoningTokens,
      ...(said.cost === undefined ? {} : { cost: said.cost }),
    }),
  }
}

function fromUsage(usage: JsonObject): Partial<Usage> {
  // Mistral writes `prompt_token_details` in places.
  const prompt = object(usage["prompt_tokens_details"] ?? usage["prompt_token_details"])
  const completion = object(usage["completion_tokens_details"])
  const input = count(usage["prompt_tokens"])
  const output = count(usage["completion_tokens"])
  // No prompt has no tokens: such a count was filled in by somebody who did not know it.
  if (input === 0) return {}
  const cacheReadTokens = firstCount(
    prompt["cached_tokens"],
    usage["prompt_cache_hit_tokens"], // DeepSeek
    usage["num_cached_tokens"], // Mistral
    usage["cached_tokens"], // Kimi
    usage["cache_read_input_tokens"], // Anthropic behind a proxy
  )
  const cacheWriteTokens = firstCount(
    prompt["cache_write_tokens"], // OpenRouter
    prompt["cache_creation_input_tokens"], // Alibaba
    usage["cache_creation_input_tokens"],
  )
  const reasoningTokens = firstCount(completion["reasoning_tokens"], usage["reasoning_tokens"])
  return known({
    // xAI has counted cached tokens beside the prompt's at times (vercel/ai xai).
    inputTokens: input !== undefined && (cacheReadTokens ?? 0) > input ? input + (cacheReadTokens ?? 0) : input,
    outputTokens: wholeOutput(output, reasoningTokens, input, count(usage["total_tokens"])),
    cacheReadTokens,
    cacheWriteTokens,
    reasoningTokens,
    cost: count(usage["cost"]), // OpenRouter, in credits that are dollars
  })
}

/** xAI and Gemini count reasoning beside the completion's tokens; the total tells. */
function wholeOutput(
  output: number | undefined,
  reasoning: number | undefined,
  input: number | undefined,
  total: number | undefined,
): number | undefined {
  if (output === undefined) return undefined
  if (reasoning !== undefined && reasoning > 0) {
    const beside = total !== undefined && input !== undefined && total === input + output + reasoning
    return beside || reasoning > output ? output + reasoning : output
  }
  return total !== undefined && input !== undefined && total > input + output ? total - input : output
}

/** llama.cpp: `cache_n` tokens of the prompt came from its cache, `prompt_n` were read anew. */
function fromTimings(timings: JsonObject): Partial<Usage> {
  const cached = count(timings["cache_n"])
  const read = count(timings["prompt_n"])
  return known({
    inputTokens: cached === undefined || read === undefined ? undefined : read + cached,
    outputTokens: count(timings["predicted_n"]),
    cacheReadTokens: cached,
  })
}

function firstCount(...values: (Json | undefined)[]): number | undefined {
  return values.map(count).find((value) => value !== undefined)
}

function count(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function object(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function known(usage: Partial<Usage>): Partial<Usage> {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined))
}
