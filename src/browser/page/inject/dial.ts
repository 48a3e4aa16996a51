// Sliders and the like that a page makes of plain boxes: whether an element is one, and what it stands at. Runs in the page
// (see agent.ts).
import { elementOf, internalsOf, type PageAgent } from "./agent.ts"
import type { PageElement } from "./dom.ts"
import { ariaOf } from "./internals.ts"

/** `null` where the page does not tell. */
export type Dial = { kind: "gone" } | { kind: "dial"; now: number | null; min: number | null; max: number | null }

/** Takes a number by keys, and no text. */
export function isDial(element: PageElement): boolean {
  const role = element.getAttribute("role") ?? internalsOf(element)?.role ?? ""
  // A divider between two parts of the page, where it is one to move.
  const isDivider = /^(separator|scrollbar)$/.test(role) && Number(element.getAttribute("tabindex") ?? -1) >= 0
  return (isDivider || /^(slider|spinbutton)$/.test(role)) && ariaOf(element, "valuenow") !== null
}

export function readDial(agent: PageAgent, id: number): Dial {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  const read = (name: string) => {
    const number = Number.parseFloat(ariaOf(element, name) ?? "")
    return Number.isFinite(number) ? number : null
  }
  return { kind: "dial", now: read("valuenow"), min: read("valuemin"), max: read("valuemax") }
}

export const dialFunctions = [isDial, readDial]
