// The tags by which a text says how it is to be sent: `[[reply_to_current]]`, `[[reply_to:<id>]]`, `[[audio_as_voice]]`.
// Inside code they are text. Everything else stays to the letter, the indentation of the first line too.
import { splitCode } from "./fence.ts"

const replyTag = /\[\[\s{0,9}reply_to(?:_current|\s{0,9}:\s{0,9}([^[\]\s]+))\s{0,9}\]\][ \t]{0,9}/gi
const voiceTag = /\[\[\s{0,9}audio_as_voice\s{0,9}\]\][ \t]{0,9}/gi

/** A tag that was never finished, because the answer was cut. */
const begunTag = /\[\[\s{0,9}(?:reply_to|audio_as)[^[\]\n]*\]?$/i

/** Tags stand at the beginning of an answer, or at the end of one that a person can read; a longer text has none behind it. */
const maxTagged = 64 * 1024

export interface TaggedText {
  /** Without its tags, and without blank lines at its ends. */
  text: string
  /** The message to refer to. An explicit id wins over `current`. */
  replyTo?: string
  asVoice?: true
}

/** `currentMessageId`: what `[[reply_to_current]]` stands for; undefined: nothing. */
export function takeTags(whole: string, currentMessageId: string | undefined): TaggedText {
  let replyTo: string | undefined
  let asVoice = false
  const tagged = whole.slice(0, maxTagged)
  if (!tagged.includes("[[")) return { text: withoutBlankEnds(whole) }
  const pieces = splitCode(tagged).map(({ text, isCode }, index, all) => {
    if (isCode) return text
    const plain = text
      .replace(replyTag, (_tag, id: string | undefined) => {
        // Ids are the platform's numbers, and the channel looks only in this chat.
        if (id === undefined) replyTo ??= currentMessageId
        else if (/^\d{1,19}$/.test(id)) replyTo = id
        return ""
      })
      .replace(voiceTag, () => {
        asVoice = true
        return ""
      })
    return index === all.length - 1 ? plain.replace(begunTag, "") : plain
  })
  return {
    text: withoutBlankEnds(pieces.join("") + whole.slice(maxTagged)),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(asVoice ? { asVoice } : {}),
  }
}

/** The first line that says something keeps its indentation: it may be code. */
function withoutBlankEnds(text: string): string {
  const first = text.search(/\S/)
  return first < 0 ? "" : text.slice(text.lastIndexOf("\n", first) + 1).trimEnd()
}
