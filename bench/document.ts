// Pages below docs have a section of each program that measures something; one that runs renews its own alone.
import { readFileSync, writeFileSync } from "node:fs"

/** The text of a section, "" when there is none of this name. */
export function readSection(name: string, page = "performance.md"): string {
  const text = readFileSync(new URL(`../docs/${page}`, import.meta.url), "utf8")
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  return text.includes(begin) ? (text.split(begin)[1]?.split(end)[0] ?? "").trim() : ""
}

/** The text with each of the table's rows in place of the one that begins alike; new ones come behind the last of these. */
export function withRows(text: string, rows: readonly string[]): string {
  const lines = text.split("\n")
  const start = (line: string) => line.split(" | ")[0]
  let last = lines.findLastIndex((line) => line.startsWith("| "))
  for (const row of rows) {
    const at = lines.findIndex((line) => start(line) === start(row))
    if (at >= 0) lines[at] = row
    else lines.splice(last + 1, 0, row)
    last = at >= 0 ? at : last + 1
  }
  return lines.join("\n")
}

/** `text` is Markdown; the section is put at the end when there is none of this name. */
export function writeSection(name: string, text: string, page = "performance.md"): void {
  const path = new URL(`../docs/${page}`, import.meta.url)
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`]
  const section = `${begin}\n\n${text.trim()}\n\n${end}\n`
  const before = readFileSync(path, "utf8")
  const from = before.indexOf(begin)
  const to = before.indexOf(`${end}\n`)
  const after =
    from >= 0 && to > from
      ? before.slice(0, from) + section + before.slice(to + end.length + 1)
      : `${before.trimEnd()}\n\n${section}`
  writeFileSync(path, after)
}
