// What a model's answer says about its own delivery: reply tags, files to send, the voice tag. Parsed from the
// model's words only, and only files that this turn's tools have made may be sent.
import type { Reply, ReplyMedia } from "./contract.ts"

export interface ParsedReply {
  reply: Reply
  /** Files that the answer named but may not send. */
  refused: string[]
}

const replyTag = /\[\[\s{0,9}reply_to(?:_current|\s{0,9}:\s{0,9}([^[\]\s]+))\s{0,9}\]\]/gi
const voiceTag = /\[\[\s{0,9}audio_as_voice\s{0,9}\]\]/gi

/** A tag that was never finished, because the answer was cut. */
const begunTag = /\[\[\s{0,9}(?:reply_to|audio_as)[^[\]\n]*\]?$/i

export interface ParseOptions {
  text: string
  /** Absolute paths that may be sent. */
  allowedMedia: ReadonlySet<string>
  /** The message that the turn answers. */
  currentMessageId: string | undefined
}

export function parseReply(options: ParseOptions): ParsedReply {
  const refused: string[] = []
  const media: ReplyMedia[] = []
  const { text: withoutMedia, paths } = takeMediaLines(options.text)
  for (const path of paths) {
    if (options.allowedMedia.has(path)) media.push({ path, mediaType: mediaTypeOf(path) })
    else refused.push(path)
  }
  let replyTo: string | undefined
  const text = withoutMedia
    .replace(replyTag, (_tag, id: string | undefined) => {
      // An explicit id wins over `current`; ids are the platform's numbers, and the channel looks only in this chat.
      if (id === undefined) replyTo ??= options.currentMessageId
      else if (/^\d{1,19}$/.test(id)) replyTo = id
      return ""
    })
    .replace(voiceTag, "")
    .replace(begunTag, "")
  const reply: Reply = { text: text.trim(), media }
  if (replyTo !== undefined) reply.replyTo = replyTo
  if (voiceTag.test(withoutMedia)) reply.asVoice = true
  voiceTag.lastIndex = 0
  return { reply, refused }
}

/**
 * Takes out `MEDIA:<path>` lines that stand outside code fences; everything else stays to the letter. Of an address on the
 * web the address stays: it is not fetched on the word of an answer, but people can open it.
 */
function takeMediaLines(text: string): { text: string; paths: string[] } {
  const paths: string[] = []
  let fence: string | undefined
  const kept = text.split("\n").flatMap((line) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark && fence === undefined) fence = mark
    else if (mark && fence !== undefined && mark.startsWith(fence)) fence = undefined
    const path = fence === undefined ? /^MEDIA:\s*(\S.*)$/.exec(line.trim())?.[1] : undefined
    if (path === undefined) return [line]
    if (/^https?:\/\//i.test(path)) return [path]
    paths.push(path)
    return []
  })
  return { text: kept.join("\n"), paths }
}

const mediaTypes: Record<string, string> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  pdf: "application/pdf",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  aac: "audio/aac",
  ogg: "audio/ogg",
  oga: "audio/ogg",
  opus: "audio/ogg",
  m4a: "audio/mp4",
  mp4: "video/mp4",
  mov: "video/quicktime",
  txt: "text/plain",
}

export function mediaTypeOf(path: string): string {
  return mediaTypes[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream"
}
