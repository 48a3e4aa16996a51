// Draws the refs of elements over the page, for a picture, and takes them away again. Runs in the page (see agent.ts).
import { elementOf, type PageAgent } from "./agent.ts"
import type { PageDocument, PageElement } from "./dom.ts"
import { firstBox } from "./reach.ts"

export interface LabelCount {
  shown: number
  skipped: number
}

/** `highlight` draws a thick frame without words. */
export function drawLabels(agent: PageAgent, items: [id: number, text: string][]): LabelCount {
  removeLabels()
  const host = document.createElement("svc-labels")
  host.style.cssText = "all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none"
  const root = host.attachShadow({ mode: "closed" })
  let shown = 0
  for (const [id, text] of items) {
    const element = elementOf(agent, id)
    const box = element ? firstBox(element) : null
    if (!box || box.x + box.width < 0 || box.y + box.height < 0 || box.x > innerWidth || box.y > innerHeight) continue
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
  return { shown, skipped: items.length - shown }
}

export function removeLabels(): void {
  const found = document.querySelectorAll("svc-labels")
  for (let index = 0; index < found.length; index += 1) (found[index] as PageElement).remove()
}

export const labelsFunctions = [drawLabels, removeLabels]

declare const document: PageDocument
declare const innerWidth: number
declare const innerHeight: number
