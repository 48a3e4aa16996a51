// Cells of tables and grids: which of them say what other lines say. Runs in the page (see agent.ts).
import type { PageElement } from "../dom.ts"
import { nameOf, textOf } from "../names.ts"
import { roleOf, statesOf } from "../roles.ts"
import type { Walk } from "./state.ts"
import type { Inside } from "./targets.ts"

/** Signs alone, such as what draws a box or an arrow, say nothing. */
export function hasLetters(words: string): boolean {
  return /[\p{L}\p{N}]/u.test(words)
}

/** Words at the head of a column, and a sign beside them for the order that a click gives: one thing to click. */
export function isHead(role: string, { own, hasControls }: Inside): boolean {
  if (role !== "columnheader" || hasControls) return false
  return own.filter((item) => hasLetters(item.textContent ?? "")).length <= 1
}

/** A row without a name or a state, whose cells have lines; a cell that is called as the one control in it. */
export function isToldInside(
  walk: Walk,
  element: PageElement,
  role: string,
  { label, inside }: { label: string; inside: Inside },
): boolean {
  if (!/^(row|cell|gridcell|columnheader|rowheader)$/.test(role)) return false
  // The corner of a table.
  if (role === "columnheader" && label === "" && inside.items === 0 && !inside.hasControls) return true
  if (role === "row") {
    const cells = isInGrid(element) ? "[role=gridcell],[role=columnheader]" : "[role=gridcell]"
    const isBare = label === "" && !element.hasAttribute("draggable") && statesOf(walk.tables, element, role) === ""
    return walk.options.context && isBare && element.querySelector(cells) !== null
  }
  if (isWrapper(walk, element, label, inside)) return true
  const [control, other] = inside.controls
  if (!control || other || inside.own.length > 0) return false
  return nameOf(walk.tables, control, roleOf(walk.tables, control)).name === label
}

/**
 * A cell around one control, or the one cell of a row that has a line: each word in it stands in the lines of these. What
 * else is drawn are signs, such as that of a box to tick.
 */
function isWrapper(walk: Walk, cell: PageElement, label: string, { controls }: Inside): boolean {
  if (label === "" || cell.hasAttribute("aria-label") || cell.hasAttribute("aria-labelledby")) return false
  const row = cell.parentElement?.childElementCount === 1 ? cell.parentElement : null
  const isOnly = row !== null && walk.elements.at(-1) === row
  if (controls.length === 0 || (controls.length > 1 && !isOnly)) return false
  const said = isOnly ? [nameOf(walk.tables, row, "row").name] : []
  for (const control of controls)
    said.push(nameOf(walk.tables, control, roleOf(walk.tables, control)).name, textOf(control, { left: 200 }))
  const known = said.join(" ")
  return label.split(" ").every((word) => !hasLetters(word) || known.includes(word))
}

export function isInGrid(element: PageElement): boolean {
  return element.closest("[role=grid],[role=treegrid]") !== null || element.getAttribute("role") === "gridcell"
}

export const cellsFunctions = [hasLetters, isHead, isToldInside, isWrapper, isInGrid]
