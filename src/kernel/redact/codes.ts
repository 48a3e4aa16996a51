// Kinds of characters, as a table of bits by UTF-16 code.

export const kind = {
  /** Of keys and bot tokens: letters, digits, `_` and `-`. */
  key: 1,
  /** Of names of parameters. */
  name: 2,
  /** Of bearer and basic credentials. */
  credential: 4,
  space: 8,
  word: 16,
  /** What a parameter's value ends at: the next one, a space, the end of the string that the text stands in. */
  endsValue: 32,
  endsUserinfo: 64,
  /** What one of the forms is found by. */
  mark: 128,
}

const letters = "abcdefghijklmnopqrstuvwxyz"
const digits = "0123456789"
const wordCharacters = `${letters}${letters.toUpperCase()}${digits}_`
/** As regular expressions have them: also those beyond ASCII. */
const spaces =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

export const kindsOf = makeTable([
  [kind.key, `${wordCharacters}-`],
  [kind.name, `${wordCharacters}-.%[]`],
  [kind.credential, `${wordCharacters}-.~+/=`],
  [kind.space, spaces],
  [kind.word, wordCharacters],
  [kind.endsValue, "&#; \t\r\n\"'<>\\"],
  [kind.endsUserinfo, `${spaces}/?#"'<>\\`],
  [kind.mark, ":=rRcCs"],
])

function makeTable(kinds: readonly (readonly [number, string])[]): Uint8Array {
  const table = new Uint8Array(0x1_0000)
  for (const [bit, characters] of kinds) {
    for (const character of characters) table[character.charCodeAt(0)] = (table[character.charCodeAt(0)] ?? 0) | bit
  }
  return table
}
