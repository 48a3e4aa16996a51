// The list of what can be acted on, flat, with the headings and messages that make it understood. Runs in the page.
import type { PageElement, PageNode } from "../dom.ts"
import { hiddenBy, isHidden, nameOf, textOf, tidy } from "../names.ts"
import { roleOf, sizeOfList, statesOf, takesInput } from "../roles.ts"
import { visitChildren } from "./children.ts"
import { addCanvas, addFrame, drawnControl, isChart } from "./special.ts"
import { addLine, type Inherited, plainWords, type Walk } from "./state.ts"
import { cursorOf, gatherItems, isPart, isTarget, lookInside } from "./targets.ts"
import { addValue } from "./values.ts"

export function visitListNode(walk: Walk, node: PageNode, depth: number, inherited: Inherited): void {
  if (node.nodeType === 1) visitListElement(walk, node as PageElement, depth, inherited)
}

export function visitListElement(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const tag = element.localName
  if (walk.tables.skippedTags.has(tag) || depth > walk.maxDepth || hiddenBy(element) !== "") return
  const visible = element.checkVisibility({ visibilityProperty: true })
  if (!visible && isHidden(element)) return
  const shown = visible || tag === "slot" || !element.checkVisibility()
  const role = shown ? roleOf(walk.tables, element) : ""
  if (role === "iframe") return addFrame(walk, element, depth)
  if (role !== "" && takesInput(walk.tables, element, role)) return listControl(walk, element, role, depth)
  if (tag === "canvas" && shown && role === "") return addCanvas(walk, element, depth)
  const control = tag === "label" && shown ? drawnControl(element) : null
  if (control) {
    const name = nameOf(walk.tables, control, control.type).name || tidy(textOf(element, { left: 1000 }), 200)
    return addLine(walk, {
      element,
      role: control.type,
      name,
      depth,
      states: statesOf(control, control.type),
      ref: true,
    })
  }
  if (tag === "svg" && !isChart(element) && !inherited.parts) return
  listPlain(walk, element, { role, depth, shown, inherited })
}

interface Plain {
  role: string
  depth: number
  shown: boolean
  inherited: Inherited
}

/** An element that no role makes a control. */
function listPlain(walk: Walk, element: PageElement, { role, depth, shown, inherited }: Plain): void {
  const hand = shown ? cursorOf(element, inherited) : { cursor: inherited.cursor, own: false }
  const inside: Inherited = { ...inherited, cursor: hand.cursor }
  const below = role === "" ? depth : depth + 1
  const isOwn = shown && (isTarget(walk, element, hand.own) || (inherited.parts && isPart(walk, element)))
  if (walk.options.context && isContext(role)) return listContext(walk, element, role, { depth, isOwn, inside })
  if (isOwn) return listTarget(walk, element, role, depth, inside)
  if (
    walk.options.context &&
    (role === "gridcell" || role === "columnheader" || role === "rowheader") &&
    isInGrid(element)
  ) {
    return listCell(walk, element, role, depth, inside)
  }
  // Of a table or list that draws only some of its rows, the list of controls would otherwise not say so.
  if (walk.options.context && role !== "" && sizeOfList(element, role) !== "") {
    const { name } = nameOf(walk.tables, element, role)
    addLine(walk, { element, role, name, depth, states: statesOf(element, role), ref: true })
  }
  visitChildren(walk, element, below, inside, visitListNode)
}

function listControl(walk: Walk, element: PageElement, role: string, depth: number): void {
  const isLeaf = !element.firstElementChild && !element.shadowRoot
  const { name } = nameOf(walk.tables, element, role)
  const start = walk.lines.length
  addLine(walk, { element, role, name, depth, states: statesOf(element, role), ref: true })
  if (addValue(walk, element, role, depth + 1, start) || isLeaf) return
  const { cursor } = cursorOf(element, { silent: true, unseen: false, cursor: "", parts: false })
  visitChildren(walk, element, depth + 1, { silent: true, unseen: false, cursor, parts: false }, visitListNode)
}

/** What tells a reader of a list of controls where they are and what has happened. */
function isContext(role: string): boolean {
  return role === "heading" || role === "alert" || role === "status"
}

function listContext(
  walk: Walk,
  element: PageElement,
  role: string,
  { depth, isOwn, inside }: { depth: number; isOwn: boolean; inside: Inherited },
): void {
  const start = walk.lines.length
  const { name } = nameOf(walk.tables, element, role)
  addLine(walk, { element, role, name, depth, states: statesOf(element, role), ref: isOwn })
  if (name === "") {
    const text = plainWords(tidy(textOf(element, { left: 1000 }), 200))
    if (text !== "") walk.lines[start] += `: ${text}`
    else if (!isOwn) walk.lines.length = start
  }
  visitChildren(walk, element, depth + 1, { ...inside, silent: true }, visitListNode)
}

/** Something plain that takes clicks. Of a menu only its entries are shown: a click on the menu itself means nothing. */
function listTarget(walk: Walk, element: PageElement, role: string, depth: number, inherited: Inherited): void {
  const { words, items, isMenu, hasChart } = lookInside(walk, element)
  const label = tidy(element.getAttribute("aria-label") ?? element.getAttribute("title") ?? "", 200)
  const isContainer = isMenu && label === "" && !element.hasAttribute("tabindex")
  if (!isContainer) {
    // A box of many things is told by its beginning.
    const name = label || (items > 3 ? tidy(words, 80) : words)
    const shownRole = role === "" ? "generic" : role
    addLine(walk, { element, role: shownRole, name, depth, states: statesOf(element, shownRole), ref: true })
  }
  visitChildren(walk, element, depth + 1, { ...inherited, silent: true, parts: isMenu || hasChart }, visitListNode)
}

function isInGrid(element: PageElement): boolean {
  return element.closest("[role=grid],[role=treegrid]") !== null || element.getAttribute("role") === "gridcell"
}

/** A cell of a grid: it is chosen, opened, typed into, though nothing but its role says so. */
function listCell(walk: Walk, element: PageElement, role: string, depth: number, inherited: Inherited): void {
  const { name } = nameOf(walk.tables, element, role)
  addLine(walk, { element, role, name, depth, states: statesOf(element, role), ref: true })
  visitChildren(walk, element, depth + 1, { ...inherited, silent: true }, visitListNode)
}

/** Equal controls are told apart by the words of what each stands in: the "Delete" of "Person 7". */
export function tellApart(walk: Walk): void {
  const most = 100
  const groups = new Map<string, number[]>()
  for (const [index, [, , role, name]] of walk.refs.entries()) {
    const key = `${role} ${name}`
    const group = groups.get(key)
    if (group) group.push(index)
    else groups.set(key, [index])
  }
  for (const group of groups.values()) {
    if (group.length < 2 || group.length > most) continue
    const around = group.map((index, place) => {
      const neighbours = [group[place - 1], group[place + 1]].flatMap((other) =>
        other === undefined ? [] : [walk.elements[other] as PageElement],
      )
      return wordsAround(walk, walk.elements[index] as PageElement, neighbours)
    })
    // Words that all of them stand beside tell none from the others.
    if (new Set(around).size < group.length / 2) continue
    for (const [place, words] of around.entries()) {
      const [line = 0] = walk.refs[group[place] as number] ?? []
      if (words === "") continue
      const before = walk.lines[line] ?? ""
      walk.lines[line] = before.replace("[ref=\0]", () => `[ref=\0] of ${JSON.stringify(plainWords(words))}`)
    }
  }
}

/** The first words of the largest part of the page that holds this one of the equal elements and no other. */
function wordsAround(walk: Walk, element: PageElement, others: readonly PageElement[]): string {
  let item = element
  for (let steps = 0; steps < 20; steps += 1) {
    const { parentElement: parent } = item
    if (!parent || others.some((other) => parent.contains(other))) break
    item = parent
  }
  if (item === element || item.localName === "body") return ""
  const found: PageElement[] = []
  gatherItems(walk, item, found, { left: 60, hasControls: false })
  for (const part of found) {
    if (part === element || element.contains(part) || part.contains(element)) continue
    const words = tidy(textOf(part, { left: 200 }), 40)
    if (words !== "") return words
  }
  return ""
}

export const listFunctions = [
  visitListNode,
  visitListElement,
  listPlain,
  listControl,
  isContext,
  listContext,
  listTarget,
  isInGrid,
  listCell,
  tellApart,
  wordsAround,
]
