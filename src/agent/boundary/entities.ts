// Entities as foreign text spells characters with: by number, by name, without the semicolon, written twice over.

/** By their exact names: only the first two have a second spelling. */
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
  }).map(([name, character]) => [keyOf(name), character.charCodeAt(0)]),
)
const longestName = 6
/** Of ASCII codes: 1 for what begins a number, one of the names or `amp`. */
const openers = Uint8Array.from({ length: 128 }, (_, code) =>
  "#lLgGrvhdsna".includes(String.fromCharCode(code)) ? 1 : 0,
)

const ampersand = 0x26
const hash = 0x23
const semicolon = 0x3b
const lessThan = 0x3c
const greaterThan = 0x3e
const letterG = 0x67
const letterL = 0x6c
const letterT = 0x74

/** Whether an ampersand before this code may be more than itself. */
export function opensEntity(code: number): boolean {
  return code < 0x80 && openers[code] === 1
}

/** What was read stands in fields: there may be nothing but entities, and an object for each costs more than reading it. */
export class EntityReader {
  codePoint = 0
  end = 0
  readonly #units: Uint16Array

  constructor(units: Uint16Array) {
    this.#units = units
  }

  /**
   * `&lt;`, `&#60`, `&#x000003c;`, `&amp;lt;`: whether one begins here. Reads on only over what holds no `&`, so that
   * nothing is read more than twice.
   */
  read(start: number): boolean {
    const units = this.#units
    let at = start + 1
    for (;;) {
      if (units[at] === hash) {
        if (!this.#readNumber(at + 1)) return false
        if (this.codePoint !== ampersand) return true
        at = this.end
      } else if (this.#isAmp(at)) at += 4
      else return opensEntity(units[at] as number) && this.#readName(at)
    }
  }

  #readName(at: number): boolean {
    const units = this.#units
    let end = at
    let key = 0
    for (; end - at < longestName && isLetter(units[end] as number); end += 1) key = add(key, units[end] as number)
    if (units[end] === semicolon) {
      this.end = end + 1
      this.codePoint = namedEntities.get(key) ?? 0
      return this.codePoint !== 0
    }
    // Without a semicolon only the oldest names are read, whatever follows them.
    const first = ((units[at + 1] as number) | 0x20) === letterT ? (units[at] as number) | 0x20 : 0
    this.end = at + 2
    this.codePoint = first === letterL ? lessThan : greaterThan
    return first === letterL || first === letterG
  }

  #isAmp(at: number): boolean {
    const units = this.#units
    return units[at] === 0x61 && units[at + 1] === 0x6d && units[at + 2] === 0x70 && units[at + 3] === semicolon
  }

  #readNumber(start: number): boolean {
    const units = this.#units
    const isHex = ((units[start] as number) | 0x20) === 0x78
    const base = isHex ? 16 : 10
    let at = isHex ? start + 1 : start
    const first = at
    let codePoint = 0
    for (; at < units.length; at += 1) {
      const digit = digitOf(units[at] as number)
      if (digit >= base) break
      codePoint = Math.min(codePoint * base + digit, 0x11_0000)
    }
    this.codePoint = codePoint
    this.end = units[at] === semicolon ? at + 1 : at
    return at > first && codePoint > 0 && codePoint <= 0x10_ffff
  }
}

/** Of a name as a number: six bits a letter. */
function keyOf(name: string): number {
  return [...name].reduce((key, letter) => add(key, letter.charCodeAt(0)), 0)
}

function add(key: number, letter: number): number {
  return key * 64 + (letter & 0x3f)
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
