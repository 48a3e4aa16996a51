// Cuts formatted text into messages: each valid by itself, because its tags are written from the spans of its pieces.
// A block of code that is cut goes on in the next message as a block of the same language.
import { type Piece, toHtml, toPlain } from "./spans.ts"

export interface Chunk {
  html: string
  /** The same without formatting, for a platform that refuses the HTML. */
  plain: string
}

/** The platform refuses more than 32 KiB before parsing. */
const maxHtmlBytes = 30 * 1024

/** What shows nothing: a message of it alone is refused as empty. */
const visible = /[^\s\p{Cc}\p{Cf}\p{Variation_Selector}\u115f\u1160\u3164\uffa0\u2800]/u

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })
/** What belongs to the character before it: a cut in front of it would tear the two apart. */
const extender = /^[\p{M}\u200d]/u

/** `length` fills messages and cuts where it reads best; `newline` makes a message of every paragraph first. */
export type ChunkMode = "length" | "newline"

/** `limit` counts UTF-16 units of the text that is seen; the platform counts no more than that. */
export function chunkPieces(pieces: readonly Piece[], limit: number, mode: ChunkMode = "length"): Chunk[] {
  return chunksFrom(new CutText(pieces, mode), 0, limit)
}

/** The first message with a limit of its own (a caption's), the rest with another. */
export function chunkWithCaption(
  pieces: readonly Piece[],
  limits: { caption: number; text: number; mode: ChunkMode },
): { caption: Chunk | undefined; rest: Chunk[] } {
  const text = new CutText(pieces, limits.mode)
  const position = text.skipBlank(0)
  if (position >= text.length) return { caption: undefined, rest: [] }
  const { chunk, end } = nextChunk(text, position, limits.caption)
  return { caption: visible.test(chunk.plain) ? chunk : undefined, rest: chunksFrom(text, end, limits.text) }
}

function chunksFrom(text: CutText, start: number, limit: number): Chunk[] {
  const chunks: Chunk[] = []
  let position = text.skipBlank(start)
  while (position < text.length) {
    const { chunk, end } = nextChunk(text, position, limit)
    if (visible.test(chunk.plain)) chunks.push(chunk)
    position = text.skipBlank(end)
  }
  return chunks
}

function nextChunk(text: CutText, position: number, limit: number): { chunk: Chunk; end: number } {
  let end = text.findCut(position, limit)
  let chunk = text.slice(position, end)
  while (Buffer.byteLength(chunk.html) > maxHtmlBytes && end - position > 2) {
    end = text.findCut(position, Math.floor((end - position) / 2))
    chunk = text.slice(position, end)
  }
  return { chunk, end }
}

class CutText {
  readonly #pieces: readonly Piece[]
  readonly #plain: string
  readonly #mode: ChunkMode
  /** Where each piece begins. */
  readonly #starts: number[] = []
  /** A piece at or before everything that is asked for next: positions only grow. */
  #cursor = 0

  constructor(pieces: readonly Piece[], mode: ChunkMode) {
    this.#pieces = pieces
    this.#mode = mode
    this.#plain = toPlain(pieces)
    let start = 0
    for (const piece of pieces) {
      this.#starts.push(start)
      start += piece.text.length
    }
  }

  get length(): number {
    return this.#plain.length
  }

  /** The end of a chunk: the text's end, else a paragraph's, a line's, a word's, else where the limit is. */
  findCut(position: number, limit: number): number {
    const hard = position + limit
    const window = this.#plain.slice(position, hard + 2)
    const blank = this.#mode === "newline" ? this.#blankLine(window, position) : undefined
    if (blank !== undefined && blank <= hard) return blank
    if (hard >= this.#plain.length) return this.#plain.length
    const cut = this.#readableCut(window, position, limit) ?? this.#alignCut(position, hard)
    return this.#beforeLink(cut, position, limit) ?? cut
  }

  /** Where the first paragraph ends: an empty line, but none inside code, a quote or folded thoughts. */
  #blankLine(window: string, position: number): number | undefined {
    for (let at = window.indexOf("\n\n"); at >= 0; at = window.indexOf("\n\n", at + 1)) {
      const piece = this.#pieces[this.#pieceAt(position + at)]
      if (at > 0 && !(piece && isWhole(piece))) return position + at
    }
    return undefined
  }

  #readableCut(window: string, position: number, limit: number): number | undefined {
    const paragraph = window.lastIndexOf("\n\n", limit)
    if (paragraph > limit / 2) return position + paragraph
    const line = window.lastIndexOf("\n", limit)
    if (line > limit / 4) return position + line
    for (let at = window.lastIndexOf(" ", limit); at > limit / 4; at = window.lastIndexOf(" ", at - 1)) {
      if (!extender.test(window.slice(at + 1))) return position + at
    }
    return undefined
  }

  slice(from: number, to: number): Chunk {
    const pieces: Piece[] = []
    for (let index = this.#pieceAt(from); index < this.#pieces.length; index += 1) {
      const piece = this.#pieces[index]
      const start = this.#starts[index] ?? 0
      if (!piece || start >= to) break
      pieces.push({ text: piece.text.slice(Math.max(0, from - start), to - start), spans: piece.spans })
    }
    const last = pieces.at(-1)
    if (last && !isCode(last)) pieces[pieces.length - 1] = { ...last, text: last.text.trimEnd() }
    return { html: toHtml(pieces.filter((piece) => piece.text !== "")), plain: toPlain(pieces) }
  }

  /** Where the next chunk begins. In code only the line break of the cut goes: indentation means something there. */
  skipBlank(position: number): number {
    const piece = this.#pieces[this.#pieceAt(position)]
    if (piece && isCode(piece)) return this.#plain[position] === "\n" && position > 0 ? position + 1 : position
    let next = position
    while (next < this.#plain.length) {
      const index = this.#pieceAt(next)
      const inside = this.#pieces[index]
      if (!inside || isCode(inside)) break
      const start = this.#starts[index] ?? 0
      const blank = inside.text.slice(next - start).search(/\S/)
      if (blank >= 0) return next + blank
      next = start + inside.text.length
    }
    return next
  }

  /** Not inside a surrogate pair, nor inside what people see as one character. */
  #alignCut(position: number, hard: number): number {
    // Segments are only right when counted from a place that is surely a boundary: before a plain character.
    let from = hard - 1
    while (from > position && !isPlainCharacter(this.#plain.charCodeAt(from))) from -= 1
    const end = Math.min(this.#plain.length, hard + 64)
    const around = graphemes.segment(this.#plain.slice(from, end)).containing(hard - from)
    const aligned = from + (around?.index ?? 0)
    if (aligned > position) return aligned
    const code = this.#plain.charCodeAt(hard)
    const isLow = code >= 0xdc00 && code <= 0xdfff
    if (!isLow) return hard
    return hard - 1 > position ? hard - 1 : hard + 1
  }

  /** Where the link begins that a cut would tear, when the link fits into a message of its own. */
  #beforeLink(cut: number, position: number, limit: number): number | undefined {
    let index = this.#pieceAt(cut)
    let start = this.#starts[index] ?? 0
    const link = this.#pieces[index]?.spans.find((span) => span.style === "link")
    if (!link) return undefined
    let end = start + (this.#pieces[index]?.text.length ?? 0)
    for (let next = index + 1; end - start <= limit && this.#pieces[next]?.spans.includes(link); next += 1) {
      end += this.#pieces[next]?.text.length ?? 0
    }
    while (index > 0 && end - start <= limit && this.#pieces[index - 1]?.spans.includes(link)) {
      index -= 1
      start = this.#starts[index] ?? 0
    }
    return start > position && start < cut && end - start <= limit ? start : undefined
  }

  #pieceAt(position: number): number {
    while (this.#cursor > 0 && (this.#starts[this.#cursor] ?? 0) > position) this.#cursor -= 1
    while (this.#cursor + 1 < this.#pieces.length && (this.#starts[this.#cursor + 1] ?? 0) <= position)
      this.#cursor += 1
    return this.#cursor
  }
}

function isCode(piece: Piece): boolean {
  return piece.spans.some((span) => span.style === "pre")
}

function isWhole(piece: Piece): boolean {
  return piece.spans.some(({ style }) => style === "pre" || style === "quote" || style === "longQuote")
}

function isPlainCharacter(code: number): boolean {
  return code >= 0x20 && code < 0x7f
}
