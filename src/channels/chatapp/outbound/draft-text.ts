// What a draft shows of a text that is still being written: without the words that are for us, and in mode `block` only
// up to where a piece ends well.
import { isSilence, silenceToken } from "../../../agent/silence.ts"
import type { AccountSettings } from "../settings.ts"

/** Tags and media lines, also one that has only begun at the end. */
const ours = /\[\[[^[\]\n]*(?:\]\]|\]?$)|\[$|^[ \t]{0,9}MEDIA:[^\n]*\n?/gm

export function draftText(written: string, limit: number): string {
  const text = written.replace(ours, "").trim()
  // Not even its beginning is shown: there will be no answer.
  if (isSilence(text) || (text !== "" && silenceToken.startsWith(text))) return ""
  if (text.length <= limit) return text
  const cut = text.charCodeAt(limit - 1)
  const isHigh = cut >= 0xd800 && cut <= 0xdbff
  return text.slice(0, isHigh ? limit - 1 : limit)
}

/** Of the thinking only its newest part is of interest. */
const thinkingChars = 1_500

/** The text, and below it what the model thinks before it goes on; both together within the limit. */
export function withThinking(text: string, thinking: string, limit: number): string {
  const thought = thinking.trim()
  if (thought === "") return text
  const newest = thought.length <= thinkingChars ? thought : `…${withoutHalf(thought.slice(-thinkingChars))}`
  const shown = `🤔 ${newest}`
  if (text === "") return draftText(shown, limit)
  return text.length + shown.length + 2 <= limit ? `${text}\n\n${shown}` : text
}

/** A cut may have left the second half of a character at the beginning. */
function withoutHalf(text: string): string {
  const code = text.charCodeAt(0)
  return code >= 0xdc00 && code <= 0xdfff ? text.slice(1) : text
}

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
