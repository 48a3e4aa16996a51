// What lies over a canvas, or over the middle of a thing, and takes the mouse for it. Runs in the page (see agent.ts).
import type { PageElement, PageStyle } from "./dom.ts"

/** No button, link or field of the browser's or by its role. */
export function isPlain(element: PageElement): boolean {
  if (/^(a|area|button|input|select|textarea|label|summary|option|iframe)$/.test(element.localName)) return false
  const role = element.getAttribute("role") ?? ""
  return !/^(button|link|checkbox|radio|switch|tab|option|textbox|searchbox|combobox|menuitem\w*|treeitem)$/.test(role)
}

/** What takes the mouse for a canvas: its upper layer, or an empty pane of the same component over all of it. */
export function isPaneOver(canvas: PageElement, pane: PageElement): boolean {
  if (canvas.localName !== "canvas" || !isPlain(pane)) return false
  // One that only draws: the mouse works what it lies over.
  if (getComputedStyle(canvas).pointerEvents === "none") return canvas.parentElement?.contains(pane) === true
  const [box, over] = [canvas.getBoundingClientRect(), pane.getBoundingClientRect()]
  const slack = 2
  const isWhole =
    over.x <= box.x + slack &&
    over.y <= box.y + slack &&
    over.x + over.width >= box.x + box.width - slack &&
    over.y + over.height >= box.y + box.height - slack
  if (!isWhole) return false
  // A backdrop of the page is neither as small as the canvas nor without a colour.
  const mostAround = 40
  let around = canvas.parentElement
  for (let steps = 0; around && !around.contains(pane) && steps < 4; steps += 1) around = around.parentElement
  if (!around?.contains(pane) || around.localName === "body" || around.localName === "html") return false
  const { width, height } = around.getBoundingClientRect()
  if (width > box.width + mostAround || height > box.height + mostAround) return false
  if (pane.localName === "canvas") return true
  return (pane.textContent ?? "").trim() === "" && getComputedStyle(pane).backgroundColor === "rgba(0, 0, 0, 0)"
}

/** A part that is pulled to make the whole larger, say, and may lie over its middle. */
export function isHandle(part: PageElement, whole: PageElement): boolean {
  if (part === whole) return false
  const { cursor } = getComputedStyle(part)
  return cursor.endsWith("-resize") && getComputedStyle(whole).cursor !== cursor
}

export const panesFunctions = [isPlain, isPaneOver, isHandle]

declare const getComputedStyle: (element: PageElement) => PageStyle
