// Takes secrets out of text. Every sink (log, error body, status, console) passes through one redactor.

export interface Redactor {
  /** The text with every known or recognised secret replaced by `***`. */
  redact(text: string): string
  /** Registers a value that must never appear. Values under six characters are ignored: they would mangle ordinary text. */
  add(secret: string): void
}

// Patterns that are secrets whoever their owner is: bot tokens (also inside URLs), bearer and basic credentials,
// userinfo in URLs, secrets in query strings, and keys in the form that model providers issue.
const patterns: readonly [RegExp, string][] = [
  [/\b\d{6,}:[A-Za-z0-9_-]{30,}/g, "***"],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, "$1 ***"],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]+@/gi, "$1***@"],
  [/([?&](?:token|access_token|api_?key|key|secret|signature|password)=)[^&#\s"'<>]+/gi, "$1***"],
  [/\b(sk-(?:ant-)?)[A-Za-z0-9_-]{16,}/g, "$1***"],
  [/\b(svct_[a-z0-9]{10}_)[A-Za-z0-9_-]{43}/g, "$1***"],
]

const minimumLength = 6

export function createRedactor(): Redactor {
  const known = new Set<string>()
  let matcher: RegExp | undefined
  return {
    add(secret) {
      if (secret.length < minimumLength || known.has(secret)) return
      known.add(secret)
      const encoded = encodeURIComponent(secret)
      if (encoded !== secret) known.add(encoded)
      // Longest first, so that a secret that contains another is replaced whole.
      const alternatives = [...known].sort((a, b) => b.length - a.length).map(escapeForRegExp)
      matcher = new RegExp(alternatives.join("|"), "g")
    },
    redact(text) {
      let result = matcher ? text.replace(matcher, "***") : text
      for (const [pattern, replacement] of patterns) result = result.replace(pattern, replacement)
      return result
    },
  }
}

function escapeForRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
}
