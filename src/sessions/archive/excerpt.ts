// Some words around the first place in a text that holds a word which was looked for.

const before = 60

export function excerptOf(text: string, terms: readonly string[], length: number): string {
  const lower = text.toLowerCase()
  const places = terms.map((term) => lower.indexOf(term.toLowerCase())).filter((place) => place >= 0)
  const from = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - before)
  const piece = text
    .slice(from, from + length)
    .replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "")
    .replace(/\s+/g, " ")
    .trim()
  return `${from > 0 ? "…" : ""}${piece}${from + length < text.length ? "…" : ""}`
}
