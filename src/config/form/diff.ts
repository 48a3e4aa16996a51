// The difference of two texts by lines, with a little of what stands around it: the shortest one, by Myers' greedy
// algorithm, whose work grows with how much is different and not with how long the texts are.

export interface DiffLine {
  kind: "same" | "gone" | "new" | "skipped"
  text: string
}

const around = 2
/** A file that was written anew as a whole is shown as gone and new; nobody reads finer ones of this size. */
const mostEdits = 2_000

export function diffLines(before: string, after: string): DiffLine[] {
  if (before === after) return []
  return shorten(trace(before.split("\n"), after.split("\n")))
}

function trace(a: readonly string[], b: readonly string[]): DiffLine[] {
  // Furthest row of `a` for each diagonal, kept after every round.
  let ends = new Map([[1, 0]])
  const rounds: Map<number, number>[] = []
  for (let edits = 0; edits <= Math.min(a.length + b.length, mostEdits); edits += 1) {
    rounds.push(new Map(ends))
    const next = new Map(ends)
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = goesDown(ends, diagonal, edits)
      let x = down ? (ends.get(diagonal + 1) ?? 0) : (ends.get(diagonal - 1) ?? 0) + 1
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1
      next.set(diagonal, x)
      if (x >= a.length && x - diagonal >= b.length) return walkBack(a, b, rounds)
    }
    ends = next
  }
  return [...a.map((text): DiffLine => ({ kind: "gone", text })), ...b.map((text): DiffLine => ({ kind: "new", text }))]
}

function goesDown(ends: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true
  return diagonal !== edits && (ends.get(diagonal - 1) ?? -1) < (ends.get(diagonal + 1) ?? -1)
}

function walkBack(a: readonly string[], b: readonly string[], rounds: readonly Map<number, number>[]): DiffLine[] {
  const lines: DiffLine[] = []
  let x = a.length
  let y = b.length
  for (let edits = rounds.length - 1; edits >= 0; edits -= 1) {
    const ends = rounds[edits] as Map<number, number>
    const diagonal = x - y
    const from = goesDown(ends, diagonal, edits) ? diagonal + 1 : diagonal - 1
    const fromX = edits === 0 ? 0 : (ends.get(from) ?? 0)
    const fromY = edits === 0 ? 0 : fromX - from
    while (x > fromX && y > fromY) {
      x -= 1
      y -= 1
      lines.push({ kind: "same", text: a[x] ?? "" })
    }
    if (edits === 0) break
    if (x === fromX) lines.push({ kind: "new", text: b[fromY] ?? "" })
    else lines.push({ kind: "gone", text: a[fromX] ?? "" })
    x = fromX
    y = fromY
  }
  return lines.reverse()
}

/** Lines near a change; what is left out between them is one mark. */
function shorten(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== "same"),
  )
  return lines.flatMap((line, index): DiffLine[] => {
    if (isNear[index]) return [line]
    return index > 0 && !isNear[index - 1] ? [] : [{ kind: "skipped", text: "" }]
  })
}
