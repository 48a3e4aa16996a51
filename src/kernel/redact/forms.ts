// Forms that are secrets whoever their owner is, found by what they stand behind: bot tokens (also inside addresses),
// bearer and basic credentials, userinfo of addresses, keys as model providers issue them, our own tokens, parameters
// with the name of a credential. Each is looked for where its mark stands, and reads on only over what holds no second
// mark of its kind, so that nothing is read more than a few times.
import { Places, codesOf } from "../places.ts"
import { isSecretNameAt } from "../secret-names.ts"
import { kind, kindsOf } from "./codes.ts"

/** The highest of the bits, so that one comparison tells. */
const { mark } = kind
const colon = 0x3a
const equals = 0x3d
const slash = 0x2f
const atSign = 0x40
const dash = 0x2d
const underscore = 0x5f
const zero = 0x30
const nine = 0x39
/** Letters in lower case; `code | 0x20` of the others. */
const e = 0x65
const i = 0x69
const k = 0x6b
const r = 0x72
const s = 0x73
const v = 0x76

const shortestBotId = 6
const shortestBotToken = 30
const shortestCredential = 6
const mostSpaces = 8
const shortestKey = 16
const shortestName = 3
const longestName = 64
const bearer = codesOf("bearer")
const basic = codesOf("basic")
const ourPrefix = "svct_"
const ourIdLength = 10
const ourSecretLength = 43

export function findForms(codes: Uint16Array): Places {
  const places = new Places()
  const reader = new FormReader(codes, places)
  const length = codes.length
  for (let at = 0; at < length; at += 1) {
    const code = codes[at] as number
    if ((kindsOf[code] as number) < mark) continue
    // What stands beside a mark tells most of them apart for less than a call costs.
    const next = at + 1 < length ? (codes[at + 1] as number) : 0
    if (code === colon) {
      const before = at > 0 ? (codes[at - 1] as number) : 0
      if (next === slash || (before >= zero && before <= nine)) reader.lookAtColon(at)
    } else if (code === equals) reader.lookAtParameter(at)
    else if (code === s) {
      if (next === k || next === v) reader.lookAtKey(at)
    } else if (((kindsOf[next] as number) & kind.space) !== 0) reader.lookAtScheme(at)
  }
  return places
}

class FormReader {
  readonly #codes: Uint16Array
  readonly #places: Places
  /** So far the values of parameters, and the keys behind `sk-`, have been read. */
  #valueTo = 0
  #keyTo = 0

  constructor(codes: Uint16Array, places: Places) {
    this.#codes = codes
    this.#places = places
  }

  /** `123456:<token>`, `://user:password@`. */
  lookAtColon(at: number): void {
    const codes = this.#codes
    let from = at
    while (from > 0 && (codes[from - 1] as number) >= zero && (codes[from - 1] as number) <= nine) from -= 1
    if (at - from >= shortestBotId) {
      const end = this.#endOf(kind.key, at + 1)
      if (end - at > shortestBotToken) this.#places.add(from, end)
    }
    if (codes[at + 1] === slash && codes[at + 2] === slash) this.#lookAtUserinfo(at + 3)
  }

  #lookAtUserinfo(from: number): void {
    const codes = this.#codes
    let last = from
    for (let at = from; at < codes.length; at += 1) {
      const code = codes[at] as number
      if (code === atSign) last = at
      else if (((kindsOf[code] as number) & kind.endsUserinfo) !== 0) break
    }
    if (last > from) this.#places.add(from, last)
  }

  /** `?api_key=...`, `&sig=...`, `;token=...`; a name is not read over another `=`. */
  lookAtParameter(at: number): void {
    const codes = this.#codes
    const first = Math.max(this.#valueTo, at - longestName, 0)
    let start = at - 1
    while (start >= first && ((kindsOf[codes[start] as number] as number) & kind.name) !== 0) start -= 1
    if (start < first || at - start <= shortestName || !opensParameter(codes[start] as number)) return
    if (!isSecretNameAt(codes, start + 1, at)) return
    let end = at + 1
    while (end < codes.length && ((kindsOf[codes[end] as number] as number) & kind.endsValue) === 0) end += 1
    if (end > at + 1) this.#places.add(at + 1, end)
    this.#valueTo = end
  }

  /** `Bearer ...` and `Basic ...`, seen from their last letter, behind which a space stands. */
  lookAtScheme(at: number): void {
    const codes = this.#codes
    // The cheapest first: most such letters end neither word.
    const isBearer = ((codes[at] as number) | 0x20) === r
    const word = isBearer ? bearer : basic
    const start = at + 1 - word.length
    if (start < 0 || ((codes[at - 1] as number) | 0x20) !== (isBearer ? e : i)) return
    let from = at + 2
    while (from <= at + mostSpaces && this.#is(kind.space, from)) from += 1
    for (let index = 0; index < word.length; index += 1) {
      if (((codes[start + index] as number) | 0x20) !== word[index]) return
    }
    if (this.#is(kind.word, start - 1)) return
    const end = this.#endOf(kind.credential, from)
    if (end - from >= shortestCredential) this.#places.add(from, end)
  }

  /** `sk-...`, `sk-ant-...`, `svct_<id>_...`. */
  lookAtKey(at: number): void {
    const codes = this.#codes
    if (codes[at + 1] === k && codes[at + 2] === dash) {
      if (at < this.#keyTo || this.#is(kind.word, at - 1)) return
      const end = this.#endOf(kind.key, at + 3)
      const from = this.#startsWith("ant-", at + 3) && end - at - 7 >= shortestKey ? at + 7 : at + 3
      if (end - from >= shortestKey) this.#places.add(from, end)
      this.#keyTo = end
    } else if (this.#startsWith(ourPrefix, at) && !this.#is(kind.word, at - 1)) {
      const id = at + ourPrefix.length
      const from = id + ourIdLength + 1
      if (this.#codes[from - 1] !== underscore || this.#endOf(kind.word, id, from - 1) < from - 1) return
      const end = from + ourSecretLength
      if (this.#endOf(kind.key, from, end) === end) this.#places.add(from, end)
    }
  }

  #startsWith(word: string, at: number): boolean {
    for (let index = 0; index < word.length; index += 1) {
      if (this.#codes[at + index] !== word.charCodeAt(index)) return false
    }
    return true
  }

  /** Never asked of the table what is outside the text: a look-up by `undefined` makes all of them slow. */
  #is(bit: number, at: number): boolean {
    return at >= 0 && at < this.#codes.length && ((kindsOf[this.#codes[at] as number] as number) & bit) !== 0
  }

  #endOf(bit: number, from: number, last = this.#codes.length): number {
    const codes = this.#codes
    let at = from
    while (at < last && ((kindsOf[codes[at] as number] as number) & bit) !== 0) at += 1
    return at
  }
}

function opensParameter(code: number): boolean {
  return code === 0x3f || code === 0x26 || code === 0x3b
}
