// JSON that does not parse (cut off, Python's way of printing it, escaped twice) -> the message and codes that can
// still be seen in it. One pass for each name that is looked for.

export function salvageError(text: string): { words: string; codes: string[] } | undefined {
  const plain = text.includes('\\"') && !text.includes('"message"') ? text.replaceAll('\\"', '"') : text
  const words = ["message", "detail", "error"].map((name) => stringNamed(plain, name)).find((found) => found)
  if (words === undefined) return undefined
  const codes = ["code", "type", "status"].map((name) => stringNamed(plain, name)).filter((code) => code !== undefined)
  return { words, codes }
}

/** The string behind `"name":` or `'name':`; where it is cut off, what there is of it. */
function stringNamed(text: string, name: string): string | undefined {
  const at = [`"${name}"`, `'${name}'`].map((quoted) => text.indexOf(quoted)).find((index) => index >= 0)
  if (at === undefined) return undefined
  const start = skipSpace(text, at + name.length + 2)
  if (text.charAt(start) !== ":") return undefined
  const open = skipSpace(text, start + 1)
  const quote = text.charAt(open)
  if (quote !== '"' && quote !== "'") return undefined
  let end = open + 1
  while (end < text.length && text.charAt(end) !== quote) end += text.charAt(end) === "\\" ? 2 : 1
  return text.slice(open + 1, end).replace(/\\(.)/gs, (_, character: string) => unescaped[character] ?? character)
}

const unescaped: Readonly<Record<string, string>> = { n: " ", r: " ", t: " " }

function skipSpace(text: string, from: number): number {
  let index = from
  while (index < text.length && /\s/.test(text.charAt(index))) index += 1
  return index
}
