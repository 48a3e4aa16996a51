// What a model's answer says about its own delivery: reply tags, files to send, the voice tag. Parsed from the
// model's words only. Files that this turn's tools have made may be sent, and of an owner's turn others (owners-file.ts).
import type { Reply, ReplyMedia } from "./contract.ts"
import { takeTags } from "./tags.ts"

export interface ParsedReply {
  reply: Reply
  /** Files that the answer named but may not send. */
  refused: string[]
}

export interface ParseOptions {
  text: string
  /** Absolute paths that may be sent. */
  allowedMedia: ReadonlySet<string>
  /** The path of a further file that may be sent, as the answer names it. */
  otherMedia?: (named: string) => string | undefined
  /** The message that the turn answers. */
  currentMessageId: string | undefined
}

export function parseReply(options: ParseOptions): ParsedReply {
  const refused: string[] = []
  const media: ReplyMedia[] = []
  const { text: withoutMedia, paths } = takeMediaLines(options.text)
  for (const named of paths) {
    const path = options.allowedMedia.has(named) ? named : options.otherMedia?.(named)
    if (path === undefined) refused.push(named)
    else media.push({ path, mediaType: mediaTypeOf(path) })
  }
  const { text, ...manner } = takeTags(withoutMedia, options.currentMessageId)
  const reply: Reply = { text, media, ...manner }
  return { reply, refused }
}

/**
 * Takes out `MEDIA:<path>` lines that stand outside code fences; everything else stays to the letter. Of an address on the
 * web the address stays: it is not fetched on the word of an answer, but people can open it.
 */
function takeMediaLines(text: string): { text: string; paths: string[] } {
  const paths: string[] = []
  const last = text.lastIndexOf(mediaMark)
  let kept = ""
  let done = 0
  let fence: string | undefined
  for (let start = 0; start <= last && paths.length < mostFiles;) {
    const next = text.indexOf("\n", start)
    const end = next < 0 ? text.length : next
    let from = start
    while (from < end && isBlank(text.charCodeAt(from))) from += 1
    const line = mayCount(text.charCodeAt(from)) ? text.slice(start, end) : ""
    start = end + 1
    if (line === "") continue
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark && fence === undefined) fence = mark
    else if (mark && fence !== undefined && mark.startsWith(fence)) fence = undefined
    const path = fence === undefined ? /^MEDIA:\s*(\S.*)$/.exec(line.trim())?.[1] : undefined
    if (path === undefined) continue
    kept += text.slice(done, end - line.length)
    done = start
    if (/^https?:\/\//i.test(path)) kept += `${path}\n`
    else paths.push(path)
  }
  return done === 0 ? { text, paths } : { text: kept + text.slice(done), paths }
}

const mediaMark = "MEDIA:"
/** Of one answer; what is named beyond that stays as it was written. */
const mostFiles = 100

/** What begins or ends a block of code, or names a file: a backtick, a tilde, an M. */
function mayCount(code: number): boolean {
  return code === 0x60 || code === 0x7e || code === 0x4d
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0
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
