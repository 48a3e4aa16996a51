// The old Markdown style of message text: no nesting, and only four characters that mean something.
import { readFence } from "./code-block.ts"
import { sortEntities, type ParsedEntity, type ParsedText } from "./entity.ts"
import { checkedLink, userIdOfLink } from "./link.ts"
import { byteOffset, parseError } from "./reader.ts"

const special = "_*`["

export function parseMarkdown(source: string): ParsedText {
  const entities: ParsedEntity[] = []
  let text = ""
  let position = 0
  while (position < source.length) {
    const character = source.charAt(position)
    if (character === "\\" && special.includes(source[position + 1] ?? " ")) {
      text += source.charAt(position + 1)
      position += 2
    } else if (!special.includes(character)) {
      text += character
      position += 1
    } else {
      const span = readSpan(source, position)
      if (span.content !== "") entities.push(...spanEntities(character, span, text.length))
      text += span.content
      position = span.next
    }
  }
  return { text, entities: sortEntities(entities) }
}

interface Span {
  content: string
  isPre: boolean
  language: string
  link: string
  next: number
}

function readSpan(source: string, begin: number): Span {
  const opening = source.charAt(begin)
  const isPre = source.startsWith("```", begin)
  const fence = isPre ? readFence(source, begin + 3) : { language: "", next: begin + 1 }
  const closing = isPre ? "```" : opening === "[" ? "]" : opening
  const finish = source.indexOf(closing, fence.next)
  if (finish < 0) {
    throw parseError(`Can't find end of the entity starting at byte offset ${byteOffset(source, begin)}`)
  }
  const content = source.slice(fence.next, finish)
  const span = { content, isPre, language: fence.language, link: content, next: finish + closing.length }
  if (opening !== "[" || content === "" || source[span.next] !== "(") return span
  const linkEnd = source.indexOf(")", span.next)
  const link = source.slice(span.next + 1, linkEnd < 0 ? source.length : linkEnd)
  return { ...span, link, next: linkEnd < 0 ? source.length : linkEnd + 1 }
}

function spanEntities(opening: string, span: Span, offset: number): ParsedEntity[] {
  const range = { offset, length: span.content.length }
  if (opening === "*") return [{ type: "bold", ...range }]
  if (opening === "_") return [{ type: "italic", ...range }]
  if (opening === "[") return linkEntities(span.link, range)
  if (!span.isPre) return [{ type: "code", ...range }]
  return [{ type: "pre", ...range, ...(span.language ? { language: span.language } : {}) }]
}

/** The entity of a link, none when the platform does not accept it. */
export function linkEntities(link: string, range: { offset: number; length: number }): ParsedEntity[] {
  const userId = userIdOfLink(link)
  if (userId !== undefined) return [{ type: "text_mention", ...range, userId }]
  const url = checkedLink(link)
  return url === undefined ? [] : [{ type: "text_link", ...range, url }]
}
