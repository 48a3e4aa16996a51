// Draws the refs of elements over the page, for a picture, and takes them away again. Runs in the page (see agent.ts).
import { elementOf, type PageAgent } from "./agent.ts"
import type { PageDocument, PageElement } from "./dom.ts"
import { firstBox, placeInside } from "./boxes.ts"

export interface LabelRequest {
  items: [id: number, text: string][]
  /** No more than so many are drawn. */
  most: number
  /** What can be seen of this document, when it is in a frame. */
  within?: Visible | undefined
}

export interface Visible {
  x: number
  y: number
  width: number
  height: number
}

/** Draws a frame and a word at each element that can be seen; an empty word stands for a thick frame. Answers how many. */
export function drawLabels(agent: PageAgent, { items, most, within }: LabelRequest): number {
  removeLabels()
  const view = within ?? { x: 0, y: 0, width: innerWidth, height: innerHeight }
  const host = document.createElement("svc-labels")
  host.style.cssText = "all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none"
  const root = host.attachShadow({ mode: "closed" })
  let shown = 0
  for (const [id, text] of items) {
    const element = elementOf(agent, id)
    const box = element ? firstBox(element) : null
    if (!box || box.x + box.width <= view.x || box.y + box.height <= view.y) continue
    if (box.x >= view.x + view.width || box.y >= view.y + view.height) continue
    if (shown === most) break
    shown += 1
    const frame = document.createElement("div")
    frame.style.cssText = `position: fixed; left: ${box.x - 1}px; top: ${box.y - 1}px; width: ${box.width}px; height: ${box.height}px; border: ${text === "" ? 4 : 2}px solid #ff4500; box-sizing: border-box`
    root.append(frame)
    if (text === "") continue
    const label = document.createElement("div")
    label.textContent = text
    label.style.cssText = `position: fixed; left: ${Math.max(0, box.x)}px; top: ${Math.max(0, box.y - 14)}px; background: #ff4500; color: #fff; font: bold 11px/14px sans-serif; padding: 0 3px; white-space: nowrap`
    root.append(label)
  }
  if (shown > 0) document.documentElement.append(host)
  return shown
}

/** The box of each element in its own document's view; null where there is none. */
export function boxesOf(agent: PageAgent, ids: number[]): (Visible | null)[] {
  return ids.map((id) => {
    const element = elementOf(agent, id)
    const box = element ? firstBox(element) : null
    return box && { x: box.x, y: box.y, width: box.width, height: box.height }
  })
}

/** The inner box of a frame element, in the view of the document that holds it, and how large its pixels are there. */
export function frameBox(agent: PageAgent, id: number): (Visible & { scale: number }) | null {
  const element = elementOf(agent, id)
  if (!element) return null
  const { x, y } = placeInside(element, { x: 0, y: 0 })
  const outer = element.getBoundingClientRect()
  const scale = element.offsetWidth > 0 ? outer.width / element.offsetWidth : 1
  return { x, y, width: element.clientWidth * scale, height: element.clientHeight * scale, scale }
}

export function removeLabels(): void {
  const found = document.querySelectorAll("svc-labels")
  for (let index = 0; index < found.length; index += 1) (found[index] as PageElement).remove()
}

export const labelsFunctions = [drawLabels, removeLabels, frameBox, boxesOf]

declare const document: PageDocument
declare const innerWidth: number
declare const innerHeight: number
