// Formatted text between parsing and sending: pieces of plain text, each with the spans it lies in, outermost first.
// Neighbours share the spans they have in common, so tags written from it always nest, wherever it is cut.

/** `none` makes no tag: a quote in a quote, a link whose address is not safe. */
export type SpanStyle =
  | "none"
  | "bold"
  | "italic"
  | "strike"
  | "underline"
  | "spoiler"
  | "code"
  | "pre"
  | "link"
  | "quote"
  | "longQuote"

export interface Span {
  readonly style: SpanStyle
  /** Address of a link, language of a code block. */
  readonly detail: string
}

export interface Piece {
  readonly text: string
  readonly spans: readonly Span[]
}

const openTags: Record<SpanStyle, (detail: string) => string> = {
  none: () => "",
  bold: () => "<b>",
  italic: () => "<i>",
  strike: () => "<s>",
  underline: () => "<u>",
  spoiler: () => "<tg-spoiler>",
  code: () => "<code>",
  pre: (language) => (language === "" ? "<pre>" : `<pre><code class="language-${escapeAttribute(language)}">`),
  link: (address) => `<a href="${escapeAttribute(address)}">`,
  quote: () => "<blockquote>",
  longQuote: () => "<blockquote expandable>",
}

const closeTags: Record<SpanStyle, (detail: string) => string> = {
  none: () => "",
  bold: () => "</b>",
  italic: () => "</i>",
  strike: () => "</s>",
  underline: () => "</u>",
  spoiler: () => "</tg-spoiler>",
  code: () => "</code>",
  pre: (language) => (language === "" ? "</pre>" : "</code></pre>"),
  link: () => "</a>",
  quote: () => "</blockquote>",
  longQuote: () => "</blockquote>",
}

const special = /[&<>]/

/** Of a text: quotes mean something in attributes alone. */
export function escapeText(text: string): string {
  if (!special.test(text)) return text
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

function escapeAttribute(value: string): string {
  return escapeText(value).replaceAll('"', "&quot;")
}

/** The platform's HTML of the pieces. */
export function toHtml(pieces: readonly Piece[]): string {
  let html = ""
  let open: readonly Span[] = []
  for (const { text, spans } of pieces) {
    if (spans !== open) {
      let common = 0
      while (common < open.length && open[common] === spans[common]) common += 1
      html += closeFrom(open, common)
      for (let index = common; index < spans.length; index += 1) {
        const span = spans[index]
        if (span) html += openTags[span.style](span.detail)
      }
      open = spans
    }
    html += escapeText(text)
  }
  return html + closeFrom(open, 0)
}

function closeFrom(open: readonly Span[], from: number): string {
  let html = ""
  for (let index = open.length - 1; index >= from; index -= 1) {
    const span = open[index]
    if (span) html += closeTags[span.style](span.detail)
  }
  return html
}

export function toPlain(pieces: readonly Piece[]): string {
  return pieces.map((piece) => piece.text).join("")
}
