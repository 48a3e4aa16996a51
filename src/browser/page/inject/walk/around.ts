// Boxes around controls and beside them, for the list of controls: cells, the signs in them, pictures that are made of boxes,
// bars of tools. Runs in the page.
import type { PageElement } from "../dom.ts"
import { isCutAway, nameOf } from "../names.ts"
import { roleOf, statesOf } from "../roles.ts"
import { visitChildren } from "./children.ts"
import { isAtMiddle } from "./drawn.ts"
import { addLine, type Inherited, plainWords, type Walk } from "./state.ts"
import type { Inside } from "./targets.ts"

/** A picture that is made of boxes which take the mouse, such as an arrow of its lines: one thing to people. */
export function listPicture(walk: Walk, element: PageElement, depth: number, inside: Inherited): void {
  const [lines, refs, frames] = [walk.lines.length, walk.refs.length, walk.frames.length]
  visitChildren(walk, element, depth + 1, inside)
  const { name } = nameOf(walk.tables, element, "img")
  const parts = walk.refs.slice(refs)
  const areAll = walk.lines.length - lines === parts.length && walk.frames.length === frames
  if (name === "" || parts.length < 2 || !areAll || parts.some(([, , role, own]) => role !== "generic" || own !== ""))
    return
  // The box around them may have no size.
  const part = walk.elements[refs] as PageElement
  walk.lines.length = lines
  walk.refs.length = refs
  walk.elements.length = refs
  addLine(walk, { element: part, role: "img", name, depth, states: "", ref: true })
}

/**
 * The sign in a header that opens a filter or a menu, the arrow in the first cell of a row that opens its branch: tables
 * listen for them as a whole, so that nothing but their look and what their makers call them tells them from the cell.
 */
export function addSign(walk: Walk, cell: PageElement, role: string, depth: number): void {
  const [most, smallest] = [12, 6]
  const isHeader = role === "columnheader"
  if ((!isHeader && !/^(gridcell|cell|rowheader)$/.test(role)) || !cell.firstElementChild) return
  const row = isHeader ? null : cell.closest("tr,[role=row]")
  const expanded = row?.hasAttribute("aria-expanded")
    ? /\[(?:expanded|collapsed)\]/.exec(statesOf(walk.tables, row, "row"))
    : null
  if (!isHeader && !expanded) return
  const words = isHeader
    ? /filter|funnel|menu|search|ellipsis|kebab/i
    : /expand|collaps|toggle|open|close|arrow|caret|chevron|twist|plus|minus/i
  const sign = Array.from(cell.querySelectorAll("[class]"))
    .slice(0, most)
    .find((part) => {
      if (!words.test(part.getAttribute("class") ?? "") || (part.textContent ?? "").trim() !== "") return false
      const { width, height } = part.getBoundingClientRect()
      const isSmall = width >= smallest && height >= smallest && width <= 10 * smallest && height <= 10 * smallest
      return isSmall && part.checkVisibility(walk.asSeen)
    })
  if (!sign) return
  const states = expanded ? ` ${expanded[0]}` : ""
  addLine(walk, { element: sign, role: "generic", name: "", depth, states, ref: true })
}

/** A cell that shows nothing but one control in its middle, such as a colour or a box to tick: the control stands for both. */
export function dropCell(walk: Walk, cell: PageElement, role: string, start: number): void {
  if (!/^(gridcell|cell)$/.test(role) || walk.lines.length !== start + 1 || cell.hasAttribute("draggable")) return
  const [outer, inner] = walk.refs.slice(-2)
  const control = walk.elements.at(-1)
  if (outer?.[0] !== start - 1 || inner?.[0] !== start || walk.elements.at(-2) !== cell || !control) return
  if (!isAtMiddle(control, cell)) return
  walk.lines.splice(start - 1, 1)
  walk.refs.splice(-2, 1)
  walk.elements.splice(-2, 1)
  inner[0] = start - 1
}

/** In a bar of tools, where the buttons stand in groups: the month between those that turn the pages and those of the views. */
export function isBetweenGroups(before: PageElement, element: PageElement, next: PageElement): boolean {
  const isButton = (part: PageElement | null) =>
    part !== null && (part.localName === "button" || part.getAttribute("role") === "button")
  const group = before.parentElement
  if (group !== element.previousElementSibling || !isButton(before)) return false
  if (element.querySelector("[role=button],[tabindex]")) return false
  return next.localName === group?.localName && isButton(next.firstElementChild)
}

/** A box that shows under the mouse what the one control in it is called: a click on it is one on the control. */
export function isTipOfControl(walk: Walk, role: string, tip: string, { controls }: Inside): boolean {
  const [control, other] = controls
  if (role !== "" || !control || other) return false
  const { name } = nameOf(walk.tables, control, roleOf(walk.tables, control))
  return name !== "" && tip.includes(name)
}

/** A menu that is closed to no height, with the field in it for which it opens. */
export function isShut(element: PageElement): boolean {
  const { width, height } = element.getBoundingClientRect()
  if (width > 2 && height > 2) return false
  return isCutAway(element) || (element.childElementCount > 0 && Array.from(element.children).every(isCutAway))
}

/** The entry of a menu of styles that is drawn as the heading it makes: the control says it already. */
export function isSaidAround(walk: Walk, name: string, { control }: Inherited): boolean {
  const line = control ? (walk.lines.at(-1) ?? "") : ""
  return name !== "" && (line.includes(` ${JSON.stringify(name)} [ref=`) || line.endsWith(`: ${plainWords(name)}`))
}

export const aroundFunctions = [listPicture, addSign, dropCell, isBetweenGroups, isTipOfControl, isShut, isSaidAround]
