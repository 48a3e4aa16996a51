// The MarkdownV2 style of message text: nested entities, many reserved characters, quotes that are made of lines.
import { readFence } from "./code-block.ts"
import { sortEntities, type ParsedEntity, type ParsedText } from "./entity.ts"
import { customEmojiId, dateTime } from "./html.ts"
import { linkEntities } from "./markdown.ts"
import { byteOffset, parseError } from "./reader.ts"

type Kind =
  | "Bold"
  | "Italic"
  | "Underline"
  | "Strikethrough"
  | "Spoiler"
  | "Code"
  | "Pre"
  | "PreCode"
  | "TextUrl"
  | "CustomEmoji"
  | "BlockQuote"

interface OpenEntity {
  kind: Kind
  /** Where its mark starts in the source. */
  begin: number
  /** Where its content starts in the plain text. */
  offset: number
  language: string
}

const reserved = "_*[]()~`>#+-=|{}.!"
const simpleTypes: Partial<Record<Kind, ParsedEntity["type"]>> = {
  Bold: "bold",
  Italic: "italic",
  Underline: "underline",
  Strikethrough: "strikethrough",
  Spoiler: "spoiler",
  Code: "code",
}
const closings: Record<Kind, string> = {
  Bold: "*",
  Italic: "_",
  Underline: "__",
  Strikethrough: "~",
  Spoiler: "||",
  Code: "`",
  Pre: "```",
  PreCode: "```",
  TextUrl: "]",
  CustomEmoji: "]",
  BlockQuote: "",
}

export function parseMarkdownV2(source: string): ParsedText {
  return new MarkdownV2Parser(source).parse()
}

class MarkdownV2Parser {
  readonly #source: string
  readonly #open: OpenEntity[] = []
  readonly #entities: ParsedEntity[] = []
  #position = 0
  #text = ""
  #isInQuote = false
  #canStartQuote = true

  constructor(source: string) {
    this.#source = source
  }

  parse(): ParsedText {
    while (this.#position < this.#source.length) this.#step()
    if (this.#isInQuote) this.#closeQuote()
    const unclosed = this.#open.at(-1)
    if (unclosed) throw this.#unclosed(unclosed)
    return { text: this.#text, entities: sortEntities(this.#entities) }
  }

  #step(): void {
    const character = this.#source.charAt(this.#position)
    const next = this.#source[this.#position + 1] ?? "\0"
    if (character === "\\" && next > "\0" && next <= "~") {
      this.#append(next)
      this.#position += 2
      if (next === "\n") this.#canStartQuote = true
      return
    }
    const isCode = closings[this.#open.at(-1)?.kind ?? "Bold"].startsWith("`")
    if (isCode ? character !== "`" : !reserved.includes(character)) {
      this.#append(character)
      this.#position += 1
      if (character === "\n" && !isCode) this.#endLine()
    } else if (this.#isAtClosing()) this.#close()
    else if (character === ">" && this.#isInQuote && this.#canStartQuote) this.#position += 1
    else this.#start(character)
  }

  #append(character: string): void {
    this.#text += character
    if (character !== "\r") this.#canStartQuote = false
  }

  /** A quote goes on in the next line if that starts with its mark, else it ends here. */
  #endLine(): void {
    this.#canStartQuote = true
    if (!this.#isInQuote) return
    if (this.#source[this.#position] === ">") {
      this.#position += 1
    } else this.#closeQuote()
  }

  #isAtClosing(): boolean {
    const kind = this.#open.at(-1)?.kind
    if (kind === undefined || kind === "BlockQuote") return false
    if (!this.#source.startsWith(closings[kind], this.#position)) return false
    return kind !== "Italic" || this.#source[this.#position + 1] !== "_"
  }

  #start(character: string): void {
    const begin = this.#position
    const { kind, mark } = this.#startKind(character)
    this.#position += mark.length
    let language = ""
    if (kind === "Pre") {
      const fence = readFence(this.#source, this.#position)
      language = fence.language
      this.#position = fence.next
    }
    if (kind === "BlockQuote") {
      this.#isInQuote = true
    }
    this.#open.push({ kind: language ? "PreCode" : kind, begin, offset: this.#text.length, language })
  }

  #startKind(character: string): { kind: Kind; mark: string } {
    const isNext = (mark: string) => this.#source.startsWith(mark, this.#position)
    if (isNext("__")) return { kind: "Underline", mark: "__" }
    if (character === "_") return { kind: "Italic", mark: "_" }
    if (character === "*") return { kind: "Bold", mark: "*" }
    if (character === "~") return { kind: "Strikethrough", mark: "~" }
    if (isNext("||")) return { kind: "Spoiler", mark: "||" }
    if (character === "[") return { kind: "TextUrl", mark: "[" }
    if (isNext("![")) return { kind: "CustomEmoji", mark: "![" }
    if (isNext("```")) return { kind: "Pre", mark: "```" }
    if (character === "`") return { kind: "Code", mark: "`" }
    if (character === ">" && this.#canStartQuote) return { kind: "BlockQuote", mark: ">" }
    throw parseError(`Character '${character}' is reserved and must be escaped with the preceding '\\'`)
  }

  #close(): void {
    const entity = this.#open.pop()
    if (!entity) return
    this.#position += closings[entity.kind].length
    const range = { offset: entity.offset, length: this.#text.length - entity.offset }
    const made = this.#entitiesOf(entity, range)
    if (range.length > 0) this.#entities.push(...made)
  }

  #entitiesOf(entity: OpenEntity, range: { offset: number; length: number }): ParsedEntity[] {
    const type = simpleTypes[entity.kind]
    if (type !== undefined) return [{ type, ...range }]
    if (entity.kind === "TextUrl") return linkEntities(this.#readLink() ?? this.#text.slice(range.offset), range)
    if (entity.kind === "CustomEmoji") return emojiOrTime(this.#readLink(), range)
    return [{ type: "pre", ...range, ...(entity.language ? { language: entity.language } : {}) }]
  }

  /** The link in parentheses behind a closing bracket; undefined without one. */
  #readLink(): string | undefined {
    if (this.#source[this.#position] !== "(") return undefined
    this.#position += 1
    const begin = this.#position
    let link = ""
    while (this.#position < this.#source.length && this.#source[this.#position] !== ")") {
      const next = this.#source[this.#position + 1] ?? "\0"
      if (this.#source[this.#position] === "\\" && next > "\0" && next <= "~") this.#position += 1
      link += this.#source.charAt(this.#position)
      this.#position += 1
    }
    if (this.#source[this.#position] !== ")") {
      throw parseError(`Can't find end of a URL at byte offset ${byteOffset(this.#source, begin)}`)
    }
    this.#position += 1
    return link
  }

  /** An empty spoiler at the end of a quote makes the quote an expandable one. */
  #closeQuote(): void {
    const isExpandable = this.#endsWithSpoilerMark()
    if (isExpandable) this.#open.pop()
    const quote = this.#open.at(-1)
    if (quote?.kind !== "BlockQuote") throw this.#unclosed(quote)
    this.#open.pop()
    this.#isInQuote = false
    const length = this.#text.length - quote.offset
    const type = isExpandable ? "expandable_blockquote" : "blockquote"
    if (length > 0) this.#entities.push({ type, offset: quote.offset, length })
  }

  #endsWithSpoilerMark(): boolean {
    const spoiler = this.#open.at(-1)
    return spoiler?.kind === "Spoiler" && /^\n?$/.test(this.#text.slice(spoiler.offset))
  }

  #unclosed(entity: OpenEntity | undefined): Error {
    const offset = byteOffset(this.#source, entity?.begin ?? 0)
    return parseError(`Can't find end of ${entity?.kind ?? "BlockQuote"} entity at byte offset ${offset}`)
  }
}

function emojiOrTime(link: string | undefined, range: { offset: number; length: number }): ParsedEntity[] {
  if (link === undefined) throw parseError("The entity must contain a tg://emoji or tg://time URL")
  const match = /^tg:(?:\/\/)?(emoji|time)\/?\?([^#]*)/i.exec(link)
  const parameters = new Map(
    (match?.[2] ?? "").split("&").map((pair) => [pair.split("=")[0] ?? "", pair.replace(/^[^=]*=?/, "")]),
  )
  const invalid = () => parseError("Invalid tg://emoji or tg://time URL specified")
  try {
    if (match?.[1]?.toLowerCase() === "emoji") {
      return [{ type: "custom_emoji", ...range, custom_emoji_id: customEmojiId(parameters.get("id") ?? "") }]
    }
    const time = match && dateTime(parameters.get("unix") ?? "", parameters.get("format") ?? "")
    if (time) return [{ type: "date_time", ...range, ...time }]
  } catch (cause) {
    const error = invalid()
    error.cause = cause
    throw error
  }
  throw invalid()
}
