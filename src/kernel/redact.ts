// Takes secrets out of text. Every sink (log, error body, status, console) passes through one redactor, so its cost is
// that of one look at each character, whatever the text holds.
import { createKnownSecrets } from "./redact/known-secrets.ts"
import { hideQueryValues } from "./redact/query-values.ts"

export interface Redactor {
  /**
   * The text with every known or recognised secret replaced by `***`. Text that is JSON stays JSON: nothing is taken
   * beyond a quotation mark or a backslash.
   */
  redact(text: string): string
  /** Registers a value that must never appear. Values under six characters are ignored: they would mangle ordinary text. */
  add(secret: string): void
}

// Patterns that are secrets whoever their owner is: bot tokens (also inside URLs), bearer and basic credentials,
// userinfo in URLs, and keys in the form that model providers issue. Each begins with something that the rest of it
// cannot match, so that no place is tried twice.
const patterns: readonly [RegExp, string][] = [
  [/(?<!\d)\d{6,}:[A-Za-z0-9_-]{30,}/g, "***"],
  [/\b(Bearer|Basic)\s{1,8}[A-Za-z0-9._~+/=-]{6,}/gi, "$1 ***"],
  [/(:\/\/)[^\s/?#"'<>\\]+@/g, "$1***@"],
  [/\b(sk-(?:ant-)?)[A-Za-z0-9_-]{16,}/g, "$1***"],
  [/\b(svct_[a-z0-9]{10}_)[A-Za-z0-9_-]{43}/g, "$1***"],
]

export function createRedactor(): Redactor {
  const known = createKnownSecrets()
  return {
    add: (secret) => known.add(secret),
    redact(text) {
      let result = known.hide(text)
      for (const [pattern, replacement] of patterns) result = result.replace(pattern, replacement)
      return hideQueryValues(result)
    },
  }
}
