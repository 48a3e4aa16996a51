// What a call has cost: tokens by kind, each at its price.
import type { ModelPrices } from "./config.ts"
import type { Usage } from "./contract.ts"

const million = 1_000_000

/** US dollars: the provider's own word, else by prices; undefined when these or the tokens are not known. */
export function costOf(prices: ModelPrices | undefined, usage: Usage): number | undefined {
  if (usage.cost !== undefined) return usage.cost
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage
  if (!prices || inputTokens === undefined || outputTokens === undefined) return undefined
  const fresh = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)
  const dollars =
    fresh * prices.input +
    cacheReadTokens * (prices.cacheRead ?? prices.input) +
    cacheWriteTokens * (prices.cacheWrite ?? prices.input) +
    outputTokens * prices.output
  return dollars / million
}
