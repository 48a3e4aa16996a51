// Fields that only catch keys for what draws the text beside them: editors of code, terminals. Runs in the page (see agent.ts).
import { rootOf } from "./agent.ts"
import type { PageElement } from "./dom.ts"
import { isTiny } from "./walk/hints.ts"

export function isEditable(element: PageElement): boolean {
  if (element.localName === "textarea") return !element.readOnly
  if (element.localName === "input") {
    return !element.readOnly && !/^(button|submit|reset|image|checkbox|radio|file|hidden)$/.test(element.type)
  }
  return element.isContentEditable || Boolean(element.editContext)
}

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
function catcherFor(element: PageElement): PageElement | null {
  const highest = 10
  let around: PageElement | null = element.parentElement
  for (let steps = 0; around && around.localName !== "body" && steps < highest; steps += 1) {
    const [field, other] = Array.from(around.querySelectorAll("input:not([type=hidden]),textarea,select"))
    if (field) return !other && isCatcher(field) ? field : null
    around = around.parentElement
  }
  return null
}

/** Where text goes that is typed into something that is no field itself. */
export function fieldFor(element: PageElement): PageElement | null {
  return catcherFor(element) ?? fieldInside(element)
}

/** The one field of a box that is drawn around it: who types into the box means that. */
function fieldInside(element: PageElement): PageElement | null {
  if (/^(a|button|input|select|textarea)$/.test(element.localName)) return null
  const found = (rootOf(element) ?? element).querySelectorAll("input,textarea,[contenteditable]")
  const fields = Array.from(found).filter((field) => isEditable(field) && field.checkVisibility())
  return fields.length === 1 ? (fields[0] as PageElement) : null
}

export const catcherFunctions = [isEditable, isHelper, isCatcher, catcherFor, fieldFor, fieldInside]

declare const getComputedStyle: (element: PageElement) => { opacity: string }
