// By which words an agent is called in a group: the patterns of its configuration, or its name. Compiled once per
// configuration. The text comes from anybody, so no pattern may take long over it: the text is cut, and a pattern that
// could run away is run under a watch and switched off the first time it does.
import { Script, createContext } from "node:vm"

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
/** Of work, not of waiting: on a busy machine an innocent pattern takes long by the clock. */
const watchMs = 25
/** How often a text is tried, each time for longer, while others keep the processor; then it counts as no call. */
const maxTries = 5
const invisible = /[\u200b-\u200f\u2060-\u2064\ufeff]/g

/** `onSlow` hears of a pattern that was switched off, until the configuration changes. */
export function compileMentions(words: MentionWords, onSlow: (pattern: string) => void): MentionPatterns {
  const tests = words.patterns
    ? words.patterns.map((pattern) => testOf(pattern, onSlow))
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

function testOf(pattern: string, onSlow: (pattern: string) => void): Test {
  const expression = new RegExp(pattern, "iu")
  return canRunAway(pattern) ? watched(expression, () => onSlow(pattern)) : (text) => expression.test(text)
}

/** One repetition costs at most the square of the text; two or more, or a back reference, may cost any time. */
function canRunAway(pattern: string): boolean {
  if (/\\[1-9k]/.test(pattern)) return true
  const bare = pattern.replace(/\\./g, "").replace(/\[[^\]]*\]/g, "")
  const options = bare.replace(/\(\?/g, "(").match(/\?/g)?.length ?? 0
  return (bare.match(/[*+{]/g)?.length ?? 0) > 1 || options > 5
}

function watched(expression: RegExp, onSlow: () => void): Test {
  const scope = { expression, text: "" }
  const context = createContext(scope)
  const script = new Script("expression.test(text)")
  let isOff = false
  return (text) => {
    scope.text = text
    const before = process.cpuUsage()
    for (let tries = 0; tries < maxTries && !isOff; tries += 1) {
      try {
        return script.runInContext(context, { timeout: watchMs * 2 ** tries }) === true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error
        if (workedMs(before) < watchMs) continue
        isOff = true
        onSlow()
      }
    }
    return false
  }
}

function workedMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

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
