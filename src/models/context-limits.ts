// Tokens that a model takes by its own word, where it has refused more: some take less than is known of them. A word holds
// for a while only: servers are started anew, plans and settings change.
import type { Clock } from "../kernel/index.ts"

export interface ContextLimits {
  learn(model: string, tokens: number): void
  of(model: string): number | undefined
}

const keepMs = 10 * 60_000
/** No model in use takes less; a smaller figure is a limit of something else, or was read wrongly. */
const leastTokens = 1_000

export function createContextLimits(clock: Clock): ContextLimits {
  const known = new Map<string, { tokens: number; until: number }>()
  return {
    learn(model, tokens) {
      if (tokens >= leastTokens) known.set(model, { tokens, until: clock.monotonic() + keepMs })
    },
    of(model) {
      const found = known.get(model)
      if (!found || found.until > clock.monotonic()) return found?.tokens
      known.delete(model)
      return undefined
    },
  }
}
