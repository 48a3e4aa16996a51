// Reads the text of a browser snapshot: elements with role, name, ref and depth, and finds the one a person means.

export interface SnapshotElement {
  role: string
  name: string
  value: string
  /** As the snapshot writes it: `12` or `e12`; undefined for an element that cannot be acted on. */
  ref: string | undefined
  depth: number
}

/** What a name led to. */
export type Found = { kind: "one"; ref: string; name: string } | { kind: "none" } | { kind: "many"; names: string[] }

const linePattern = /^(\s*)-\s{1,9}([A-Za-z]+)(?:\s{1,9}"((?:[^"\\]|\\.)*)")?([^]*)/
const refPattern = /\[(?:aria-)?ref=([A-Za-z0-9]+)\]/

export function parseSnapshot(text: string): SnapshotElement[] {
  const elements: SnapshotElement[] = []
  for (const line of text.split("\n")) {
    const match = line === "" ? null : linePattern.exec(line)
    if (!match) continue
    const rest = match[4] ?? ""
    elements.push({
      role: (match[2] ?? "").toLowerCase(),
      name: (match[3] ?? "").replaceAll(/\\(.)/g, "$1"),
      value: /:\s([^]*)/.exec(rest.replaceAll(/\[[^[\]]*\]/g, ""))?.[1]?.trim() ?? "",
      ref: refPattern.exec(rest)?.[1],
      depth: (match[1] ?? "").length,
    })
  }
  return elements
}

const textRoles = new Set(["textbox", "searchbox", "combobox", "spinbutton"])
const clickRoles = new Set(
  `${[...textRoles].join(" ")} button link checkbox radio switch tab option slider treeitem menuitem menuitemcheckbox menuitemradio`.split(
    " ",
  ),
)

/** Roles that a person may put behind a name: "click the Search button". */
const roleSuffix = /^(.+?)\s{1,9}(button|link|tab|checkbox|option|box|field)$/i

export function findClickable(elements: readonly SnapshotElement[], name: string): Found {
  const usable = elements.filter((element) => clickRoles.has(element.role))
  const found = match(usable, name)
  if (found.kind !== "none") return found
  const suffix = roleSuffix.exec(name)
  const role = suffix?.[2]?.toLowerCase()
  const bySuffix = suffix ? match(usable.filter(suitsRole(role ?? "")), suffix[1] ?? "") : found
  return bySuffix.kind === "none" ? match(elements, name) : bySuffix
}

export function findTextField(elements: readonly SnapshotElement[], name: string): Found {
  const fields = elements.filter((element) => textRoles.has(element.role))
  const found = match(fields, name)
  const shorter = roleSuffix.exec(name)?.[1]
  return found.kind === "none" && shorter !== undefined ? match(fields, shorter) : found
}

function suitsRole(role: string): (element: SnapshotElement) => boolean {
  if (role === "box" || role === "field") return (element) => textRoles.has(element.role)
  return (element) => element.role === role
}

const basketWords = /\b(?:add|basket|cart|bag|buy)\b/i
const basketPhrase = /\b(?:add|put|buy|to|into|in|the|my|basket|cart|bag)\b/gi

/** The button that puts the named thing into the basket: by its own name, else by the row it stands in. */
export function findBasketButton(elements: readonly SnapshotElement[], name: string): Found {
  const wanted = name.trim().toLowerCase()
  const buttons = elements.filter((element) => element.role === "button" && basketWords.test(element.name))
  const exact = buttons.filter((button) => button.name.replaceAll(basketPhrase, "").trim().toLowerCase() === wanted)
  if (exact.length > 0) return pick(exact)
  const named = buttons.filter((button) => button.name.toLowerCase().includes(wanted))
  if (named.length > 0) return pick(named)
  const inExactRow = buttonsBeside(elements, buttons, (words) => words === wanted)
  return pick(inExactRow.length > 0 ? inExactRow : buttonsBeside(elements, buttons, (words) => words.includes(wanted)))
}

/** The smallest part of the tree that holds both the words and a basket button is the row that is meant. */
function buttonsBeside(
  elements: readonly SnapshotElement[],
  buttons: readonly SnapshotElement[],
  isWanted: (words: string) => boolean,
): SnapshotElement[] {
  const isButton = new Set(buttons)
  const ends = subtreeEnds(elements)
  const buttonsBefore = countsBefore(elements, (element) => isButton.has(element))
  const wordsBefore = countsBefore(elements, ({ name, value }) =>
    [name, value].some((words) => isWanted(words.toLowerCase())),
  )
  const holds = (before: readonly number[], from: number, to: number) => (before[to] ?? 0) > (before[from] ?? 0)
  const rows = ends.flatMap((to, from) =>
    holds(buttonsBefore, from, to) && holds(wordsBefore, from, to) ? [{ from, to }] : [],
  )
  const smallest = rows.reduce((least, { from, to }) => Math.min(least, to - from), Infinity)
  return rows
    .filter(({ from, to }) => to - from === smallest)
    .flatMap(({ from, to }) => elements.slice(from, to).filter((element) => isButton.has(element)))
}

/** Behind the last element of each one's subtree; the list is in the order of the page. */
function subtreeEnds(elements: readonly SnapshotElement[]): number[] {
  const ends = elements.map(() => elements.length)
  const open: number[] = []
  for (const [index, { depth }] of elements.entries()) {
    for (let last = open.at(-1); last !== undefined && (elements[last]?.depth ?? 0) >= depth; last = open.at(-1)) {
      ends[last] = index
      open.pop()
    }
    open.push(index)
  }
  return ends
}

/** How many there are before each place, the place behind the last included. */
function countsBefore(
  elements: readonly SnapshotElement[],
  isCounted: (element: SnapshotElement) => boolean,
): readonly number[] {
  const counts = [0]
  for (const element of elements) counts.push((counts.at(-1) ?? 0) + (isCounted(element) ? 1 : 0))
  return counts
}

/** Exact beats prefix beats contains. */
function match(elements: readonly SnapshotElement[], name: string): Found {
  const wanted = name.trim().toLowerCase()
  const tests: ((candidate: string) => boolean)[] = [
    (candidate) => candidate === wanted,
    (candidate) => candidate.startsWith(wanted),
    (candidate) => candidate.includes(wanted),
  ]
  for (const test of tests) {
    const found = pick(elements.filter((element) => element.name !== "" && test(element.name.toLowerCase())))
    if (found.kind !== "none") return found
  }
  return { kind: "none" }
}

function pick(candidates: readonly SnapshotElement[]): Found {
  const usable = candidates.flatMap((candidate) =>
    candidate.ref === undefined ? [] : [{ ref: candidate.ref, name: candidate.name, role: candidate.role }],
  )
  const [first] = usable
  if (first === undefined) return { kind: "none" }
  if (usable.length === 1) return { kind: "one", ref: first.ref, name: first.name }
  return { kind: "many", names: usable.map(({ role, name, ref }) => `${role} "${name}" (ref ${ref})`) }
}

/** The words of a page, one line for each element that has some. */
export function readableText(snapshot: string, maxLength: number): string {
  const elements = parseSnapshot(snapshot)
  const ends = subtreeEnds(elements)
  const lines = elements.flatMap((element, index) => {
    const words = [element.name, element.value].filter((part) => part !== "").join(": ")
    if (words === "") return []
    // A parent is often named by its contents; saying both would repeat every line.
    const contents = elements.slice(index + 1, ends[index])
    return contents.some(({ name }) => name !== "" && words.includes(name)) ? [] : [words]
  })
  const text = elements.length > 0 ? lines.join("\n") : snapshot.trim()
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}
