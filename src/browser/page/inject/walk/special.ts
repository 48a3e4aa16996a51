// Elements with rules of their own, in both kinds of snapshot: frames, canvases, drawings, controls that are drawn by
// something else. Runs in the page (see agent.ts).
import { numberOf } from "../agent.ts"
import type { PageElement } from "../dom.ts"
import { drawnOn } from "../hit.ts"
import { hasShownChildren, nameOf, textOf, tidy } from "../names.ts"
import { statesOf } from "../roles.ts"
import { addLine, flushText, note, plainWords, type Walk } from "./state.ts"

/** Whether people see the element itself, only something in it, or nothing of it. */
export function seenOf(walk: Walk, element: PageElement): "shown" | "inside" | "nothing" {
  if (element.checkVisibility(walk.asSeen)) return "shown"
  if (element.localName === "area") return drawnOn(element) === element ? "nothing" : "shown"
  // Without visibility of its own an element says nothing, but a child may have turned it on again.
  if (element.checkVisibility()) return element.localName === "slot" ? "shown" : "inside"
  return hasShownChildren(element) ? "shown" : "nothing"
}

export function addFrame(walk: Walk, element: PageElement, depth: number): void {
  flushText(walk)
  const attribute = (name: string) => element.getAttribute(name)
  const name = tidy(attribute("aria-label") ?? attribute("title") ?? attribute("name") ?? "", 200)
  const id = numberOf(walk.agent, element)
  walk.frames.push([walk.lines.length, id, depth + 1])
  const indent = walk.interactive ? "" : "  ".repeat(depth)
  walk.lines.push(`${indent}- iframe${name === "" ? "" : ` ${JSON.stringify(name)}`}`)
}

/** Also one that calls itself an image, if it is large enough to be worked. */
export function isCanvas(element: PageElement, role: string): boolean {
  if (element.localName !== "canvas" || (role !== "" && role !== "img")) return false
  return role === "" || element.getBoundingClientRect().height >= 40
}

/** What a canvas holds for screen readers is what it draws: of a table row by row, without refs, since it is no place to click. */
function addDrawnWords(walk: Walk, canvas: PageElement, depth: number): void {
  const [most, longest] = [50, 200]
  const rows = Array.from(canvas.querySelectorAll("tr,[role=row]"))
  const wordsOf = (element: PageElement) => tidy(element.textContent ?? "", longest)
  const told = rows.map((row) => Array.from(row.children).map(wordsOf).filter(Boolean).join(" | "))
  const lines = (rows.length > 0 ? told : Array.from(canvas.children).map(wordsOf)).filter((words) => words !== "")
  const indent = "  ".repeat(depth)
  for (const words of lines.slice(0, most)) walk.lines.push(`${indent}- text: ${plainWords(words)}`)
  if (lines.length > most) note(walk, depth, `${lines.length - most} more lines of the canvas`)
}

/** Layers of one picture: it is worked by its first, whichever of them is on top. */
function isOver(canvas: PageElement, under: PageElement): boolean {
  const [one, other] = [canvas.getBoundingClientRect(), under.getBoundingClientRect()]
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height
}

/** A canvas is worked at coordinates, so its size is told. Small ones are decoration. */
export function addCanvas(walk: Walk, element: PageElement, depth: number): void {
  const smallest = 40
  const { width, height } = element.getBoundingClientRect()
  flushText(walk)
  if (width < smallest || height < smallest) return
  const name = tidy(element.getAttribute("aria-label") ?? element.getAttribute("title") ?? "", 200)
  const under = walk.elements.at(-1)
  if (name === "" && under?.localName === "canvas" && isOver(element, under)) return
  addLine(walk, { element, role: "canvas", name, depth, states: sizeOf(element), ref: true })
  if (!walk.interactive && element.firstElementChild) addDrawnWords(walk, element, depth + 1)
}

/** What the page calls an element without a role; of a part of an image map that a script works, what stands for it. */
export function givenName(element: PageElement): string {
  const alternative = element.localName === "area" ? element.getAttribute("alt") : null
  return element.getAttribute("aria-label") ?? element.getAttribute("title") ?? alternative ?? ""
}

/** Draws its buttons by itself, so it is worked at points of it; one that only decorates has none. */
export function isPlayer(walk: Walk, element: PageElement): boolean {
  const isVideo = element.localName === "video"
  if (!isVideo && element.localName !== "audio") return false
  return element.hasAttribute("controls") || (isVideo && !walk.interactive)
}

export function addPlayer(walk: Walk, element: PageElement, depth: number): void {
  const smallest = 20
  const { width, height } = element.getBoundingClientRect()
  flushText(walk)
  if (width < smallest || height < smallest) return
  const name = tidy(element.getAttribute("aria-label") ?? element.getAttribute("title") ?? "", 200)
  addLine(walk, { element, role: element.localName, name, depth, states: sizeOf(element), ref: true })
}

/** ` [320x200]`, in the pixels of the page: points of it are said in them. */
export function sizeOf(element: PageElement): string {
  const { width, height } = element.getBoundingClientRect()
  return ` [${Math.round(width)}x${Math.round(height)}]`
}

/** The checkbox or radio of a label that is drawn by the label alone. */
export function drawnControl(label: PageElement): PageElement | null {
  const { control } = label
  if (!control || control.localName !== "input" || !/^(checkbox|radio)$/.test(control.type)) return null
  return control.checkVisibility() ? null : control
}

/** One line for both, with the label's ref: it takes the clicks. */
export function addDrawnControl(walk: Walk, label: PageElement, control: PageElement, depth: number): void {
  const role = control.type
  const name = nameOf(walk.tables, control, role).name || tidy(textOf(label, { left: 1000 }), 200)
  addLine(walk, { element: label, role, name, depth, states: statesOf(walk.tables, control, role), ref: true })
}

/** A drawing with words, or so large that it has parts of its own; other small ones are icons. */
export function isChart(element: PageElement): boolean {
  if (element.localName !== "svg" || element.firstElementChild === null) return false
  const { width, height } = element.getBoundingClientRect()
  return (width >= 64 && height >= 64) || element.querySelector("text,foreignObject") !== null
}

/** Nothing inside it can be read: an image, or a drawing as small as an icon. */
export function isPicture(element: PageElement): boolean {
  return element.localName === "img" || (element.localName === "svg" && !isChart(element))
}

export const specialFunctions = [
  seenOf,
  isPicture,
  addFrame,
  isCanvas,
  addDrawnWords,
  isOver,
  addCanvas,
  givenName,
  isPlayer,
  addPlayer,
  sizeOf,
  drawnControl,
  addDrawnControl,
  isChart,
]
