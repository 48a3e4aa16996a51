// Fenced code in a text that is cut: where a fence is open, and how to end and begin it anew.
import { trimEnd } from "../kernel/index.ts"

export interface Fence {
  /** The line that opened it, without its end. */
  opening: string
  /** The same mark that opened it closes it. */
  mark: string
}

const fenceLine = /^[ \t]{0,8}(`{3,}(?!`)|~{3,}(?!~))([^\n]*)/gm

/** A line that opens a block of code or ends one, and the block that stands open behind it. */
export interface FenceChange {
  at: number
  open: Fence | undefined
}

/** All such lines in order; `before` is the block that the beginning of the text lies in. */
export function fenceChanges(text: string, before?: Fence): FenceChange[] {
  const changes: FenceChange[] = []
  readFences(text, before, changes)
  return changes
}

/** The block of code that the end of the text lies in; `before` is the one that its beginning lies in. */
export function openFence(text: string, before?: Fence): Fence | undefined {
  return readFences(text, before)
}

function readFences(text: string, before?: Fence, changes?: FenceChange[]): Fence | undefined {
  let open = before
  for (const match of text.matchAll(fenceLine)) {
    const mark = match[1] ?? ""
    const rest = match[2] ?? ""
    if (open) {
      if (!mark.startsWith(open.mark) || rest.trim() !== "") continue
      open = undefined
      // A line such as ```code``` is no fence.
    } else if (mark.startsWith("`") && rest.includes("`")) continue
    else open = { opening: match[0].trim(), mark }
    changes?.push({ at: match.index, open })
  }
  return open
}

/** The text with its block of code ended, when it ends inside of one. */
export function closeFence(text: string): string {
  const open = openFence(text)
  return open ? `${trimEnd(text, "\n")}\n${open.mark}` : text
}

export interface CodePiece {
  text: string
  isCode: boolean
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at)
  return end < 0 ? text.length : end
}

/** The text in pieces: fenced code and what stands between backticks, and everything else. */
export function splitCode(text: string): CodePiece[] {
  const blocks: { start: number; end: number }[] = []
  let start = 0
  let isOpen = false
  for (const { at, open } of fenceChanges(text)) {
    isOpen = open !== undefined
    if (isOpen) start = at
    else blocks.push({ start, end: lineEnd(text, at) })
  }
  if (isOpen) blocks.push({ start, end: text.length })
  let done = 0
  const pieces = blocks.flatMap(({ start, end }) => {
    const before = splitInline(text.slice(done, start))
    done = end
    return [...before, { text: text.slice(start, end), isCode: true }]
  })
  return pieces.concat(splitInline(text.slice(done))).filter((piece) => piece.text !== "")
}

/** Code between backticks ends at as many of them as it began with, in the same paragraph. */
function splitInline(text: string): CodePiece[] {
  return text.split(/(\n[ \t]{0,99}\n)/).flatMap((paragraph) => {
    const runs = [...paragraph.matchAll(/`+/g)]
    /** The next run of the same length, of each run. */
    const partners: (number | undefined)[] = []
    const latest = new Map<number, number>()
    for (let index = runs.length - 1; index >= 0; index -= 1) {
      const { length } = runs[index]?.[0] ?? ""
      partners[index] = latest.get(length)
      latest.set(length, index)
    }
    const pieces: CodePiece[] = []
    let done = 0
    for (let index = 0; index < runs.length; index += 1) {
      const partner = partners[index]
      const from = runs[index]?.index ?? 0
      const to = partner === undefined ? undefined : runs[partner]
      if (partner === undefined || !to || paragraph[from - 1] === "\\") continue
      const end = to.index + to[0].length
      pieces.push(
        { text: paragraph.slice(done, from), isCode: false },
        { text: paragraph.slice(from, end), isCode: true },
      )
      done = end
      index = partner
    }
    return [...pieces, { text: paragraph.slice(done), isCode: false }]
  })
}
