// Words beside controls, without which nobody knows what the controls are for. Runs in the page (see agent.ts).
import type { PageElement } from "../dom.ts"
import { textOf, tidy } from "../names.ts"
import { hasRole } from "../roles.ts"
import { isBetweenGroups } from "./around.ts"
import { visitChildren } from "./children.ts"
import { addCaption, type Inherited, plainWords, type Walk } from "./state.ts"
import { isTarget } from "./targets.ts"

/** Components draw a label beside fields of their own making, which the browser knows nothing of. */
export function listLabel(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const longest = 60
  const words = tidy(textOf(element, { left: 2 * longest }), 2 * longest)
  const start = walk.lines.length
  visitChildren(walk, element, depth, inherited)
  const isSaid = walk.lines.at(-1)?.includes(JSON.stringify(words)) === true
  const isLabel = walk.lines.length === start && !isSaid && /[\p{L}\p{N}]/u.test(words) && words.length <= longest
  if (isLabel) addCaption(walk, element, words)
}

/** The month between two arrows, the number between minus and plus: without it nobody knows what they do. */
export function addBetween(walk: Walk, element: PageElement): void {
  const longest = 30
  const before = element.parentElement?.firstElementChild === element ? null : walk.elements.at(-1)
  const next = element.nextElementSibling
  if (
    !before ||
    !next ||
    element.localName === "label" ||
    element.childElementCount > 2 ||
    (before.parentElement !== element.parentElement && !isBetweenGroups(before, element, next))
  )
    return
  const text = tidy(textOf(element, { left: 2 * longest }), 2 * longest)
  // A line between two groups of buttons tells nothing.
  if (
    !/[\p{L}\p{N}]/u.test(text) ||
    text.length > longest ||
    element.querySelector("a,button,input,select,[role=option]")
  )
    return
  if (walk.lines.at(-1)?.includes(JSON.stringify(text))) return
  const isNext =
    before.parentElement !== element.parentElement ||
    walk.agent.listening.has(next) ||
    hasRole(walk.tables, next, walk.tables.interactive)
  if (isNext || isTarget(walk, next, false)) walk.lines.push(`- text: ${plainWords(text)}`)
}

export const besideFunctions = [listLabel, addBetween]
