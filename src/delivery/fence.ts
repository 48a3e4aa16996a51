// Fenced code in a text that is cut: where a fence is open, and how to end and begin it anew.
import { trimEnd } from "../kernel/index.ts"

export interface Fence {
  /** The line that opened it, without its end. */
  opening: string
  /** The same mark that opened it closes it. */
  mark: string
}

const fenceLine = /^[ \t]{0,8}(`{3,}(?!`)|~{3,}(?!~))([^\n]*)/gm

/** The block of code that the end of the text lies in; `before` is the one that its beginning lies in. */
export function openFence(text: string, before?: Fence): Fence | undefined {
  let open = before
  for (const match of text.matchAll(fenceLine)) {
    const [line, mark = "", rest = ""] = match
    if (!open) {
      // A line such as ```code``` is no fence.
      if (!(mark.startsWith("`") && rest.includes("`"))) open = { opening: line.trim(), mark }
    } else if (mark.startsWith(open.mark) && rest.trim() === "") open = undefined
  }
  return open
}

/** The text with its block of code ended, when it ends inside of one. */
export function closeFence(text: string): string {
  const open = openFence(text)
  return open ? `${trimEnd(text, "\n")}\n${open.mark}` : text
}
