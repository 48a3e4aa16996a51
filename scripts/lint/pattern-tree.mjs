// A regular expression's source -> a tree of what it is made of. The syntax is taken for granted: the program that is
// checked is valid. Single characters (classes, escapes) stay as text and are asked of the built-in engine.

/**
 * @typedef {{ kind: "atom", fits: (character: string) => boolean }
 *   | { kind: "place", at: (before: string, after: string) => boolean }
 *   | { kind: "row", parts: Tree[] }
 *   | { kind: "choice", options: Tree[] }
 *   | { kind: "repeat", part: Tree, least: number, most: number }
 *   | { kind: "look", behind: boolean, negative: boolean, part: Tree }
 *   | { kind: "back" }} Tree
 */

const atomPattern =
  /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\[^]|[^]/uy

/** @param {string} source @param {string} flags @returns {Tree} */
export function readPattern(source, flags) {
  let at = 0
  const take = (/** @type {string} */ text) => {
    if (!source.startsWith(text, at)) return false
    at += text.length
    return true
  }
  const match = (/** @type {RegExp} */ pattern) => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at += found[0].length
    return found
  }
  const isWord = (/** @type {string} */ character) => /\w/.test(character)
  const newline = /[\n\r\u2028\u2029]/

  function readChoice() {
    const options = [readRow()]
    while (take("|")) options.push(readRow())
    return options.length === 1 ? options[0] : { kind: "choice", options }
  }
  function readRow() {
    const parts = []
    while (at < source.length && source[at] !== "|" && source[at] !== ")") parts.push(readRepeat(readOne()))
    return { kind: "row", parts }
  }
  function readRepeat(part) {
    const simple = match(/[*+?]/y)
    const counted = simple ? undefined : match(/\{(\d+)(?:(,)(\d*))?\}/y)
    if (!simple && !counted) return part
    take("?")
    if (simple)
      return { kind: "repeat", part, least: simple[0] === "+" ? 1 : 0, most: simple[0] === "?" ? 1 : Infinity }
    const least = Number(counted[1])
    const most = counted[2] === undefined ? least : counted[3] === "" ? Infinity : Number(counted[3])
    return { kind: "repeat", part, least, most }
  }
  function readOne() {
    if (take("(")) return readGroup()
    const place = match(/\^|\$|\\[bB]/y)?.[0]
    if (place === "^") return { kind: "place", at: (before) => flags.includes("m") && newline.test(before) }
    if (place === "$") return { kind: "place", at: (before, after) => flags.includes("m") && newline.test(after) }
    if (place) return { kind: "place", at: (before, after) => (isWord(before) !== isWord(after)) === (place === "\\b") }
    if (match(/\\(?:[1-9]|k<)\d*/y)) return { kind: "back" }
    const text = match(atomPattern)[0]
    const one = new RegExp(`^(?:${text})$`, flags.replace(/[gyd]/g, ""))
    return { kind: "atom", fits: (character) => one.test(character) }
  }
  function readGroup() {
    const look = match(/\?(<?)([=!])/y)
    if (!look) match(/\?<[^>]*>|\?[ims-]*:/y)
    const part = readChoice()
    take(")")
    return look ? { kind: "look", behind: look[1] === "<", negative: look[2] === "!", part } : part
  }
  return /** @type {Tree} */ (readChoice())
}
