// Which names stand for credentials: of query parameters, headers and configuration keys. Foreign text may be nothing but such
// names, so a name is read once, code by code, by a table.

/** As a word of the name: `api_key`, `X-Amz-Signature`, `clientSecret`. */
const telling = [
  "token secret passw signature credential authorization authorisation cookie hmac".split(" "),
  ["api", "private"].flatMap((first) => ["", "-", "_", "."].map((between) => `${first}${between}key`)),
].flat()
/** Too short to be looked for anywhere; they must stand at the end, by themselves. */
const short = "key sig auth pass pwd jwt otp".split(" ")

/** Longer ones are no names. */
const longestName = 64
const ascii = 128

const upperA = 0x41
const upperZ = 0x5a
const toLower = 0x20

/** What follows a state on an ASCII code, and whether the state ends a telling word: once it does, nothing else counts. */
const { next, ends } = compile(telling)
const shortestTelling = Math.min(...telling.map(({ length }) => length))
const shortKeys = Int32Array.from(short, (word) =>
  [...word].reduce((key, letter) => (key << 8) | letter.charCodeAt(0), 0),
)

export function isSecretName(name: string): boolean {
  return isSecretNameAt(
    Uint16Array.from(name, (character) => character.charCodeAt(0)),
    0,
    name.length,
  )
}

/** The name that stands in these UTF-16 codes. */
export function isSecretNameAt(codes: Uint16Array, from: number, to: number): boolean {
  const length = to - from
  if (length > longestName) return false
  let state = 0
  for (let at = from; at < to && length >= shortestTelling; at += 1) {
    const code = codes[at] as number
    state = code < ascii ? (next[state * ascii + code] as number) : 0
    if (ends[state] === 1) return true
  }
  return endsInShort(codes, from, to)
}

function endsInShort(codes: Uint16Array, from: number, to: number): boolean {
  // Of at most four letters, the last of them in the lowest byte.
  let key = 0
  for (let at = to - 1, shift = 0; at >= from; at -= 1, shift += 8) {
    const code = codes[at] as number
    if (isSeparator(code)) break
    if (shift > 24 || code >= ascii) return false
    key |= lower(code) << shift
  }
  for (let at = 0; at < shortKeys.length; at += 1) if (shortKeys[at] === key) return true
  return false
}

function isSeparator(code: number): boolean {
  return code === 0x2d || code === 0x2e || code === 0x5f
}

function lower(code: number): number {
  return code >= upperA && code <= upperZ ? code | toLower : code
}

/** The words as an automaton that is in the state of the longest of their beginnings that has just been read. */
function compile(words: readonly string[]): { next: Uint8Array; ends: Uint8Array } {
  const beginnings = words.flatMap((word) => Array.from(word, (_, end) => word.slice(0, end + 1)))
  const states = new Map(["", ...new Set(beginnings)].map((read, state) => [read, state]))
  const next = new Uint8Array(states.size * ascii)
  const ends = new Uint8Array(states.size)
  const letters = [...new Set(words.join(""))]
  for (const [read, state] of states) {
    ends[state] = words.includes(read) ? 1 : 0
    for (const letter of letters) {
      const text = read + letter
      let cut = 0
      while (!states.has(text.slice(cut))) cut += 1
      const following = states.get(text.slice(cut)) as number
      next[state * ascii + letter.charCodeAt(0)] = following
      next[state * ascii + letter.toUpperCase().charCodeAt(0)] = following
    }
  }
  return { next, ends }
}
