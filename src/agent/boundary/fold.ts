// What foreign text looks like to a reader, for matching: look-alike letters and brackets, full-width and styled
// forms, entities and accents become plain lower-case ASCII; what cannot be seen vanishes. One pass, each character once.

export interface Folded {
  /** ASCII codes, `other` for everything else; the first `length` count. */
  codes: Uint8Array
  /** Where in the text each code comes from. */
  starts: Uint32Array
  length: number
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
const expansions: string[] = []

interface Folding extends Folded {
  /** Of the text. */
  size: number
}

export function fold(text: string): Folded {
  const size = text.length + slack
  const folded: Folding = {
    codes: new Uint8Array(size),
    starts: new Uint32Array(size),
    length: 0,
    size: text.length,
  }
  let { codes, starts } = folded
  let length = 0
  for (let index = 0; index < text.length;) {
    const unit = text.charCodeAt(index)
    const known = memo[unit] as number
    if (known > invisible && known < expanded) {
      codes[length] = known
      starts[length] = index
      length += 1
      index += 1
    } else if (known === invisible) index += 1
    else if (unit === ampersand && !opensEntity(text.charCodeAt(index + 1))) {
      codes[length] = ampersand
      starts[length] = index
      length += 1
      index += 1
    } else {
      folded.length = length
      index = foldRare(text, index, folded)
      ;({ codes, starts, length } = folded)
    }
  }
  folded.length = length
  return folded
}

function opensEntity(code: number): boolean {
  return code === 0x23 || isLetter(code)
}

/** What is met for the first time, an entity, beyond the first plane, or stands for several; the index after it. */
function foldRare(text: string, index: number, folded: Folding): number {
  const unit = text.charCodeAt(index)
  if (unit === ampersand) {
    const entity = readEntity(text, index)
    put(folded, entity ? plainOf(entity.codePoint) : ampersand, index)
    return entity?.end ?? index + 1
  }
  if (unit >= 0xd800 && unit <= 0xdfff) return foldAstral(text, index, folded)
  put(folded, plainOf(unit), index)
  return index + 1
}

const ampersand = 0x26

function put(folded: Folding, plain: number, index: number): void {
  if (plain === invisible) return
  const pieces = plain < expanded ? undefined : (expansions[plain - expanded] as string)
  for (let at = 0; at < (pieces?.length ?? 1); at += 1) {
    folded.codes[folded.length] = pieces?.charCodeAt(at) ?? plain
    folded.starts[folded.length] = index
    folded.length += 1
  }
  // What is left takes a place each, or grows this again.
  if (pieces !== undefined && folded.length + folded.size - index + slack > folded.codes.length) grow(folded)
}

/** Room for the longest expansion. */
const slack = 24

function grow(folded: Folding): void {
  const size = folded.codes.length * 2
  const codes = new Uint8Array(size)
  codes.set(folded.codes)
  const starts = new Uint32Array(size)
  starts.set(folded.starts)
  Object.assign(folded, { codes, starts })
}

function foldAstral(text: string, index: number, folded: Folding): number {
  const codePoint = text.codePointAt(index) as number
  put(folded, plainOf(codePoint), index)
  return index + (codePoint > 0xffff ? 2 : 1)
}

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
  expansions.push(String.fromCharCode(...plain))
  return expanded + expansions.length - 1
}

function plainPiece(piece: string): number {
  const plain = lookAlikes.get(piece) ?? piece
  const code = plain.charCodeAt(0)
  return plain.length === 1 && code > 1 && code < 0x80 ? code : other
}

/** By their exact names: only these two have a second spelling. */
const namedEntities = new Map(
  Object.entries({
    lt: "<",
    LT: "<",
    gt: ">",
    GT: ">",
    lsqb: "[",
    lbrack: "[",
    rsqb: "]",
    rbrack: "]",
    vert: "|",
    verbar: "|",
    lowbar: "_",
    hyphen: "-",
    dash: "-",
    sol: "/",
    shy: "\u00ad",
    nbsp: " ",
  }),
)
const longestName = 6

/**
 * `&lt;`, `&#60`, `&#x000003c;`, `&amp;lt;`: what it stands for in the end, and where it ends. Reads on only over what
 * holds no `&`, so that nothing is read more than twice.
 */
function readEntity(text: string, start: number): { codePoint: number; end: number } | undefined {
  let at = start + 1
  for (;;) {
    if (text.charCodeAt(at) === 0x23) {
      const number = readNumber(text, at + 1)
      if (number?.codePoint !== ampersand) return number
      at = number.end
    } else if (text.startsWith("amp;", at)) at += 4
    else break
  }
  let end = at
  while (end - at < longestName && isLetter(text.charCodeAt(end))) end += 1
  if (text.charCodeAt(end) === semicolon) {
    const character = namedEntities.get(text.slice(at, end))
    return character === undefined ? undefined : { codePoint: character.charCodeAt(0), end: end + 1 }
  }
  // Without a semicolon only the oldest names are read, whatever follows them.
  const second = text.charCodeAt(at + 1) | 0x20
  const first = second === 0x74 ? text.charCodeAt(at) | 0x20 : 0
  if (first === 0x6c) return { codePoint: 0x3c, end: at + 2 }
  return first === 0x67 ? { codePoint: 0x3e, end: at + 2 } : undefined
}

const semicolon = 0x3b

function readNumber(text: string, start: number): { codePoint: number; end: number } | undefined {
  const isHex = (text.charCodeAt(start) | 0x20) === 0x78
  const base = isHex ? 16 : 10
  let at = isHex ? start + 1 : start
  const first = at
  let codePoint = 0
  for (; at < text.length; at += 1) {
    const digit = digitOf(text.charCodeAt(at))
    if (digit >= base) break
    codePoint = Math.min(codePoint * base + digit, 0x11_0000)
  }
  if (at === first || codePoint === 0 || codePoint > 0x10_ffff) return undefined
  return { codePoint, end: text[at] === ";" ? at + 1 : at }
}

function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : 99
}

function isLetter(code: number): boolean {
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x7a
}
