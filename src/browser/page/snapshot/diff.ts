// What has changed between two snapshots of a tab, line by line.
import type { Line } from "./line.ts"

export interface Change {
  sign: "+" | "-"
  text: string
  line?: Line
}

/** Longer changed stretches are compared by content only: exact order is not worth the time there. */
const maxCells = 1_000_000

/** How many alike come before a line changes with every menu that opens above it, and nobody sees it. */
const unnumbered = (text: string): string => (text.includes(" [nth=") ? text.replace(/ \[nth=\d+\]/, "") : text)

export function diffLines(before: readonly string[], after: readonly Line[]): Change[] {
  const was = before.map(unnumbered)
  const is = after.map((line) => ({ line, text: unnumbered(line.text) }))
  let start = 0
  while (start < was.length && start < is.length && was[start] === is[start]?.text) start += 1
  let end = 0
  while (
    end < was.length - start &&
    end < is.length - start &&
    was[was.length - 1 - end] === is[is.length - 1 - end]?.text
  )
    end += 1
  const old = was.slice(start, was.length - end)
  const now = is.slice(start, is.length - end)
  return old.length * now.length <= maxCells ? inOrder(old, now) : byContent(old, now)
}

/** A line with the text that it is compared by. */
interface Compared {
  line: Line
  text: string
}

const removed = (text: string): Change => ({ sign: "-", text })
const added = ({ line }: Compared): Change => ({ sign: "+", text: line.text, line })

/** The longest common subsequence, by the usual table. */
function inOrder(old: string[], now: Compared[]): Change[] {
  const width = now.length + 1
  const table = new Uint32Array((old.length + 1) * width)
  const at = (row: number, column: number) => table[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = now.length - 1; column >= 0; column -= 1) {
      const same = old[row] === now[column]?.text
      table[row * width + column] = same
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const changes: Change[] = []
  let row = 0
  let column = 0
  while (row < old.length || column < now.length) {
    const line = now[column]
    if (line && old[row] === line.text) {
      row += 1
      column += 1
    } else if (line && (row >= old.length || at(row, column + 1) > at(row + 1, column))) {
      changes.push(added(line))
      column += 1
    } else {
      changes.push(removed(old[row] as string))
      row += 1
    }
  }
  return changes
}

/** Lines by how often they come: of those that come more often now, the last ones are new. */
function byContent(old: string[], now: Compared[]): Change[] {
  const kept = countOf(now.map((line) => line.text))
  const gone = old.filter((text) => !takeOne(kept, text))
  const known = countOf(old)
  const come = now.filter((line) => !takeOne(known, line.text))
  return [...gone.map(removed), ...come.map(added)]
}

function countOf(texts: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

function takeOne(counts: Map<string, number>, text: string): boolean {
  const left = counts.get(text) ?? 0
  if (left > 0) counts.set(text, left - 1)
  return left > 0
}

/** What a long list that has closed held, its reader has seen: where it began and ended says which lines are gone. */
export function foldGone(changes: readonly Change[]): Change[] {
  const [most, shown] = [12, 2]
  const told: Change[] = []
  for (let start = 0; start < changes.length;) {
    let end = start
    while (end < changes.length && changes[end]?.sign === changes[start]?.sign) end += 1
    const run = changes.slice(start, end)
    if (run[0]?.sign === "-" && run.length > most) {
      const gone = removed(`(${run.length - shown - 1} more lines that are gone, up to:)`)
      told.push(...run.slice(0, shown), gone, ...run.slice(-1))
    } else told.push(...run)
    start = end
  }
  return told
}
