// Takes secrets out of text. Every sink (log, error body, status, console) passes through one redactor, so its cost is
// that of one look at each character, whatever the text holds.
import { codesOf } from "./places.ts"
import { findForms } from "./redact/forms.ts"
import { KnownSecrets } from "./redact/known-secrets.ts"

export interface Redactor {
  /**
   * The text with every known or recognised secret replaced by `***`. Text that is JSON stays JSON: nothing is taken
   * beyond a quotation mark or a backslash.
   */
  redact(text: string): string
  /**
   * The text with registered secrets alone replaced, by words that say so. For whoever decides about the text and must
   * see all of it: what merely looks like a secret may be what is carried away.
   */
  hideRegistered(text: string): string
  /** Registers a value that must never appear. Values under six characters are ignored: they would mangle ordinary text. */
  add(secret: string): void
}

export function createRedactor(): Redactor {
  const known = new KnownSecrets()
  return {
    add: (secret) => known.add(secret),
    hideRegistered(text) {
      const codes = codesOf(text)
      return known.find(codes).replaceIn(text, codes, "[a secret of the gateway]")
    },
    redact(text) {
      const codes = codesOf(text)
      const registered = known.find(codes)
      const shown = registered.join(findForms(codes)).replaceIn(text, codes, "***")
      return registered.isEmpty ? shown : redactForms(shown)
    },
  }
}

/** Where a registered secret was taken away a word may begin that was the rest of another before: `secretsk-...`. */
function redactForms(text: string): string {
  const codes = codesOf(text)
  return findForms(codes).replaceIn(text, codes, "***")
}
