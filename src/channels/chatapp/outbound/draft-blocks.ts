// How much of a text that is still being written a draft in mode `block` shows: only up to where a piece ends well.
import type { AccountSettings } from "../settings.ts"

/** The preferred break, and those that do where a piece may grow no longer without it. */
const breaks = { paragraph: ["\n\n", "\n", ". ", " "], newline: ["\n", ". ", " "], sentence: [". ", "\n", " "] }

/**
 * How much of the text to show now, when `shown` characters of it are shown: whole pieces of at least `minChars`, which
 * wait for the preferred break until there are `maxChars` without one.
 */
export function blockEnd(
  text: string,
  shown: number,
  draftChunk: AccountSettings["draftChunk"],
  limit: number,
): number {
  const most = Math.min(draftChunk.maxChars, limit)
  const least = Math.min(draftChunk.minChars, most)
  const marks = breaks[draftChunk.breakPreference]
  let end = shown
  while (text.length - end >= least) {
    const window = text.slice(end, end + most)
    const usable = window.length < most ? marks.slice(0, 1) : marks
    const at = usable.map((mark) => endOfLast(window, mark)).find((position) => position >= least)
    if (at === undefined && window.length < most) break
    end += at ?? withoutHalfEnd(window).length
  }
  return end
}

/** 0: it is not there. */
function endOfLast(text: string, mark: string): number {
  const at = text.lastIndexOf(mark)
  return at < 0 ? 0 : at + mark.length
}

/** Its end may have cut a character in two. */
function withoutHalfEnd(text: string): string {
  const code = text.charCodeAt(text.length - 1)
  return text.length > 1 && code >= 0xd800 && code <= 0xdbff ? text.slice(0, -1) : text
}
