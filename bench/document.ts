// Pages below docs have a section of each program that measures something; one that runs renews its own alone.
import { readFileSync, writeFileSync } from "node:fs"

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
