// Makes the lines of a snapshot fewer: without structure that says nothing, only those that match, within a budget.
// What is left out is always counted and said.
import type { Line } from "./line.ts"

const structural =
  /^ *- (?:generic|group|list|listitem|table|row|rowgroup|grid|treegrid|menu|menubar|toolbar|tablist|tree|directory|document|application|presentation|none|paragraph):?$/

const isNamed = /^ *- [\w-]+ "[^"]/

const isSaid = ({ text }: Line) => /: \S/.test(text) && !/^ *- \/url: /.test(text)

/** Drops nameless structure, addresses, and branches that hold nothing to act on and no words. */
export function compact(lines: Line[]): Line[] {
  const kept: Line[] = []
  // Whether something that stays was met at each depth, on the way from the end.
  const alive: boolean[] = []
  for (const line of lines.toReversed()) {
    const hasChild = alive.slice(line.depth + 1).some(Boolean)
    const speaks = line.ref !== undefined || isNamed.test(line.text) || isSaid(line)
    alive.length = line.depth + 1
    alive[line.depth] ||= speaks || hasChild
    if ((speaks || hasChild) && !structural.test(line.text)) kept.push(line)
  }
  return kept.reverse()
}

/** Lines of this role, or that hold these words; flat. */
export function find(lines: Line[], wanted: string): Line[] {
  const words = wanted.trim().toLowerCase()
  const isRole = lines.some((line) => roleOf(line) === words)
  return lines
    .filter((line) => (isRole ? roleOf(line) === words : line.text.toLowerCase().includes(words)))
    .map((line) => ({ ...line, text: line.text.trimStart().replace(/:$/, ""), depth: 0 }))
}

function roleOf({ text }: Line): string {
  return /^ *- ([\w-]+)/.exec(text)?.[1] ?? ""
}

export interface Cut {
  lines: Line[]
  /** What was left out, in words; "" for nothing. */
  left: string
}

/** Up to so many characters, cut at a line's end. */
export function cut(lines: Line[], maxChars: number): Cut {
  let chars = 0
  let count = 0
  for (const line of lines) {
    chars += line.text.length + 1
    if (chars > maxChars && count > 0) break
    count += 1
  }
  if (count === lines.length) return { lines, left: "" }
  const left = `${lines.length - count} of ${lines.length} lines left out`
  return { lines: lines.slice(0, count), left }
}

/** Roughly what the tokenizers of models make of such text. */
export const charsPerToken = 4

/** From the least useful: addresses, loose texts, what has no ref; what can be acted on goes last, from the page's end. */
const classes: { words: string; holds(line: Line): boolean }[] = [
  { words: "addresses", holds: (line) => /^ *- \/url: /.test(line.text) },
  {
    words: "options and texts",
    holds: (line) => !line.ref?.interactive && /^ *- (?:text|option|paragraph)\b/.test(line.text),
  },
  { words: "elements without refs", holds: (line) => !line.ref && !/^ *- heading\b/.test(line.text) },
  { words: "headings", holds: (line) => !line.ref },
  { words: "elements", holds: () => true },
]

export function fit(lines: Line[], maxTokens: number): Cut {
  const budget = Math.max(0, maxTokens * charsPerToken)
  let chars = lines.reduce((sum, line) => sum + line.text.length + 1, 0)
  if (chars <= budget) return { lines, left: "" }
  const dropped = new Set<Line>()
  const said: string[] = []
  for (const { words, holds } of classes) {
    let count = 0
    for (let index = lines.length - 1; index >= 0 && chars > budget && dropped.size < lines.length - 1; index -= 1) {
      const line = lines[index] as Line
      if (dropped.has(line) || !holds(line)) continue
      dropped.add(line)
      chars -= line.text.length + 1
      count += 1
    }
    if (count > 0) said.push(`${count} ${words}`)
  }
  const left = said.length === 0 ? "" : `${said.join(", ")} left out`
  return { lines: lines.filter((line) => !dropped.has(line)), left }
}
