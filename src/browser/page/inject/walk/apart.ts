// Tells equal controls of a list apart: by the words of what each stands in, or by its place among its sisters. Runs in the page.
import type { PageElement } from "../dom.ts"
import { isInside } from "../hit.ts"
import { isCutAway, isHidden, textOf, tidy } from "../names.ts"
import { plainWords, type Walk } from "./state.ts"
import { gatherItems, isControl } from "./targets.ts"

/** Equal controls are told apart by the words of what each stands in: the "Delete" of "Person 7". */
export function tellApart(walk: Walk): void {
  const most = 100
  const groups = new Map<string, number[]>()
  for (const [index, [, , role, name]] of walk.refs.entries()) {
    // Pictures without a name are told apart from other pictures by what they show.
    const hint = name === "" ? (/\[hint="[^"]*"\]/.exec(walk.lines[walk.refs[index]?.[0] ?? 0] ?? "")?.[0] ?? "") : ""
    const key = `${role} ${name} ${hint}`
    const group = groups.get(key)
    if (group) group.push(index)
    else groups.set(key, [index])
  }
  for (const group of groups.values()) {
    if (group.length < 2 || group.length > most) continue
    // The days at the ends of a month, the digits of a keyboard: what stands around tells nothing of them.
    if (/^\d{1,2}$/.test(walk.refs[group[0] as number]?.[3] ?? "")) continue
    const elements = group.map((index) => walk.elements[index] as PageElement)
    const besides = <Value>(list: readonly Value[], place: number) =>
      [list[place - 1], list[place + 1]].filter((other) => other !== undefined)
    const items = elements.map((element, place) => itemOf(element, besides(elements, place)))
    const told = elements.map((element, place) => {
      const item = items[place] as Item
      const isRepeated = besides(items, place).some((other) => isSister(item, other))
      return isRepeated ? wordsAround(walk, element, item.element) : [wordsNear(walk, element, item.element)]
    })
    const telling = tellingOf(told)
    const around = [telling, tellingOf(rowsOf(elements).map((words) => [words]))].find((found) => found.length > 0)
    const rows = around ?? tellingOf(wordsAcross(walk, elements))
    for (const [place, words] of rows.entries()) {
      const [line = 0] = walk.refs[group[place] as number] ?? []
      if (words === "" || walk.captioned.has(elements[place] as PageElement)) continue
      const before = walk.lines[line] ?? ""
      // Without a name of its own, the words in quotes would be taken for one.
      const hasName = before.indexOf('"') >= 0 && before.indexOf('"') < before.indexOf("[ref=\0]")
      const said = hasName ? `of ${JSON.stringify(plainWords(words))}` : `(of ${plainWords(words)})`
      walk.lines[line] = before.replace("[ref=\0]", () => `[ref=\0] ${said}`)
    }
  }
}

/** What a cross takes away: the words of the chip that it stands in, which no other line says. */
export function tellChips(walk: Walk): void {
  for (const [index, [line, , role, name]] of walk.refs.entries()) {
    if (!/^(button|img|generic|link)$/.test(role) || !/^(|close|remove|delete|clear|×|✕)$/i.test(name)) continue
    const before = walk.lines[line] ?? ""
    if (/\[ref=\0\] \(/.test(before) || before.includes('[ref=\0] of "')) continue
    const element = walk.elements[index] as PageElement
    const words = wordsOfChip(walk, element)
    const last = walk.refs[index - 1]
    if (words === "" || last?.[3] === words || walk.lines[line - 1]?.endsWith(`: ${words}`)) continue
    const said = name === "" ? `(of ${plainWords(words)})` : `of ${JSON.stringify(plainWords(words))}`
    walk.lines[line] = before.replace("[ref=\0]", () => `[ref=\0] ${said}`)
  }
}

function wordsOfChip(walk: Walk, element: PageElement): string {
  const chip = element.previousSibling ? element.parentElement : null
  if (!chip || chip.localName === "body" || chip.getBoundingClientRect().height > 48) return ""
  const look = { left: 20, hasControls: false, controls: [] as PageElement[], own: [] as PageElement[] }
  gatherItems(walk, chip, [], look)
  if (look.left <= 0 || look.controls.some((control) => control !== element)) return ""
  const direct = wordsBetween(element, chip)
  const [own, other] = look.own.filter((part) => part !== chip && !element.contains(part) && !isCutAway(part))
  if (other) return ""
  return direct || (own ? tidy(textOf(own, { left: 200 }), 40) : "")
}

/** Words that all of them stand beside (the name of a box to tick in each row) tell none from the others: the next may. */
function tellingOf(told: readonly (readonly string[])[]): string[] {
  const longest = Math.max(...told.map((words) => words.length))
  for (let at = 0; at < longest; at += 1) {
    const around = told.map((words) => words[at] ?? "")
    const { size } = new Set(around)
    if (size > 1 && size >= told.length / 2) return around
  }
  return []
}

interface Item {
  element: PageElement
  /** How far above the one of the equal elements it is. */
  steps: number
}

/** The largest part of the page that holds this one of the equal elements and no other. */
function itemOf(element: PageElement, others: readonly PageElement[]): Item {
  let item = element
  let steps = 0
  for (; steps < 20; steps += 1) {
    const parent = item.parentElement ?? item.getRootNode().host
    if (!parent || others.some((other) => isDrawnInside(parent, other))) break
    item = parent
  }
  return { element: item, steps }
}

/** Also what is in the shadow roots of the components inside. */
function isDrawnInside(container: PageElement, element: PageElement): boolean {
  return container.contains(element) || (element.getRootNode().host !== undefined && isInside(element, container))
}

/** Rows of one table, cards of one list: what stands first in each tells it. */
function isSister(one: Item, other: Item): boolean {
  return (
    one.steps === other.steps &&
    one.element.localName === other.element.localName &&
    one.element.parentElement === other.element.parentElement
  )
}

/** What stands first in the item, and next. */
function wordsAround(walk: Walk, element: PageElement, item: PageElement): string[] {
  const most = 4
  if (item === element || item.localName === "body") return []
  const found: PageElement[] = []
  gatherItems(walk, item, found, { left: 60, hasControls: false })
  const told: string[] = []
  // Of one of several things to choose from the others tell nothing.
  const choice = /^(option|treeitem|menuitem\w*|radio|tab)$/.exec(element.getAttribute("role") ?? "")?.[0]
  const others = choice === undefined ? null : `[role=${choice}]`
  for (const part of found) {
    if (part === element || element.contains(part) || part.contains(element) || isCutAway(part)) continue
    if (others && part.closest(others)) continue
    // What opens beside it comes and goes.
    const opened = part.closest("[role=listbox],[role=menu],[role=dialog]")
    if (opened && item.contains(opened) && !opened.contains(element)) continue
    const words = tidy(textOf(part, { left: 200 }), 40)
    if (words !== "" && told.push(words) === most) break
  }
  return [...told, wordsBetween(element, item)].filter((words) => words !== "")
}

/** Words that stand beside controls, in no element of their own. */
function wordsBetween(element: PageElement, item: PageElement): string {
  for (let part = element; part !== item && part.parentElement; part = part.parentElement) {
    for (let node = part.parentElement.firstChild; node; node = node.nextSibling) {
      const words = node.nodeType === 3 ? tidy(node.nodeValue ?? "", 40) : ""
      if (words !== "") return words
    }
  }
  return ""
}

/** Of places that have nothing in common the words close by, which are no other control's: before it. */
function wordsNear(walk: Walk, element: PageElement, item: PageElement): string {
  const farthest = 3
  let around = element
  for (let steps = 0; around !== item && around.parentElement && steps < farthest; steps += 1) {
    const branch = around
    around = around.parentElement
    if (around.localName === "body") return ""
    const words = wordsAside(walk, branch)
    if (words !== "") return words
    const between = wordsBetween(element, around)
    if (between !== "") return between
  }
  return ""
}

function wordsAside(walk: Walk, branch: PageElement): string {
  const most = 4
  const wordsOf = (side: PageElement): string => {
    const own: PageElement[] = []
    if (!isControl(walk, side)) gatherItems(walk, side, [], { left: 60, hasControls: false, own })
    const seen = own.filter((part) => !isCutAway(part)).map((part) => tidy(textOf(part, { left: 200 }), 40))
    return seen.findLast((words) => words !== "") ?? ""
  }
  let side = branch.previousElementSibling
  for (let looked = 0; side && looked < most; looked += 1, side = side.previousElementSibling) {
    const words = wordsOf(side)
    if (words !== "") return words
  }
  return ""
}

/** Of places side by side, such as the half hours of a day: the words that several of them stand behind in one row. */
function rowsOf(elements: readonly PageElement[]): string[] {
  const words = elements.map((element) => wordsBefore(element, elements))
  const isShared = (one: string) => words.filter((other) => other === one).length > 1
  return words.every((each) => each !== "" && isShared(each)) ? words : []
}

/** Tables that keep some columns in place are two side by side: what is told in the same row of the other. */
function wordsAcross(walk: Walk, elements: readonly PageElement[]): string[][] {
  // Each table is looked for once, however many of its rows are asked about.
  const tables = new Map<PageElement, PageElement | null>()
  return elements.map((element) => {
    const row = element.closest("tr,[role=row]")
    const rows = row?.parentElement
    if (!row || !rows) return []
    if (!tables.has(rows)) tables.set(rows, tableBeside(rows))
    const beside = tables.get(rows)?.children[Array.from(rows.children).indexOf(row)]
    return beside ? wordsAround(walk, element, beside) : []
  })
}

/** With as many rows, not far from it in the page. Longer ones draw only a part of their rows. */
function tableBeside(rows: PageElement): PageElement | null {
  const [highest, mostTables, mostRows] = [6, 10, 500]
  if (rows.childElementCount > mostRows) return null
  const kind = rows.getAttribute("role") === "rowgroup" ? "[role=rowgroup]" : rows.localName
  let around = rows.parentElement
  for (let steps = 0; around && steps < highest; steps += 1, around = around.parentElement) {
    const tables = Array.from(around.querySelectorAll(kind)).slice(0, mostTables)
    const other = tables.find((table) => table !== rows && table.childElementCount === rows.childElementCount)
    if (other) return other
  }
  return null
}

/** Among what stands before it and, where it is in a box with its likes, before that box. */
function wordsBefore(element: PageElement, group: readonly PageElement[]): string {
  const most = 8
  for (const place of [element, element.parentElement]) {
    let node = place?.previousSibling
    for (let looked = 0; node && looked < most; looked += 1, node = node.previousSibling) {
      const part = node as PageElement
      const isText = node.nodeType === 3
      if (!isText && (node.nodeType !== 1 || (place === element && group.includes(part)))) continue
      if (!isText && (isHidden(part) || hasControl(part) || group.some((other) => part.contains(other)))) return ""
      const words = tidy(isText ? (node.nodeValue ?? "") : textOf(part, { left: 200 }), 40)
      if (words !== "") return words
    }
  }
  return ""
}

function hasControl(part: PageElement): boolean {
  const controls = "input,select,textarea,button,a"
  return part.matches(controls) || part.querySelector(controls) !== null
}

/** The stars of a rating, the dots of a carousel: alike, all of one name or none, and side by side, they are told by their place. */
export function tellPlaces(walk: Walk): void {
  const [fewest, most] = [3, 31]
  const rows = new Map<PageElement, number[]>()
  for (const [index, [, , role]] of walk.refs.entries()) {
    if (!/^(generic|button|link|img|radio|checkbox|option|textbox|spinbutton)$/.test(role)) continue
    const row = rowOf(walk.elements[index] as PageElement)
    if (!row) continue
    const others = rows.get(row)
    if (!others) rows.set(row, [index])
    else if (isAlike(walk, others[0] as number, index)) others.push(index)
  }
  for (const places of rows.values()) {
    if (places.length < fewest || places.length > most) continue
    const lines = places.map((index) => walk.refs[index]?.[0] ?? 0)
    const isNamed = walk.refs[places[0] as number]?.[3] !== ""
    const hints = lines.map((line) => /\[hint="[^"]*"\]/.exec(walk.lines[line] as string)?.[0] ?? "")
    // What each of them is called in the page tells more.
    if (!isNamed && new Set(hints).size === hints.length) continue
    lines.forEach((line, place) => {
      const before = walk.lines[line] as string
      if (/\[ref=\0\] \(?of /.test(before)) return
      walk.lines[line] = before.replace("[ref=\0]", `[ref=\0] (${place + 1} of ${places.length})`)
    })
  }
}

function isAlike(walk: Walk, one: number, other: number): boolean {
  const { localName } = walk.elements[one] as PageElement
  const [, , role, name] = walk.refs[one] ?? []
  const [, , otherRole, otherName] = walk.refs[other] ?? []
  return role === otherRole && name === otherName && walk.elements[other]?.localName === localName
}

/** What the element stands in a row in: its parent, or that of a box around it alone. */
function rowOf(element: PageElement): PageElement | null {
  let parent = element.parentElement
  for (let steps = 0; parent && parent.childElementCount === 1 && steps < 2; steps += 1) parent = parent.parentElement
  return parent && parent.localName !== "body" ? parent : null
}

export const apartFunctions = [
  tellApart,
  tellChips,
  wordsOfChip,
  tellingOf,
  itemOf,
  isDrawnInside,
  isSister,
  wordsAround,
  wordsBetween,
  wordsNear,
  wordsAside,
  rowsOf,
  wordsAcross,
  tableBeside,
  wordsBefore,
  hasControl,
  tellPlaces,
  isAlike,
  rowOf,
]
