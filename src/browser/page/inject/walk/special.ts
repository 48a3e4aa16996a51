// Elements with rules of their own, in both kinds of snapshot: frames, canvases, drawings, controls that are drawn by
// something else. Runs in the page (see agent.ts).
import { numberOf } from "../agent.ts"
import type { PageElement } from "../dom.ts"
import { tidy } from "../names.ts"
import { addLine, flushText, type Walk } from "./state.ts"

export function addFrame(walk: Walk, element: PageElement, depth: number): void {
  flushText(walk)
  const attribute = (name: string) => element.getAttribute(name)
  const name = tidy(attribute("aria-label") ?? attribute("title") ?? attribute("name") ?? "", 200)
  const id = numberOf(walk.agent, element)
  walk.frames.push([walk.lines.length, id, depth + 1])
  const indent = walk.interactive ? "" : "  ".repeat(depth)
  walk.lines.push(`${indent}- iframe${name === "" ? "" : ` ${JSON.stringify(name)}`}`)
}

/** A canvas is worked at coordinates, so its size is told. Small ones are decoration. */
export function addCanvas(walk: Walk, element: PageElement, depth: number): void {
  const smallest = 40
  const { width, height } = element.getBoundingClientRect()
  flushText(walk)
  if (width < smallest || height < smallest) return
  const name = tidy(element.getAttribute("aria-label") ?? element.getAttribute("title") ?? "", 200)
  const size = ` [${Math.round(width)}x${Math.round(height)}]`
  addLine(walk, { element, role: "canvas", name, depth, states: size, ref: true })
}

/** The checkbox or radio of a label that is drawn by the label alone. */
export function drawnControl(label: PageElement): PageElement | null {
  const { control } = label
  if (!control || control.localName !== "input" || !/^(checkbox|radio)$/.test(control.type)) return null
  return control.checkVisibility() ? null : control
}

/** A drawing that is large enough to have words and parts of its own; small ones are icons. */
export function isChart(element: PageElement): boolean {
  if (element.localName !== "svg") return false
  const { width, height } = element.getBoundingClientRect()
  return width >= 64 && height >= 64 && element.firstElementChild !== null
}

/** Nothing inside it can be read: an image, or a drawing as small as an icon. */
export function isPicture(element: PageElement): boolean {
  return element.localName === "img" || (element.localName === "svg" && !isChart(element))
}

export const specialFunctions = [isPicture, addFrame, addCanvas, drawnControl, isChart]
