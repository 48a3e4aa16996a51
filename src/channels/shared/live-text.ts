// What is shown of a text that is still being written: without the words that are for us, and with what the model thinks.
import { isSilence, silenceToken } from "../../agent/silence.ts"

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
