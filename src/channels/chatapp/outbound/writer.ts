// Collects the pieces of a message while its tokens are walked: owes line breaks until there is text to follow them,
// knows the indentation of lists, and keeps spans nested.
import type { Piece, Span, SpanStyle } from "./spans.ts"

interface List {
  /** The next number, or undefined for bullets. */
  number: number | undefined
}

const indentStep = "  "

export class Writer {
  readonly pieces: Piece[] = []
  readonly #lists: List[] = []
  #spans: readonly Span[] = []
  #indent = ""
  /** Newlines owed before the next text. */
  #owed = 0
  /** Nothing stands yet in the present container (message, quote, list item): its first block needs no new line. */
  #fresh = true

  /** A new block begins: a line of its own, an empty line before it where blocks stand free. */
  block(): void {
    this.#owe(this.#lists.length > 0 ? 1 : 2)
  }

  text(text: string): void {
    if (text === "") return
    this.#settle(this.#indent)
    this.#push(text)
    this.#fresh = false
  }

  /** A line break inside a paragraph; the next line stands under the text of its list item. */
  lineBreak(): void {
    this.#push(`\n${this.#indent}`)
  }

  /** A block of monospace lines, which bring their own indentation. */
  code(text: string, language: string): void {
    this.block()
    this.#settle("")
    this.open("pre", language)
    this.#push(text)
    this.close()
    this.#fresh = false
  }

  /** A span in one of its own kind adds nothing and would not be taken everywhere. */
  open(style: SpanStyle, detail = ""): void {
    this.#settle(this.#indent)
    const nested = this.#spans.some((span) => span.style === style)
    this.#spans = [...this.#spans, { style: nested ? "none" : style, detail }]
  }

  close(): Span | undefined {
    const last = this.#spans.at(-1)
    this.#spans = this.#spans.slice(0, -1)
    return last
  }

  quoteStart(style: "quote" | "longQuote"): void {
    this.block()
    this.#settle(this.#indent)
    const nested = this.#spans.some((span) => span.style === "quote" || span.style === "longQuote")
    this.open(nested ? "none" : style)
    this.#fresh = true
  }

  quoteEnd(): void {
    this.close()
    this.#fresh = false
  }

  listStart(number: number | undefined): void {
    this.block()
    this.#lists.push({ number })
  }

  listEnd(): void {
    this.#lists.pop()
    this.#indent = indentStep.repeat(this.#lists.length)
  }

  /** `done` is the box of a task; undefined is an item without one. */
  itemStart(done?: boolean): void {
    const list = this.#lists.at(-1)
    const box = done === undefined ? "" : done ? "☑ " : "☐ "
    let marker = box === "" ? "• " : box
    if (list?.number !== undefined) {
      marker = `${list.number}. ${box}`
      list.number += 1
    }
    this.#owe(1)
    this.#settle(indentStep.repeat(this.#lists.length - 1))
    this.#push(marker)
    this.#indent = indentStep.repeat(this.#lists.length)
    this.#fresh = true
  }

  itemEnd(): void {
    this.#fresh = false
  }

  #owe(lines: number): void {
    if (!this.#fresh) this.#owed = Math.max(this.#owed, lines)
  }

  #settle(indent: string): void {
    if (this.#owed > 0) this.#push("\n".repeat(this.#owed) + indent)
    this.#owed = 0
  }

  #push(text: string): void {
    if (text !== "") this.pieces.push({ text, spans: this.#spans })
  }
}
