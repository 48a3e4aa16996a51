// Text of a message from its arguments: parsed by the mode asked for, then fitted as the platform fits it before sending:
// trimmed, entities clipped and merged, and links, mentions, commands and tags found by themselves.
import type { MessageEntity } from "grammy/types"
import { badRequest } from "../errors.ts"
import { sortEntities, type ParsedEntity, type ParsedText } from "../parse/entity.ts"
import { findEntities } from "../parse/find.ts"
import { parseHtml } from "../parse/html.ts"
import { parseMarkdown } from "../parse/markdown.ts"
import { parseMarkdownV2 } from "../parse/markdown-v2.ts"
import type { Arguments } from "../wire/arguments.ts"
import { publicUser } from "./deliver.ts"
import type { World } from "./world.ts"

export interface FormattedText {
  text: string
  entities: MessageEntity[]
}

/** Names of the arguments that carry a text: `text`, or `caption` with its own entities. */
export interface TextArguments {
  text: string
  parseMode?: string
  entities: string
}

const maxSourceBytes = 32_768

/** Parses, and fails as the platform does before it looks at the chat. */
export function readFormattedText(world: World, source: Arguments, names: TextArguments): FormattedText {
  const text = source.text(names.text)
  if (Buffer.byteLength(text) > maxSourceBytes) throw badRequest("Text is too long")
  const parsed = parse(text, source.text(names.parseMode ?? "parse_mode"), source.text(names.entities))
  return fit(world, parsed)
}

function parse(text: string, mode: string, entities: string): ParsedText {
  switch (text === "" ? "" : mode.toLowerCase()) {
    case "html":
      return parseHtml(text)
    case "markdown":
      return parseMarkdown(text)
    case "markdownv2":
      return parseMarkdownV2(text)
    case "":
    case "none":
      return { text, entities: givenEntities(entities) }
    default:
      throw badRequest("Unsupported parse_mode")
  }
}

/** What is no list counts as none, as the platform has it. */
function givenEntities(json: string): ParsedEntity[] {
  let value: unknown
  try {
    value = JSON.parse(json || "[]")
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
  return Array.isArray(value) ? value.flatMap(givenEntity) : []
}

/** Kinds that the platform finds by itself, and does not take from a bot. */
const foundKinds = new Set([
  "mention",
  "hashtag",
  "cashtag",
  "bot_command",
  "url",
  "email",
  "phone_number",
  "bank_card_number",
])
const takenKinds = new Set([
  "bold",
  "italic",
  "underline",
  "strikethrough",
  "spoiler",
  "blockquote",
  "expandable_blockquote",
  "code",
  "pre",
  "text_link",
  "text_mention",
  "custom_emoji",
  "date_time",
])

function givenEntity(value: unknown): ParsedEntity[] {
  const fail = (message: string) => badRequest(`Can't parse MessageEntity: ${message}`)
  if (typeof value !== "object" || value === null) throw fail("expected an Object")
  const { type, offset, length, user, ...rest } = value as Record<string, unknown>
  if (offset === undefined || length === undefined)
    throw fail(`Can't find field "${offset === undefined ? "offset" : "length"}"`)
  if (!Number.isInteger(Number(offset)) || !Number.isInteger(Number(length))) {
    throw fail(`Field "${Number.isInteger(Number(offset)) ? "length" : "offset"}" must be of type Number`)
  }
  if (typeof type !== "string") throw fail('Can\'t find field "type"')
  if (foundKinds.has(type)) return []
  if (!takenKinds.has(type)) throw fail("Unsupported type specified")
  const userId = typeof user === "object" && user !== null && "id" in user ? Number(user.id) : undefined
  const mentioned = userId === undefined ? {} : { userId }
  return [{ ...rest, type: type as ParsedEntity["type"], offset: Number(offset), length: Number(length), ...mentioned }]
}

/** Clips entities to the trimmed text, merges neighbours, finds the rest, and turns user ids into users. */
function fit(world: World, parsed: ParsedText): FormattedText {
  const clean = withoutControls(parsed.text)
  const entities = clean.length === parsed.text.length ? parsed.entities : shiftForRemoved(parsed)
  const leading = clean.length - clean.trimStart().length
  const text = clean.trim()
  const clipped = entities.map((entity) => clip(entity, leading, text)).filter((entity) => entity.length > 0)
  const merged = merge(sortEntities(clipped))
  const all = sortEntities([...merged, ...findEntities(text, merged)])
  return { text, entities: all.flatMap((entity) => wireEntity(world, entity)) }
}

/** Carriage returns go; all other control characters but tab and line feed become spaces. */
function withoutControls(text: string): string {
  const clean = text.replaceAll("\r", "")
  return clean.replaceAll(/\p{Cc}/gu, (control) =>
    control === "\n" || control === "\t" || control > "\x1f" ? control : " ",
  )
}

function shiftForRemoved({ text, entities }: ParsedText): ParsedEntity[] {
  const kept = (end: number) => text.slice(0, end).replaceAll("\r", "").length
  return entities.map((entity) => {
    const offset = kept(entity.offset)
    return { ...entity, offset, length: kept(entity.offset + entity.length) - offset }
  })
}

/** Moves an entity into the trimmed text; spaces at its ends do not belong to it, except in code and quotes. */
function clip(entity: ParsedEntity, leading: number, text: string): ParsedEntity {
  let begin = Math.max(0, entity.offset - leading)
  let finish = Math.min(text.length, entity.offset - leading + entity.length)
  const keepsSpaces = ["pre", "code", "blockquote", "expandable_blockquote"].includes(entity.type)
  while (!keepsSpaces && begin < finish && /\s/.test(text.charAt(finish - 1))) finish -= 1
  while (!keepsSpaces && begin < finish && /\s/.test(text.charAt(begin))) begin += 1
  return { ...entity, offset: begin, length: Math.max(0, finish - begin) }
}

const mergeable = new Set(["bold", "italic", "underline", "strikethrough", "spoiler"])

/** Adjacent or overlapping entities of one simple kind are one. */
function merge(entities: ParsedEntity[]): ParsedEntity[] {
  const lastOfKind = new Map<string, ParsedEntity>()
  return entities.filter((entity) => {
    const previous = lastOfKind.get(entity.type)
    const joins =
      previous !== undefined && mergeable.has(entity.type) && entity.offset <= previous.offset + previous.length
    if (!joins) {
      lastOfKind.set(entity.type, entity)
      return true
    }
    previous.length = Math.max(previous.length, entity.offset + entity.length - previous.offset)
    return false
  })
}

function wireEntity(world: World, entity: ParsedEntity): MessageEntity[] {
  const { userId, ...rest } = entity
  if (rest.type !== "text_mention") return [rest as MessageEntity]
  const user = userId === undefined ? undefined : world.userOf(userId)
  return user ? [{ type: "text_mention", offset: rest.offset, length: rest.length, user: publicUser(user) }] : []
}
