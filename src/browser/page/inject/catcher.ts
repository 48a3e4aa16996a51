// Fields that only catch keys for what draws the text beside them: editors of code, terminals. Runs in the page (see agent.ts).
import type { PageElement } from "./dom.ts"
import { isTiny } from "./walk/hints.ts"

/** A field that only catches keys for something else: people do not see it. */
export function isHelper(element: PageElement): boolean {
  const { x, y, width, height } = element.getBoundingClientRect()
  return width <= 2 || height <= 2 || x + width < 0 || y + height < 0 || getComputedStyle(element).opacity === "0"
}

/** The field in which an editor of code takes keys. To a terminal, Control+A is a key like others: it has no such field. */
export function isCatcher(element: PageElement): boolean {
  if (element.localName !== "textarea" || element.getAttribute("autocorrect") !== "off") return false
  return (isHelper(element) || isTiny(element)) && element.closest("[class*=term i]") === null
}

/** That of the editor in which the element is drawn. */
export function catcherFor(element: PageElement): PageElement | null {
  const highest = 10
  let around: PageElement | null = element.parentElement
  for (let steps = 0; around && around.localName !== "body" && steps < highest; steps += 1) {
    const [field, other] = Array.from(around.querySelectorAll("input:not([type=hidden]),textarea,select"))
    if (field) return !other && isCatcher(field) ? field : null
    around = around.parentElement
  }
  return null
}

export const catcherFunctions = [isHelper, isCatcher, catcherFor]

declare const getComputedStyle: (element: PageElement) => { opacity: string }
