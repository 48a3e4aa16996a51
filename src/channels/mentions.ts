// By which words an agent is called in a group: the patterns of its configuration, or its name. Compiled once per
// configuration. The text comes from anybody, so no pattern may take long over it: the text is cut, and patterns run in
// an engine whose time grows with the text alone.
import { compileLinearPattern } from "../kernel/index.ts"

export interface MentionWords {
  /** Regular expressions of the operator; they replace what follows from name and emoji. */
  patterns?: readonly string[] | undefined
  name?: string | undefined
  emoji?: string | undefined
}

export interface MentionPatterns {
  match(text: string): boolean
}

/** An address stands early in a message; what comes after this is not searched. */
const maxChars = 2_000
const invisible = /[\u200b-\u200f\u2060-\u2064\ufeff]/g

export function compileMentions(words: MentionWords): MentionPatterns {
  const tests = words.patterns
    ? words.patterns.map((pattern): Test => compileLinearPattern(pattern).test)
    : [...nameTests(words.name), ...emojiTests(words.emoji)]
  return {
    match(text) {
      if (tests.length === 0) return false
      const plain = text.replace(invisible, "").slice(0, maxChars)
      return tests.some((test) => test(plain))
    },
  }
}

type Test = (text: string) => boolean

/** The name as a word of its own, with or without an `@`. */
function nameTests(name: string | undefined): Test[] {
  if (name === undefined) return []
  const escaped = name.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "\\s+")
  const expression = new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, "iu")
  return [(text) => expression.test(text)]
}

function emojiTests(emoji: string | undefined): Test[] {
  return emoji === undefined ? [] : [(text) => text.includes(emoji)]
}
