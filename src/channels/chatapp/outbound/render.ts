// Markdown-ish text of a model -> pieces of formatted text, by the tokens of markdown-it. Blocks are flattened to lines
// with bullets and indentation; raw HTML stays text; links keep only addresses that are safe to open.
import MarkdownIt from "markdown-it"
import { markedLength } from "./marked-part.ts"
import { addMarks } from "./marks.ts"
import type { Piece, SpanStyle } from "./spans.ts"
import { tableLines } from "./table.ts"
import { Writer } from "./writer.ts"

/** `code`: aligned monospace lines; `bullets`: a bullet a row; `off`: as it was written. */
export type TableMode = "code" | "bullets" | "off"
export type Renderer = (markdown: string, tables?: TableMode) => Piece[]

type Token = ReturnType<InstanceType<typeof MarkdownIt>["parse"]>[number]
/** The inline tokens of each cell, by row; the first row is the head. */
type Table = Token[][][]

/** The platform makes a web address of anything else, even of `mailto:`. */
const safeAddress = /^https?:\/\/[^\s/]/i
const mailAddress = /^mailto:([^\s@?]+@[^\s?]+)/i
/** Longer ones make more markup than the platform takes in one message. */
const maxAddressChars = 2048
/** Longer quotes are folded, and open when they are touched. */
const longQuoteChars = 600
/** As deep as the parser looks; below that it would leave words out. */
const maxNesting = 100

export function createRenderer(): Renderer {
  const parsers = { withTables: createParser(), without: createParser().disable("table") }
  return (markdown, tables = "code") => {
    const whole = markdown.toWellFormed()
    const length = markedLength(whole)
    const source = whole.slice(0, length)
    const tokens = (tables === "off" ? parsers.without : parsers.withTables).parse(source, {})
    if (tokens.some((token) => token.level >= maxNesting - 1)) return [{ text: whole, spans: [] }]
    const writer = new Writer()
    for (let index = 0; index < tokens.length; index += 1) {
      const token = tokens[index] as Token
      if (token.type === "table_open") index = writeTable(writer, tokens, index, tables)
      else if (token.type === "blockquote_open") writer.quoteStart(isLongQuote(tokens, index) ? "longQuote" : "quote")
      else if (token.type === "list_item_open") writer.itemStart(takeTaskBox(tokens[index + 2]))
      else writeBlock(writer, token)
    }
    return length === whole.length ? writer.pieces : [...writer.pieces, { text: whole.slice(length), spans: [] }]
  }
}

function createParser() {
  const parser = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false, maxNesting })
  // Only written-out addresses: the platform links the rest by itself, and `file.md` is no address.
  parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
  // Models write `---` under a paragraph as a rule, hardly ever as an underline.
  parser.disable(["lheading", "reference"])
  addMarks(parser)
  return parser
}

function writeBlock(writer: Writer, token: Token): void {
  switch (token.type) {
    case "paragraph_open":
      return writer.block()
    case "heading_open":
      writer.block()
      return writer.open("bold")
    case "heading_close":
      return void writer.close()
    case "inline":
      for (const child of token.children ?? []) writeInline(writer, child)
      return
    case "fence":
      return writeCode(writer, token.content, token.info.trim().split(/\s+/)[0] ?? "")
    case "code_block":
      return writeCode(writer, token.content, "")
    case "hr":
      writer.block()
      return writer.text("———")
    case "blockquote_close":
      return writer.quoteEnd()
    case "bullet_list_open":
      return writer.listStart(undefined)
    case "ordered_list_open":
      return writer.listStart(Number(token.attrGet("start") ?? 1))
    case "bullet_list_close":
    case "ordered_list_close":
      return writer.listEnd()
    case "list_item_close":
      return writer.itemEnd()
    default:
      return
  }
}

function writeCode(writer: Writer, content: string, language: string): void {
  const text = content.replace(/\n$/, "")
  // An empty block would leave an empty tag; what a person sees is nothing either way.
  if (text.trim() === "") return
  writer.code(text, language.slice(0, 64))
}

const spanStyles: Record<string, SpanStyle> = {
  strong_open: "bold",
  em_open: "italic",
  s_open: "strike",
  underline_open: "underline",
  spoiler_open: "spoiler",
}

function writeInline(writer: Writer, token: Token): void {
  const style = spanStyles[token.type]
  if (style) return writer.open(style)
  switch (token.type) {
    case "softbreak":
    case "hardbreak":
      return writer.lineBreak()
    case "code_inline":
      writer.open("code")
      writer.text(token.content)
      return void writer.close()
    case "strong_close":
    case "em_close":
    case "s_close":
    case "underline_close":
    case "spoiler_close":
      return void writer.close()
    case "link_open":
      return openLink(writer, String(token.attrGet("href") ?? ""))
    case "link_close":
      return closeLink(writer)
    case "image":
      openLink(writer, String(token.attrGet("src") ?? ""))
      writer.text(token.content === "" ? String(token.attrGet("src") ?? "") : token.content)
      return void writer.close()
    default:
      return writer.text(token.content)
  }
}

/** An address that is not safe still opens a span, so that its end has something to close; it makes no tag. */
function openLink(writer: Writer, address: string): void {
  if (safeAddress.test(address) && address.length <= maxAddressChars) writer.open("link", address)
  else writer.open("none", mailAddress.exec(address)?.[1] ?? "")
}

/** A mail address cannot be a link; written out, the platform makes one of it by itself. */
function closeLink(writer: Writer): void {
  const span = writer.close()
  if (span?.style !== "none" || span.detail === "") return
  if (!writer.pieces.at(-1)?.text.endsWith(span.detail)) writer.text(` (${span.detail})`)
}

function isLongQuote(tokens: readonly Token[], start: number): boolean {
  const level = tokens[start]?.level ?? 0
  let characters = 0
  for (let index = start + 1; index < tokens.length && characters <= longQuoteChars; index += 1) {
    const token = tokens[index] as Token
    if (token.type === "blockquote_close" && token.level === level) break
    characters += token.content.length
  }
  return characters > longQuoteChars
}

/** `[ ] ` or `[x] ` at the start of an item's text, taken out of it. */
function takeTaskBox(inline: Token | undefined): boolean | undefined {
  const first = inline?.type === "inline" ? inline.children?.[0] : undefined
  const box = first?.type === "text" ? /^\[([ xX])\] (?=.)/.exec(first.content) : null
  if (!first || !box) return undefined
  first.content = first.content.slice(box[0].length)
  return box[1] !== " "
}

/** Writes the table that begins at `start`; returns the index of its last token. */
function writeTable(writer: Writer, tokens: readonly Token[], start: number, mode: TableMode): number {
  const table: Table = []
  let index = start
  for (; tokens[index]?.type !== "table_close" && index < tokens.length; index += 1) {
    const token = tokens[index] as Token
    if (token.type === "tr_open") table.push([])
    else if (token.type === "inline") table.at(-1)?.push(token.children ?? [])
  }
  if (mode === "bullets") writeTableBullets(writer, table)
  else writeCode(writer, tableLines(table.map((row) => row.map(cellText))).join("\n"), "")
  return index
}

/** What a cell shows where nothing can be formatted; addresses stand beside their words. */
function cellText(cell: readonly Token[]): string {
  const plain = new Writer()
  for (const token of cell) writeInline(plain, token)
  let text = ""
  plain.pieces.forEach((piece, index) => {
    const link = piece.spans.find((span) => span.style === "link")
    const goesOn = link !== undefined && plain.pieces[index + 1]?.spans.includes(link) === true
    text += piece.text.replaceAll("\n", " ")
    if (link && !goesOn && !text.endsWith(link.detail)) text += ` (${link.detail})`
  })
  return text.trim()
}

/** The first cell names the row; the others stand below it with the head of their column. */
function writeTableBullets(writer: Writer, [head = [], ...rows]: Table): void {
  const shown = rows.length > 0 ? rows : [head]
  writer.listStart(undefined)
  for (const row of shown) {
    const [first = [], ...others] = row
    writer.itemStart()
    writer.open("bold")
    for (const token of first) writeInline(writer, token)
    writer.close()
    writer.listStart(undefined)
    others.forEach((cell, column) => {
      if (cell.length === 0) return
      writer.itemStart()
      const label = rows.length > 0 ? cellText(head[column + 1] ?? []) : ""
      if (label !== "") writer.text(`${label}: `)
      for (const token of cell) writeInline(writer, token)
      writer.itemEnd()
    })
    writer.listEnd()
    writer.itemEnd()
  }
  writer.listEnd()
}
