// Entities as the parsers make them, before they are fitted to a message.
import type { MessageEntity } from "grammy/types"

/** An entity of the wire, except that a mention of a user without username carries only the user's id. */
export interface ParsedEntity {
  type: MessageEntity["type"]
  offset: number
  length: number
  url?: string
  userId?: number
  language?: string
  custom_emoji_id?: string
  unix_time?: number
  date_time_format?: string
}

export interface ParsedText {
  text: string
  entities: ParsedEntity[]
}

/** Smaller numbers come first among entities of the same range. */
const priorities: Partial<Record<MessageEntity["type"], number>> = {
  blockquote: 0,
  expandable_blockquote: 0,
  pre: 10,
  code: 20,
  text_link: 49,
  text_mention: 49,
  bold: 90,
  italic: 91,
  underline: 92,
  strikethrough: 93,
  spoiler: 94,
  date_time: 98,
  custom_emoji: 99,
}

/** Outer entities first: by start, then longer before shorter, then by kind. */
export function sortEntities(entities: ParsedEntity[]): ParsedEntity[] {
  const rank = (entity: ParsedEntity) => {
    if (entity.type === "pre" && entity.language === undefined) return 11
    return priorities[entity.type] ?? 50
  }
  return entities.sort((a, b) => a.offset - b.offset || b.length - a.length || rank(a) - rank(b))
}
