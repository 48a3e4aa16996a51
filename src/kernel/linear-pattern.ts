// Regular expressions of operators, run over text of strangers: the syntax of JavaScript, in time that grows with the
// text alone. pattern -> parse (linear-pattern/parse.ts) -> states -> all of them at once, character by character.
// What one character matches is left to the built-in engine; what needs going back (lookaround, back references) is refused.
import { AppError } from "./errors.ts"
import { type Program, parsePattern } from "./linear-pattern/parse.ts"
import { startMatcher } from "./linear-pattern/match.ts"

export interface LinearPattern {
  /** Whether the text holds a match anywhere, in any case of letters. */
  test(text: string): boolean
}

/** A pattern of a few words takes some dozens; every state may cost a step at every character. */
const maxStates = 1_000
/** Far longer than what anybody writes by hand, and short enough for a parser that calls itself. */
const maxCharacters = 2_000

/** Throws `config-invalid` saying what is wrong. */
export function compileLinearPattern(source: string): LinearPattern {
  const parsed = read(source)
  if (typeof parsed === "string")
    throw new AppError("config-invalid", `The pattern ${JSON.stringify(source)} ${parsed}`)
  return { test: startMatcher(parsed) }
}

/** What is wrong with a pattern, as `is ...` or `has ...`; undefined when it can be used. */
export function linearPatternProblem(source: string): string | undefined {
  const parsed = read(source)
  return typeof parsed === "string" ? parsed : undefined
}

function read(source: string): Program | string {
  if (source.length > maxCharacters) return `is longer than ${maxCharacters} characters`
  try {
    // The built-in parser judges the syntax; ours may then take it for granted.
    new RegExp(source, "iu").exec("")
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return "is not a valid regular expression"
  }
  return parsePattern(source, maxStates)
}
