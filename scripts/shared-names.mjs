// The names that files of the page have from the one that they share, short and the same everywhere: `import{A,B}` in place
// of `import{a as x,b as y}`.
import { parse } from "acorn"
import { full } from "acorn-walk"

const capitals = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
/** Names that no source has: behind a capital, words go on. */
const pool = [...capitals, ...capitals.flatMap((first) => capitals.map((second) => first + second))]

/**
 * Takes the code of files by their names, and returns it with the names that are shared now. These are up to the file that
 * they come from alone: a browser may hold it, and read others anew.
 */
export function shareNames(files) {
  const trees = new Map(
    [...files].map(([name, code]) => [name, parse(code, { ecmaVersion: "latest", sourceType: "module" })]),
  )
  const of = (name, kind) => trees.get(name).body.filter(({ type }) => type === kind)
  const sources = [...files.keys()].flatMap((name) => of(name, "ImportDeclaration").map(({ source }) => source.value))
  const source = sources[0].replace("./", "")
  if (sources.some((each) => each !== sources[0]))
    throw new Error(`Names are shared by one file, not by ${String(sources)}`)
  const counts = new Map()
  for (const { name } of identifiersOf(trees.get(source)).values()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const exported = of(source, "ExportNamedDeclaration").flatMap(({ specifiers }) => specifiers)
  const sorted = exported.toSorted((a, b) => counts.get(b.local.name) - counts.get(a.local.name))
  const names = new Map(sorted.map((each, index) => [each.exported.name, pool[index]]))
  const renamed = [...files].map(([name, code]) => {
    const told = name === source ? exported : of(name, "ImportDeclaration").flatMap(({ specifiers }) => specifiers)
    return [name, rename(code, trees.get(name), told, names)]
  })
  return { files: new Map(renamed), names: [...names.values()] }
}

/** Other things of the same name, which a smaller part of the file may have, get the new one too and stay what they are. */
function rename(code, tree, told, names) {
  const shortOf = new Map(
    told.map(({ local, imported, exported }) => [local.name, names.get((imported ?? exported).name)]),
  )
  const edits = told.map((each) => [each, shortOf.get(each.local.name)])
  for (const identifier of identifiersOf(tree).values()) {
    const { name, isShort } = identifier
    if (pool.includes(name)) throw new Error(`${name} is the name of something already`)
    const short = shortOf.get(name)
    if (short !== undefined) edits.push([identifier, isShort ? `${name}: ${short}` : short])
  }
  return edits
    .sort(([a], [b]) => b.start - a.start)
    .reduce((text, [{ start, end }, short]) => text.slice(0, start) + short + text.slice(end), code)
}

/** By where they stand. `isShort`: it stands for a property of its name too, as in `{ name }`. */
function identifiersOf(tree) {
  const found = new Map()
  full(tree, (node) => {
    if (node.type === "Identifier") found.set(node.start, { isShort: false, ...found.get(node.start), ...node })
    for (const { type, shorthand, start } of node.properties ?? [])
      if (type === "Property" && shorthand) found.set(start, { ...found.get(start), isShort: true })
  })
  return found
}
