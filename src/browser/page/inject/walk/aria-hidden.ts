// What screen readers are not told of, and people work with the mouse all the same. Runs in the page (see agent.ts).
import type { PageElement } from "../dom.ts"
import { isUndrawn } from "./drawn.ts"
import type { Inherited, Walk } from "./state.ts"

/**
 * The steps of a number, the cross of a tag: kept from screen readers, since keys do the same, and worked by everybody
 * else. What only waits behind an open menu is still in the tab order; a box as large as a page is no control.
 */
export function isWorkedAnyway(walk: Walk, element: PageElement, hidden: string): boolean {
  const isButton = element.localName === "button"
  if (hidden !== "aria-hidden" || (!isButton && !walk.agent.listening.has(element))) return false
  if (isButton && element.getAttribute("tabindex") !== "-1" && !element.hasAttribute("disabled")) return false
  const [smallest, largest] = [4, 64]
  const { width, height } = element.getBoundingClientRect()
  if (width < smallest || height < smallest || isUndrawn(element) || element.closest("[aria-expanded]")) return false
  return isButton || (width <= largest && height <= largest && !isArrow(element))
}

/** The arrow of a box that opens: the field beside it says and does the same. */
function isArrow(element: PageElement): boolean {
  const most = 3
  const { parentElement: parent } = element
  const box = parent?.parentElement ?? null
  const isNear = (around: PageElement | null) => Boolean(around?.querySelector("[aria-expanded]"))
  return isNear(parent) || (box !== null && box.childElementCount <= most && isNear(box))
}

/** Screen readers are told of an entry alone whether it is ticked; people tick it at the box that it holds. */
export function isItemsTick(element: PageElement, { whole, control }: Inherited): boolean {
  const isInEntry = whole !== undefined || control?.getAttribute("role") === "treeitem"
  return isInEntry && element.getAttribute("role") === "checkbox" && !element.hasAttribute("inert")
}

export const ariaHiddenFunctions = [isWorkedAnyway, isArrow, isItemsTick]
