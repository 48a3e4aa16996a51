// How far a text is looked through for formatting. The parser takes microseconds for each character that may begin
// something: what goes beyond a bound, which nobody writes for people to read, is sent as it stands.

/** Some 30 ms of the parser. Code in fences costs nothing and is not counted. */
const maxMarks = 8_000

/** In what the parser takes for the cheapest: a line may be an entry of a list, an address is looked at letter by letter. */
const marks = new Uint8Array(128)
for (const mark of "!#$%&*+-:<=>@[\\]^_`{|}~") marks[mark.charCodeAt(0)] = 1
marks["\n".charCodeAt(0)] = 3
const colon = ":".charCodeAt(0)
const address = 8

/** Where the part ends that is looked through: behind all of it, or between two paragraphs. */
export function markedLength(text: string): number {
  let left = maxMarks
  let fence: string | undefined
  for (let start = 0; start < text.length;) {
    const next = text.indexOf("\n", start)
    const end = next < 0 ? text.length : next + 1
    const mark = fenceOf(text, start, end)
    if (fence === undefined || mark?.startsWith(fence)) {
      for (let at = start; at < end && left >= 0; at += 1) {
        const code = text.charCodeAt(at)
        left -= marks[code] ?? 0
        if (code === colon && text.startsWith("//", at + 1)) left -= address
      }
      if (left < 0) return Math.max(0, text.lastIndexOf("\n\n", start))
    }
    if (mark !== undefined && fence === undefined) fence = mark
    else if (fence !== undefined && mark?.startsWith(fence)) fence = undefined
    start = end
  }
  return text.length
}

/** The backticks or tildes that begin this line of code's beginning or end. */
function fenceOf(text: string, start: number, end: number): string | undefined {
  let from = start
  while (from < end && from < start + 3 && text[from] === " ") from += 1
  const character = text[from]
  if (character !== "`" && character !== "~") return undefined
  let to = from
  while (to < end && text[to] === character) to += 1
  const mark = text.slice(from, to)
  // A line such as ```code``` is no fence.
  const isWords = character === "`" && text.slice(to, end).includes("`")
  return mark.length < 3 || isWords ? undefined : mark
}
