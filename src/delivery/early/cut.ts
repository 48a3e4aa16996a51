// Where a text that is still being written may be cut, so that its beginning can be sent: at a paragraph, else a line, a
// sentence, a word. A block of code is cut only when it alone is longer than a part may be.
import { type Fence, type FenceChange, closeFence, fenceChanges, openFence } from "../fence.ts"

export interface PartSize {
  minChars: number
  maxChars: number
}

/** Why a part is wanted: there is enough of it, nothing has come for a while, or nothing more will come. */
export type Occasion = "growing" | "idle" | "complete"

/** No tag of ours is longer. */
const maxTagChars = 60

const paragraph = /\n[ \t]*\n\s*/g
const line = /\n/g
const sentence = /[.!?…。！？]["'”’)\]]*(?:\s+|(?<=[。！？]))/gu
const word = /\s+/g

/** How much of the rest is the next part, or undefined while it is better to wait. `open` is the code it begins in. */
export function nextCut(rest: string, open: Fence | undefined, size: PartSize, occasion: Occasion): number | undefined {
  if (occasion === "growing" && rest.length < size.minChars) return undefined
  // What is further away decides nothing: a part ends before it.
  const near = rest.slice(0, 2 * size.maxChars + maxTagChars)
  const text = near.slice(0, unsafeFrom(near, open))
  if (text === "") return undefined
  if (text.length <= size.maxChars) {
    if (occasion === "complete") return text.length
    if (occasion === "idle") return lastBreak(text, open, [paragraph, line, sentence], 1)
    return text.length < size.minChars ? undefined : lastBreak(text, open, [paragraph], size.minChars)
  }
  const window = text.slice(0, size.maxChars)
  return (
    lastBreak(window, open, [paragraph, line, sentence, word], size.minChars) ??
    // A short part is better than a torn block of code.
    lastBreak(window, open, [paragraph, line], 1) ??
    afterLine(window) ??
    whole(text, size.maxChars)
  )
}

/** Lines that name files are for the end of the turn, and so is what follows them; a tag that has begun must be whole. */
function unsafeFrom(rest: string, open: Fence | undefined): number {
  let end = rest.length
  let fence = open
  let seen = 0
  for (const match of rest.matchAll(/^[ \t]*MEDIA:/gm)) {
    fence = openFence(rest.slice(seen, match.index), fence)
    seen = match.index
    if (fence) continue
    end = seen
    break
  }
  const tag = rest.lastIndexOf("[[", end)
  const isBegun = tag >= 0 && rest.indexOf("]]", tag) < 0 && end - tag < maxTagChars
  return isBegun ? tag : end
}

/** The last break of the first kind that has one, outside of code and tables. */
function lastBreak(text: string, open: Fence | undefined, kinds: readonly RegExp[], least: number): number | undefined {
  const changes = fenceChanges(text, open)
  for (const kind of kinds) {
    // Both lists are gone through once, from their ends.
    let before = changes.length - 1
    for (const match of [...text.matchAll(kind)].toReversed()) {
      const end = match.index + match[0].length
      if (end < least) break
      while (before >= 0 && (changes[before] as FenceChange).at >= end) before -= 1
      const isInCode = before < 0 ? open !== undefined : changes[before]?.open !== undefined
      if (!isInCode && !isInTable(text, end)) return end
    }
  }
  return undefined
}

/** Rows without their head are no table. */
function isInTable(text: string, at: number): boolean {
  return text[at] === "|" && text[at - 1] === "\n" && text[at - 2] !== "\n"
}

function afterLine(text: string): number | undefined {
  const at = text.lastIndexOf("\n")
  return at > 0 ? at + 1 : undefined
}

/** Not between the halves of a character. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return at > 1 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

/** A part as it is sent: a block of code that it cuts is ended, and begun anew in the next. */
export function partText(part: string, open: Fence | undefined): string {
  const body = open ? `${open.opening}\n${part.replace(/^\n/, "")}` : part
  return closeFence(body)
}
