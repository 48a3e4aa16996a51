// Sliders and the like that a page makes of plain boxes: whether an element is one, and what it stands at. Runs in the page
// (see agent.ts).
import { elementOf, type PageAgent } from "./agent.ts"
import type { PageElement } from "./dom.ts"

/** `null` where the page does not tell. */
export type Dial = { kind: "gone" } | { kind: "dial"; now: number | null; min: number | null; max: number | null }

/** Takes a number by keys, and no text. */
export function isDial(element: PageElement): boolean {
  const role = element.getAttribute("role") ?? ""
  // A divider between two parts of the page, where it is one to move.
  const isDivider = /^(separator|scrollbar)$/.test(role) && Number(element.getAttribute("tabindex") ?? -1) >= 0
  return (isDivider || /^(slider|spinbutton)$/.test(role)) && element.hasAttribute("aria-valuenow")
}

export function readDial(agent: PageAgent, id: number): Dial {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  const read = (name: string) => {
    const number = Number.parseFloat(element.getAttribute(name) ?? "")
    return Number.isFinite(number) ? number : null
  }
  return { kind: "dial", now: read("aria-valuenow"), min: read("aria-valuemin"), max: read("aria-valuemax") }
}

export const dialFunctions = [isDial, readDial]
