// Tokens and dollars in words, for chats and terminals.
import type { UsageSums } from "./contract.ts"

export const unknownAmount = "?"

/** `12,345`; a question mark when it is not known. */
export function formatCount(count: number | null): string {
  return count === null ? unknownAmount : count.toLocaleString("en-US")
}

/** `$0.0123`, four decimals below a dollar; `$1,234.50`; a question mark when it is not known. */
export function formatDollars(dollars: number | null): string {
  if (dollars === null) return unknownAmount
  if (dollars === 0) return "$0"
  if (dollars < 0.0001) return "<$0.0001"
  const digits = dollars < 1 ? 4 : 2
  return `$${dollars.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** `12,345 tokens, $0.0123`, and what of it is not known. */
export function describeUsage(sums: UsageSums): string {
  if (sums.calls === 0) return "nothing"
  return `${tokensText(sums)}, ${costText(sums)}`
}

function tokensText({ input, output, calls, uncounted }: UsageSums): string {
  if (input === null && output === null) return "tokens unknown"
  const count = formatCount((input ?? 0) + (output ?? 0))
  return uncounted === 0 ? `${count} tokens` : `${count} tokens (unknown for ${uncounted} of ${calls} calls)`
}

function costText({ cost, calls, unpriced }: UsageSums): string {
  if (cost === null) return "cost unknown"
  return unpriced === 0 ? formatDollars(cost) : `${formatDollars(cost)} (unknown for ${unpriced} of ${calls} calls)`
}
