// Elements by the words that a snapshot shows of them: `button "Add to basket"`, in the card of `Green Tea`. For scripts,
// whose later steps are written before the page has given refs. Pure: lines in, lines out.
import type { Line } from "./line.ts"

/** What is asked for: a role and words, or either. */
export interface Wanted {
  find: string
  /** Words of the row, card or dialog that it stands in, or of what stands before it. */
  in?: string | undefined
  /** Of several, from 0. */
  nth?: number | undefined
}

export interface Element {
  line: Line
  /** Its place among the lines of the whole page. */
  index: number
  /** Index of what it stands in; -1 at the top. */
  parent: number
  role: string
  name: string
  /** What stands behind the colon: text, or what a field holds. */
  value: string
  /** Words that are no name: a placeholder, a hint. */
  hint: string
  isDisabled: boolean
}

export function readElements(lines: readonly Line[]): Element[] {
  const open: number[] = []
  return lines.map((line, index) => {
    while (open.length > 0 && (lines[open.at(-1) as number]?.depth ?? 0) >= line.depth) open.pop()
    const parent = open.at(-1) ?? -1
    open.push(index)
    return { line, index, parent, ...readLine(line) }
  })
}

/** `- role "name" [attribute] of "row" [attribute]: value`, as the walker writes it; `(of row)` where there is no name. */
function readLine({ text }: Line): Omit<Element, "line" | "index" | "parent"> {
  const said = text.trimStart().replace(/^- /, "")
  const role = /^[\w-]+/.exec(said)?.[0] ?? ""
  let rest = said.slice(role.length)
  let name = ""
  if (rest.startsWith(' "')) {
    const end = endOfQuoted(rest, 1)
    name = unquote(rest.slice(1, end))
    rest = rest.slice(end)
  }
  const attributes: string[] = []
  for (;;) {
    const end = endOfAbout(rest)
    if (end === 0) break
    attributes.push(rest.slice(2, end - 1))
    rest = rest.slice(end)
  }
  const value = rest.startsWith(": ") ? unquote(rest.slice(2)) : ""
  const hint = attributes.flatMap((each) => {
    const word = /^(?:placeholder|hint)=/.exec(each)?.[0]
    return word === undefined ? [] : [unquote(each.slice(word.length))]
  })
  return {
    role,
    name,
    value,
    hint: hint.join(" "),
    isDisabled: attributes.includes("disabled"),
  }
}

/** Where that ends by which the walker says more of an element; 0 where it says no more. */
function endOfAbout(rest: string): number {
  if (rest.startsWith(" [")) return endOfAttribute(rest)
  if (rest.startsWith(' of "')) return endOfQuoted(rest, 4)
  // The words are the page's, and may hold parentheses themselves.
  return /^ \(of .*?\)(?=$|:| \[)/.exec(rest)?.[0].length ?? 0
}

function endOfQuoted(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1
    else if (text[at] === '"') return at + 1
  }
  return text.length
}

/** Values of attributes are quoted, and may hold brackets. */
function endOfAttribute(text: string): number {
  for (let at = 2; at < text.length; at += 1) {
    if (text[at] === '"') at = endOfQuoted(text, at) - 1
    else if (text[at] === "]") return at + 1
  }
  return text.length
}

function unquote(text: string): string {
  if (!text.startsWith('"')) return text
  try {
    return String(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return text.replace(/^"|"$/g, "")
    throw error
  }
}

const plain = (text: string) => text.replace(/\s+/g, " ").trim().toLowerCase()

interface Query {
  role: string
  words: string
}

/** `button "Add"`, `button Add`, `"Add"`, `Add`, `button`: a first word is a role where the page has it as one. */
function readQuery(find: string, elements: readonly Element[]): Query[] {
  const text = find.trim().replace(/^- /, "")
  const quoted = /^([\w-]*) ?(".*")$/s.exec(text)
  if (quoted) return [{ role: (quoted[1] ?? "").toLowerCase(), words: plain(unquote(quoted[2] ?? "")) }]
  const [first = "", ...rest] = text.split(/ +/)
  const role = first.toLowerCase()
  const asWords = { role: "", words: plain(text) }
  const isRole = elements.some((element) => element.role === role)
  // A heading "Menu" and the role menu: the role is meant where the page has it.
  if (rest.length === 0) return isRole ? [{ role, words: "" }, asWords] : [asWords]
  return isRole ? [{ role, words: plain(rest.join(" ")) }, asWords] : [asWords]
}

/** From the surest way to be meant to the least. */
const ways: ((element: Element, words: string) => boolean)[] = [
  ({ name }, words) => plain(name) === words,
  ({ name, value }, words) => name === "" && plain(value) === words,
  ({ hint }, words) => plain(hint) === words,
  ({ name }, words) => plain(name).includes(words),
  ({ value, hint }, words) => plain(value).includes(words) || plain(hint).includes(words),
]

/** All that could be meant, in the order of the page. `acts`: only what can be acted on. */
export function locate(elements: readonly Element[], wanted: Wanted, acts: boolean): Element[] {
  const usable = acts ? elements.filter(({ line }) => line.ref !== undefined) : elements
  for (const query of readQuery(wanted.find, elements)) {
    const found = matching(usable, query)
    if (found.length > 0) return wanted.in === undefined ? found : nearest(elements, found, wanted.in)
  }
  return []
}

function matching(elements: readonly Element[], { role, words }: Query): Element[] {
  const ofRole = role === "" ? elements : elements.filter((element) => element.role === role)
  if (words === "") return role === "" ? [] : [...ofRole]
  for (const way of ways) {
    const found = ofRole.filter((element) => way(element, words))
    if (found.length === 0) continue
    // A heading and a button of the same words: where no role was said, the one that does something.
    const controls = found.filter(({ line }) => line.ref?.interactive)
    return role === "" && controls.length > 0 ? controls : found
  }
  return []
}

/** More than anybody means: a word that stands everywhere tells nothing apart. */
const maxMarks = 100
const maxFound = 500

/** Those that share the smallest part of the page with these words; where all share it, those that stand next behind them. */
function nearest(elements: readonly Element[], found: readonly Element[], words: string): Element[] {
  const [query] = readQuery(words, elements)
  const marks = query ? matchingAll(elements, query).slice(0, maxMarks) : []
  if (marks.length === 0) return []
  const placed = found.slice(0, maxFound).map((element) => ({ element, ...closest(elements, element, marks) }))
  const depth = Math.max(...placed.map((each) => each.depth))
  const together = placed.filter((each) => each.depth === depth)
  if (together.length < placed.length) return together.map(({ element }) => element)
  const distance = Math.min(...placed.map((each) => each.distance))
  return placed.filter((each) => each.distance === distance).map(({ element }) => element)
}

/** Exact words where there are any, else whatever holds them. */
function matchingAll(elements: readonly Element[], { role, words }: Query): Element[] {
  const ofRole = role === "" ? elements : elements.filter((element) => element.role === role)
  const exact = ofRole.filter(({ name, value }) => plain(name) === words || plain(value) === words)
  if (exact.length > 0 || words === "") return words === "" ? [...ofRole] : exact
  return ofRole.filter(({ name, value }) => plain(name).includes(words) || plain(value).includes(words))
}

/** The depth of the smallest part that holds both, and how far apart they are; what stands before the words is far. */
function closest(elements: readonly Element[], each: Element, marks: readonly Element[]) {
  const around = new Set<number>()
  for (let at = each.index; at !== -1; at = elements[at]?.parent ?? -1) around.add(at)
  let best = { depth: -1, distance: Infinity }
  for (const mark of marks) {
    let shared = mark.index
    while (shared !== -1 && !around.has(shared)) shared = elements[shared]?.parent ?? -1
    const depth = elements[shared]?.line.depth ?? -1
    const behind = each.index - mark.index
    const distance = behind >= 0 ? behind : elements.length - behind
    if (depth > best.depth || (depth === best.depth && distance < best.distance)) best = { depth, distance }
  }
  return best
}

/** What it says: what a field holds, its name, or all the words inside it. */
export function wordsOf(elements: readonly Element[], { index, name, value, line }: Element): string {
  if (value !== "") return value
  const inside: string[] = []
  for (let at = index + 1; at < elements.length; at += 1) {
    const each = elements[at] as Element
    if (each.line.depth <= line.depth) break
    const words = each.value === "" ? each.name : each.value
    if (words !== "") inside.push(words)
  }
  return name === "" ? inside.join(" ") : name
}

/** Longer names are told apart by their beginning. */
const maxWords = 100

/** Words by which the element is found again on a page drawn anew; undefined where it cannot be told from others. */
export function locatorOf(elements: readonly Element[], element: Element): Wanted | undefined {
  const { role, name, value, hint } = element
  const isField = /^(?:textbox|searchbox|combobox|spinbutton|slider)$/.test(role)
  const words = (name || hint || (isField ? "" : value)).replace(/\s+/g, " ").trim().slice(0, maxWords).trim()
  const find = words === "" ? role : `${role} ${JSON.stringify(words)}`
  const alike = locate(elements, { find }, true)
  const isMeant = (found: readonly Element[]) => found.length === 1 && found[0] === element
  if (isMeant(alike)) return { find }
  for (const context of contextsOf(elements, element, alike)) {
    if (isMeant(locate(elements, { find, in: context }, true))) return { find, in: context }
  }
  const nth = alike.indexOf(element)
  return nth === -1 ? undefined : { find, nth }
}

/** Words that stand in the same part of the page as this one and as none of the others; headings first. */
function contextsOf(elements: readonly Element[], element: Element, alike: readonly Element[]): string[] {
  const others = alike.filter((each) => each !== element).map(({ index }) => index)
  let part = { from: element.index, to: element.index }
  for (let at = element.parent; ; at = elements[at]?.parent ?? -1) {
    const wider = { from: Math.max(at, 0), to: at === -1 ? elements.length - 1 : endOf(elements, at) }
    if (others.some((index) => index >= wider.from && index <= wider.to)) break
    part = wider
    if (at === -1) break
  }
  return elements
    .slice(part.from, part.to + 1)
    .filter((each) => each !== element && (each.name || each.value) !== "")
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .slice(0, 8)
    .map((each) => (each.name || each.value).slice(0, maxWords).trim())
}

/** The last line inside. */
function endOf(elements: readonly Element[], index: number): number {
  const depth = elements[index]?.line.depth ?? 0
  let at = index
  while (at + 1 < elements.length && (elements[at + 1]?.line.depth ?? 0) > depth) at += 1
  return at
}

function rankOf({ role }: Element): number {
  if (role === "heading" || role === "rowheader") return 0
  return role === "link" || role === "cell" || role === "strong" ? 1 : 2
}
