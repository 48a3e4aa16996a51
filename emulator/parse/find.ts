// Entities that the platform finds by itself in plain text: links, e-mail addresses, @mentions, #tags, $TAGS, /commands.
import type { ParsedEntity } from "./entity.ts"

const patterns: [ParsedEntity["type"], RegExp][] = [
  [
    "url",
    /(?<![\w@])(?:https?:\/\/[^\s<>"]+|(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|me|ru|de|uk|info|co|ai)\b(?:\/[^\s<>"]*)?)/giu,
  ],
  ["email", /(?<![\w.+-])[\w.+-]+@(?:[a-z0-9-]+\.)+[a-z]{2,}/giu],
  ["mention", /(?<![\w@/])@[a-z]\w{3,31}(?!\w)/giu],
  ["bot_command", /(?<![\w/<>])\/[a-z0-9_]{1,64}(?:@[a-z]\w{2,31})?(?![\w/])/giu],
  ["hashtag", /(?<![\p{L}\p{N}_#])#[\p{L}\p{N}_]*[\p{L}_][\p{L}\p{N}_]*/gu],
  ["cashtag", /(?<![\w$])\$[A-Z]{1,8}(?!\w)/gu],
]

/** Kinds inside of which nothing is looked for. */
const opaque = new Set(["code", "pre", "text_link", "text_mention", "date_time", "custom_emoji"])

export function findEntities(text: string, known: readonly ParsedEntity[]): ParsedEntity[] {
  const taken = known.filter((entity) => opaque.has(entity.type) || patterns.some(([type]) => type === entity.type))
  const found: ParsedEntity[] = []
  for (const [type, pattern] of patterns) {
    for (const match of text.matchAll(pattern)) {
      const value = type === "url" ? match[0].replace(/[.,:;!?)\]'"]+$/, "") : match[0]
      const entity = { type, offset: match.index, length: value.length }
      if (![...taken, ...found].some((other) => overlaps(entity, other))) found.push(entity)
    }
  }
  return found
}

function overlaps(a: ParsedEntity, b: ParsedEntity): boolean {
  return a.offset < b.offset + b.length && b.offset < a.offset + a.length
}
