// What foreign text looks like to a reader, for matching: look-alike letters and brackets, full-width and styled
// forms, entities and accents become plain lower-case ASCII; what cannot be seen vanishes. One pass, each character once.
import { unwritten } from "../../kernel/index.ts"
import { EntityReader, opensEntity } from "./entities.ts"

export interface Folded {
  /** ASCII codes, `other` for everything else; the first `length` count, and behind them stands 0. */
  codes: Uint8Array
  /** Where in the text the codes come from. */
  origins: Origins
  length: number
  /** Of the text. */
  size: number
}

/**
 * Where each code comes from, kept only where that changes: most characters stand for one, and a place for each would cost
 * more than all else that is done with them.
 */
export class Origins {
  /** Pairs: from this code on, that much is between its place and that of its character. */
  #pairs: Int32Array = new Int32Array(16)
  #length = 0
  #shift = 0
  #read = 0

  /** The next code, the one at `place`, comes from `index`. What was said of the same place does not count. */
  note(place: number, index: number): void {
    if (index - place === this.#shift) return
    this.#shift = index - place
    if (this.#length > 0 && this.#pairs[this.#length - 2] === place) {
      this.#pairs[this.#length - 1] = this.#shift
      return
    }
    if (this.#length === this.#pairs.length) {
      const pairs = unwritten(this.#length * 4)
      pairs.set(this.#pairs)
      this.#pairs = pairs
    }
    this.#pairs[this.#length] = place
    this.#pairs[this.#length + 1] = this.#shift
    this.#length += 2
  }

  /** To be asked from left to right. For a later one of several that stand for one character, the end of that. */
  of(place: number): number {
    const pairs = this.#pairs
    while (this.#read < this.#length && (pairs[this.#read] as number) <= place) this.#read += 2
    const index = this.#read === 0 ? place : place + (pairs[this.#read - 1] as number)
    if (this.#read === this.#length) return index
    return Math.min(index, (pairs[this.#read] as number) + (pairs[this.#read + 1] as number))
  }
}

/** A character that is part of no mark. */
export const other = 0xff

/** Letters that look like Latin ones, and every kind of bracket, bar, dash and slash, by what they look like. */
const looks: Record<string, string> = {
  a: "аα",
  b: "Ьв",
  c: "сϲ",
  d: "ԁ",
  e: "еε",
  g: "ԍ",
  h: "һ",
  i: "іӏ",
  j: "ј",
  k: "кκ",
  m: "м",
  n: "пոη",
  o: "оοօ",
  p: "рρ",
  q: "ԛ",
  r: "г",
  s: "ѕσ",
  t: "тτ",
  u: "иսυ",
  v: "ν",
  w: "ԝ",
  x: "хχ",
  y: "у",
  "<": "‹〈《⟨❮≺«⟪❰﹤˂ᐸ⧼⟬",
  ">": "›〉》⟩❯≻»⟫❱﹥˃ᐳ⧽⟭",
  "[": "【〔⟦❲⁅",
  "]": "】〕⟧❳⁆",
  "|": "│┃❘❙∣ǀ￨¦‖",
  "-": "_‐‑‒–—−﹣▁",
  "/": "∕⁄⧸",
}
/** Iota is an i in Greek words and a look-alike of one; upper-case sigma folds to the final form in some. */
const strays: Record<string, string> = { ι: "i", ς: "s", ı: "i" }
const lookAlikes = new Map([
  ...Object.entries(looks).flatMap(([plain, all]) => [...all].map((each) => [each, plain] as const)),
  ...Object.entries(strays),
])
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{M}]/u

const unknown = 0
const invisible = 1
/** Entries from here on are places in `expansions`: characters that stand for several (`ﬃ`). */
const expanded = 0x100

/** A memo: what a character stands for is found when it is first met. */
const memo = new Uint16Array(0x1_0000)
/** Beyond the first plane only few blocks hold letters in other clothes: the styled ones. */
const styledFrom = 0x1d000
const styledTo = 0x1f300
const styled = new Uint16Array(styledTo - styledFrom)
const expansions: Uint8Array[] = []

/** Of UTF-16 codes. */
export function fold(units: Uint16Array): Folded {
  return new Folder(units).fold()
}

class Folder {
  readonly #units: Uint16Array
  readonly #entities: EntityReader
  #codes: Uint8Array
  readonly #origins = new Origins()
  #length = 0

  constructor(units: Uint16Array) {
    this.#units = units
    this.#entities = new EntityReader(units)
    this.#codes = Buffer.allocUnsafeSlow(units.length + slack)
  }

  fold(): Folded {
    const units = this.#units
    const size = units.length
    for (let index = 0; index < size;) {
      index = this.#foldCommon(index)
      if (index < size) index = this.#foldRare(index)
    }
    this.#codes[this.#length] = 0
    return { codes: this.#codes, origins: this.#origins, length: this.#length, size }
  }

  /** As far as it is known what every character stands for; where that ends. */
  #foldCommon(from: number): number {
    const units = this.#units
    const origins = this.#origins
    let codes = this.#codes
    let length = this.#length
    let index = from
    const size = Math.min(units.length, from + piece)
    origins.note(length, index)
    for (;;) {
      // Nothing else in here: most text is this loop, and a second case in it makes each character cost twice as much.
      while (index < size) {
        const known = memo[units[index] as number] as number
        if (known <= invisible || known >= expanded) break
        codes[length] = known
        length += 1
        index += 1
      }
      if (index === size) break
      const known = memo[units[index] as number] as number
      if (known >= expanded) {
        origins.note(length, index)
        length = this.#putPieces(known, length, units.length - index)
        origins.note(length, index + 1)
        codes = this.#codes
      } else if (known === invisible) origins.note(length, index + 1)
      else if (units[index] === ampersand && !opensEntity(units[index + 1] as number)) {
        codes[length] = ampersand
        length += 1
      } else break
      index += 1
    }
    this.#length = length
    return index
  }

  /** What is met for the first time, an entity, or beyond the first plane; the index after it. */
  #foldRare(index: number): number {
    const unit = this.#units[index] as number
    if (unit === ampersand) {
      const isEntity = this.#entities.read(index)
      this.#put(isEntity ? plainOf(this.#entities.codePoint) : ampersand, index)
      return isEntity ? this.#entities.end : index + 1
    }
    const next = this.#units[index + 1] as number
    if ((unit & 0xfc00) === 0xd800 && (next & 0xfc00) === 0xdc00) {
      this.#put(plainOf(((unit & 0x3ff) << 10) + (next & 0x3ff) + 0x1_0000), index)
      return index + 2
    }
    this.#put(plainOf(unit), index)
    return index + 1
  }

  #put(plain: number, index: number): void {
    if (plain === invisible) return
    const length = this.#length
    this.#origins.note(length, index)
    if (plain >= expanded) this.#length = this.#putPieces(plain, length, this.#units.length - index)
    else {
      this.#codes[length] = plain
      this.#length = length + 1
    }
  }

  /** The length with what the character stands for; `left` units are yet to be read, this one counted. */
  #putPieces(plain: number, from: number, left: number): number {
    const pieces = expansions[plain - expanded] as Uint8Array
    const codes = this.#codes
    let length = from
    for (let at = 0; at < pieces.length; at += 1) codes[length++] = pieces[at] as number
    // What is left takes a place each, or grows this again.
    if (length + left + slack > codes.length) this.#grow()
    return length
  }

  #grow(): void {
    const codes = Buffer.allocUnsafeSlow(this.#codes.length * 2)
    codes.set(this.#codes)
    this.#codes = codes
  }
}

const ampersand = 0x26
/** Read in one call: one over the whole text would be left before it is compiled. */
const piece = 4096
/** Room for the longest expansion. */
const slack = 24

function plainOf(codePoint: number): number {
  if (codePoint > 0xffff) {
    if (codePoint >= 0xe0000 && codePoint <= 0xe0fff) return invisible
    if (codePoint < styledFrom || codePoint >= styledTo) return other
  } else if (codePoint === ampersand) return ampersand
  // Halves of a pair are looked at each time, and must not get into the memo.
  else if (codePoint >= 0xd800 && codePoint <= 0xdfff) return other
  const table = codePoint > 0xffff ? styled : memo
  const place = codePoint > 0xffff ? codePoint - styledFrom : codePoint
  const known = table[place] as number
  return known === unknown ? (table[place] = findPlain(codePoint)) : known
}

function findPlain(codePoint: number): number {
  const character = String.fromCodePoint(codePoint)
  if (codePoint < 0x80)
    return codePoint < 2 ? other : (lookAlikes.get(character) ?? character).toLowerCase().charCodeAt(0)
  if (unseen.test(character)) return invisible
  const own = lookAlikes.get(character)
  if (own !== undefined) return own.charCodeAt(0)
  const pieces = [...character.normalize("NFKD")].filter((piece) => !unseen.test(piece))
  const plain = pieces.map((piece) => plainPiece(piece.toLowerCase()))
  if (plain.length === 0) return invisible
  if (plain.every((code) => code === other) || plain.length > slack / 2) return other
  if (plain.length === 1) return plain[0] as number
  expansions.push(Uint8Array.from(plain))
  return expanded + expansions.length - 1
}

function plainPiece(piece: string): number {
  const plain = lookAlikes.get(piece) ?? piece
  const code = plain.charCodeAt(0)
  return plain.length === 1 && code > 1 && code < 0x80 ? code : other
}
