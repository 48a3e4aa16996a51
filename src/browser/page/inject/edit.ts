// Puts the text cursor where typing must go, and sets values that cannot be typed. Runs in the page (see agent.ts).
import { elementOf, type PageAgent, numberOf } from "./agent.ts"
import type { PageDocument, PageElement, PageRoot, PageWindow } from "./dom.ts"

export type EditState = { kind: "focused" | "keys" | "set" | "gone" | "not-editable" | "bad-value" }

/**
 * Focuses the element; with `replace` all its text is selected, so that typing replaces it.
 * Dates, colours and ranges have no text to type over: `value` is set at once, with the events that typing would give.
 */
export function editElement(
  agent: PageAgent,
  id: number,
  options: { replace: boolean; value: string | null },
): EditState {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  element.focus({ preventScroll: true })
  if (!hasFocus(element)) return { kind: "not-editable" }
  const direct =
    element.localName === "input" && /^(color|date|datetime-local|month|range|time|week)$/.test(element.type)
  if (direct && options.value !== null) return setValue(element, options.value)
  if (!options.replace) return { kind: "focused" }
  // Its text is not in the document: only the editor itself can select it.
  if (element.editContext) return { kind: "keys" }
  if (element.localName === "input" || element.localName === "textarea") element.select()
  else {
    const range = element.ownerDocument.createRange()
    range.selectNodeContents(element)
    const selection = getSelection()
    selection?.removeAllRanges()
    selection?.addRange(range)
  }
  return { kind: "focused" }
}

function hasFocus(element: PageElement): boolean {
  const root: PageRoot = element.getRootNode()
  return root.activeElement === element || element.matches(":focus-within") || document.activeElement === element
}

function setValue(element: PageElement, value: string): EditState {
  element.value = value.trim()
  if (element.value !== value.trim() && element.type !== "color") return { kind: "bad-value" }
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }))
  element.dispatchEvent(new Event("change", { bubbles: true }))
  return { kind: "set" }
}

/** The element's box in its own document, scrolled into view; for pictures of it. */
export function boxOf(
  agent: PageAgent,
  id: number,
): { kind: "gone" } | { kind: "box"; x: number; y: number; width: number; height: number } {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" })
  const { x, y, width, height } = element.getBoundingClientRect()
  return { kind: "box", x, y, width, height }
}

/** The number of the one element that a selector fits; elements that were shown keep theirs. */
export function matchOf(agent: PageAgent, selector: string): number | "none" | "several" | "bad" {
  try {
    const found = document.querySelectorAll(selector)
    if (found.length !== 1) return found.length === 0 ? "none" : "several"
    const element = found[0] as PageElement
    return numberOf(agent, element)
  } catch {
    return "bad"
  }
}

export const editFunctions = [editElement, hasFocus, setValue, boxOf, matchOf]

declare const document: PageDocument
declare const getSelection: PageWindow["getSelection"]
declare const Event: new (type: string, options: object) => object
