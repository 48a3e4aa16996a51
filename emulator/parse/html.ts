// The HTML style of message text, read as the platform reads it: same tags, same leniency, same errors.
import { checkedLink, userIdOfLink } from "./link.ts"
import { sortEntities, type ParsedEntity, type ParsedText } from "./entity.ts"
import { byteOffset, end, isAsciiAlphanumeric, isSpace, lowerAscii, parseError } from "./reader.ts"

interface OpenTag {
  name: string
  attributes: Map<string, string>
  /** Where the tag's content starts in the plain text. */
  offset: number
}

const simpleTags: Record<string, ParsedEntity["type"]> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  u: "underline",
  ins: "underline",
  "tg-spoiler": "spoiler",
  span: "spoiler",
}
const supportedTags = new Set([...Object.keys(simpleTags), "a", "pre", "code", "blockquote", "tg-emoji", "tg-time"])

export function parseHtml(source: string): ParsedText {
  return new HtmlParser(source).parse()
}

class HtmlParser {
  readonly #source: string
  readonly #open: OpenTag[] = []
  readonly #entities: ParsedEntity[] = []
  /** Languages of code entities, which only count inside of pre. */
  readonly #languages = new Map<ParsedEntity, string>()
  #position = 0
  #text = ""

  constructor(source: string) {
    this.#source = source
  }

  parse(): ParsedText {
    let hasHalf = false
    while (this.#position < this.#source.length) {
      const character = this.#source.charAt(this.#position)
      if (character === "<") this.#readTag()
      else {
        const read = this.#readCharacter()
        // Two decoded halves do not make a character: each is invalid by itself.
        if (character === "&" && /[\ud800-\udfff]/.test(read) && read.length === 1) hasHalf = true
        this.#text += read
      }
    }
    const unclosed = this.#open.at(-1)
    if (unclosed) throw parseError(`Can't find end tag corresponding to start tag "${unclosed.name}"`)
    if (hasHalf) {
      throw parseError(
        "Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units",
      )
    }
    return { text: this.#text, entities: sortEntities(this.#entities) }
  }

  #at(position: number): string {
    return this.#source[position] ?? end
  }

  /** One character of text, with its entity decoded. */
  #readCharacter(): string {
    const character = this.#at(this.#position)
    if (character === "&") {
      const decoded = decodeEntity(this.#source, this.#position)
      if (decoded) {
        this.#position += decoded.length
        return decoded.character
      }
    }
    this.#position += 1
    return character
  }

  #readTag(): void {
    const begin = this.#position
    this.#position += 1
    if (this.#at(this.#position) === "/") this.#readEndTag(begin)
    else this.#readStartTag(begin)
    this.#position += 1
  }

  #readStartTag(begin: number): void {
    const name = lowerAscii(this.#readUntil((character) => isSpace(character) || character === ">"))
    const offsetText = `at byte offset ${byteOffset(this.#source, begin)}`
    if (this.#at(this.#position) === end) throw parseError(`Unclosed start tag ${offsetText}`)
    if (!supportedTags.has(name)) throw parseError(`Unsupported start tag "${name}" ${offsetText}`)
    const attributes = new Map<string, string>()
    while (this.#at(this.#position) !== ">") this.#readAttribute(name, attributes, offsetText)
    if (name === "span" && attributes.get("class") !== "tg-spoiler") {
      throw parseError(`Tag "span" must have class "tg-spoiler" ${offsetText}`)
    }
    this.#open.push({ name, attributes, offset: this.#text.length })
  }

  #readAttribute(tag: string, attributes: Map<string, string>, offsetText: string): void {
    this.#skipSpaces()
    if (this.#at(this.#position) === ">") return
    const name = lowerAscii(this.#readUntil((character) => isSpace(character) || "=>/\"'".includes(character)))
    if (name === "") throw parseError(`Empty attribute name in the tag "${tag}" ${offsetText}`)
    this.#skipSpaces()
    const unclosed = () => parseError(`Unclosed start tag "${tag}" ${offsetText}`)
    if (this.#at(this.#position) !== "=") {
      if (this.#at(this.#position) === end) throw unclosed()
      attributes.set(name, "")
      return
    }
    this.#position += 1
    this.#skipSpaces()
    if (this.#at(this.#position) === end) throw unclosed()
    const value = this.#readAttributeValue()
    if (this.#at(this.#position) === end) throw parseError(`Unclosed start tag ${offsetText}`)
    attributes.set(name, value)
  }

  #readAttributeValue(): string {
    const quote = this.#at(this.#position)
    if (quote !== '"' && quote !== "'") return this.#readNameToken()
    this.#position += 1
    let value = ""
    while (this.#at(this.#position) !== quote && this.#at(this.#position) !== end) value += this.#readCharacter()
    if (this.#at(this.#position) === quote) this.#position += 1
    return value
  }

  #readNameToken(): string {
    const begin = this.#position
    const token = this.#readUntil(
      (character) => !isAsciiAlphanumeric(character) && character !== "." && character !== "-",
    )
    const next = this.#at(this.#position)
    if (!isSpace(next) && next !== ">") {
      throw parseError(`Unexpected end of name token at byte offset ${byteOffset(this.#source, begin)}`)
    }
    return lowerAscii(token)
  }

  #readEndTag(begin: number): void {
    const offset = byteOffset(this.#source, begin)
    const tag = this.#open.at(-1)
    if (!tag) throw parseError(`Unexpected end tag at byte offset ${offset}`)
    this.#position += 1
    const name = lowerAscii(this.#readUntil((character) => isSpace(character) || character === ">"))
    this.#skipSpaces()
    if (this.#at(this.#position) !== ">") throw parseError(`Unclosed end tag at byte offset ${offset}`)
    if (name !== "" && name !== tag.name) {
      throw parseError(`Unmatched end tag at byte offset ${offset}, expected "</${tag.name}>", found "</${name}>"`)
    }
    this.#open.pop()
    this.#addEntity(tag)
  }

  #addEntity({ name, attributes, offset }: OpenTag): void {
    const length = this.#text.length - offset
    if (length === 0) return
    const simple = simpleTags[name]
    if (simple !== undefined) this.#entities.push({ type: simple, offset, length })
    else if (name === "a") this.#addLink(attributes.get("href") ?? "", offset, length)
    else if (name === "pre") this.#addPre(offset, length)
    else if (name === "code") this.#addCode(attributes.get("class") ?? "", offset, length)
    else if (name === "tg-emoji") this.#addEmoji(attributes.get("emoji-id") ?? "", offset, length)
    else if (name === "tg-time") this.#addTime(attributes, offset, length)
    else
      this.#entities.push({
        type: attributes.has("expandable") ? "expandable_blockquote" : "blockquote",
        offset,
        length,
      })
  }

  #addLink(href: string, offset: number, length: number): void {
    const link = href === "" ? this.#text.slice(offset) : href
    const userId = userIdOfLink(link)
    if (userId !== undefined) {
      this.#entities.push({ type: "text_mention", offset, length, userId })
      return
    }
    const url = checkedLink(link)
    if (url !== undefined) this.#entities.push({ type: "text_link", offset, length, url })
  }

  #addPre(offset: number, length: number): void {
    const inner = this.#entities.at(-1)
    const language = inner && this.#languages.get(inner)
    if (inner && inner.type === "code" && language && inner.offset === offset && inner.length === length) {
      inner.type = "pre"
      inner.language = language
    } else this.#entities.push({ type: "pre", offset, length })
  }

  #addCode(className: string, offset: number, length: number): void {
    const language = className.startsWith("language-") ? className.slice("language-".length) : ""
    const inner = this.#entities.at(-1)
    const isPlainPre = inner?.type === "pre" && inner.language === undefined
    if (inner && language && isPlainPre && inner.offset === offset && inner.length === length) {
      inner.language = language
      return
    }
    const entity: ParsedEntity = { type: "code", offset, length }
    if (language) this.#languages.set(entity, language)
    this.#entities.push(entity)
  }

  #addEmoji(id: string, offset: number, length: number): void {
    this.#entities.push({ type: "custom_emoji", offset, length, custom_emoji_id: customEmojiId(id) })
  }

  #addTime(attributes: Map<string, string>, offset: number, length: number): void {
    const time = dateTime(attributes.get("unix") ?? "", attributes.get("format") ?? "")
    if (time) this.#entities.push({ type: "date_time", offset, length, ...time })
  }

  #readUntil(stops: (character: string) => boolean): string {
    const begin = this.#position
    while (this.#position < this.#source.length && !stops(this.#at(this.#position))) this.#position += 1
    return this.#source.slice(begin, this.#position)
  }

  #skipSpaces(): void {
    while (this.#at(this.#position) !== end && isSpace(this.#at(this.#position))) this.#position += 1
  }
}

const namedEntities: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"' }

/** Decodes the entity at `position`; the closing semicolon may be missing. */
function decodeEntity(source: string, position: number): { character: string; length: number } | undefined {
  const match = /^&(?:#(?:x([0-9A-Fa-f]*)|([0-9]*))|([A-Za-z]+))/.exec(source.slice(position, position + 40))
  if (!match) return undefined
  const [written, hex, decimal, name] = match
  const length = written.length + (source[position + written.length] === ";" ? 1 : 0)
  if (name !== undefined) {
    const character = Object.hasOwn(namedEntities, name) ? namedEntities[name] : undefined
    return character === undefined ? undefined : { character, length }
  }
  const code = hex === undefined ? Number.parseInt(decimal || "0", 10) : Number.parseInt(hex || "0", 16)
  if (code === 0 || code >= 0x10_ffff || written.length >= 10) return undefined
  return { character: String.fromCodePoint(code), length }
}

export function customEmojiId(text: string): string {
  const isId = /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text) && BigInt(text) !== 0n
  if (!isId) throw parseError("Invalid custom emoji identifier specified")
  return String(BigInt(text))
}

/** A date entity; undefined (plain text) without a valid time, an error with a bad format. */
export function dateTime(unix: string, format: string): { unix_time: number; date_time_format?: string } | undefined {
  const seconds = /^\d+$/.test(unix) ? Number(unix) : 0
  if (seconds <= 0 || seconds > 2 ** 31 - 1) return undefined
  if (!/^(?:r|w?[dD]?[tT]?)$/.test(format)) throw parseError("Invalid date format used")
  return { unix_time: seconds, ...(format ? { date_time_format: format } : {}) }
}
