// Where elements are drawn that have several boxes, or none of their own: parts of image maps, lines, what is in a frame.
// Runs in the page (see agent.ts).
import type { Box, PageDocument, PageElement, PageWindow } from "./dom.ts"
import { drawnIn, drawnOn, elementAt, isHit } from "./hit.ts"

export function firstBox(element: PageElement): Box | null {
  if (element.localName === "area") return boxOfArea(element)
  const boxes = element.getClientRects()
  for (let index = 0; index < boxes.length; index += 1) {
    const box = boxes[index] as Box
    if (box.width > 0 && box.height > 0) return box
  }
  return null
}

/** The box around a shape of an image map, whose numbers are pixels from the corner of its image. */
function boxOfArea(area: PageElement): Box | null {
  const image = drawnOn(area)
  if (image === area) return null
  const outer = image.getBoundingClientRect()
  const numbers = (area.getAttribute("coords") ?? "").match(/-?[\d.]+/g)?.map(Number) ?? []
  const shape = (area.getAttribute("shape") ?? "").toLowerCase()
  if (shape === "default") return outer
  const [x = 0, y = 0, radius = 0] = numbers
  const isCircle = shape.startsWith("circ")
  const across = isCircle ? [x - radius, x + radius] : numbers.filter((_, index) => index % 2 === 0)
  const down = isCircle ? [y - radius, y + radius] : numbers.filter((_, index) => index % 2 === 1)
  const scaleX = image.offsetWidth > 0 ? outer.width / image.offsetWidth : 1
  const scaleY = image.offsetHeight > 0 ? outer.height / image.offsetHeight : 1
  const [left, top] = [Math.min(...across), Math.min(...down)]
  const width = (Math.max(...across) - left) * scaleX
  const height = (Math.max(...down) - top) * scaleY
  return width > 0 && height > 0 ? { x: outer.x + left * scaleX, y: outer.y + top * scaleY, width, height } : null
}

/** Of an image map the image, and then the part of it: the image may be larger than what it is seen through. */
export function bringIntoView(element: PageElement, block: string): void {
  const image = drawnOn(element)
  image.scrollIntoView({ block, inline: "center", behavior: "instant" })
  if (image === element) return
  const middle = () => {
    const box = firstBox(element) ?? image.getBoundingClientRect()
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  }
  for (let around = drawnIn(image); around && around !== document.documentElement; around = drawnIn(around)) {
    const part = around as PageElement
    if (around.nodeType !== 1 || part.localName === "body") continue
    const view = part.getBoundingClientRect()
    const { x, y } = middle()
    if (x < view.x || x >= view.x + view.width) part.scrollLeft += x - (view.x + view.width / 2)
    if (y < view.y || y >= view.y + view.height) part.scrollTop += y - (view.y + view.height / 2)
  }
  const { x, y } = middle()
  if (x >= 0 && y >= 0 && x < innerWidth && y < innerHeight) return
  scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: "instant" })
}

/** A line, an outline: nothing is drawn in the middle of its box. */
export function pointOnLine(element: PageElement): { x: number; y: number } | null {
  const matrix = element.getPointAtLength && element.getScreenCTM?.()
  const length = matrix ? (element.getTotalLength?.() ?? 0) : 0
  for (const share of length > 0 ? [0.5, 0.25, 0.75, 0.1, 0.9] : []) {
    const on = element.getPointAtLength?.(length * share)
    if (!on || !matrix) return null
    const x = matrix.a * on.x + matrix.c * on.y + matrix.e
    const y = matrix.b * on.x + matrix.d * on.y + matrix.f
    const hit = elementAt(x, y)
    if (hit && isHit(element, hit)) return { x, y }
  }
  return null
}

/** A corner of a country, a ring: the browser knows which points of the box belong to the shape. */
export function pointInShape(element: PageElement, box: Box): { x: number; y: number } | null {
  const steps = element.localName === "area" ? 24 : 0
  for (let place = 0; place < steps * steps; place += 1) {
    const x = box.x + (box.width * ((place % steps) + 0.5)) / steps
    const y = box.y + (box.height * (Math.floor(place / steps) + 0.5)) / steps
    const hit = elementAt(x, y)
    if (hit && isHit(element, hit)) return { x, y }
  }
  return null
}

/** The point in the view of the document that holds the frame, whether it can be seen there or not. */
export function placeInside(frame: PageElement, point: { x: number; y: number }): { x: number; y: number } {
  const box = frame.getBoundingClientRect()
  const style = getComputedStyle(frame)
  const scaleX = frame.offsetWidth > 0 ? box.width / frame.offsetWidth : 1
  const scaleY = frame.offsetHeight > 0 ? box.height / frame.offsetHeight : 1
  return {
    x: box.x + (frame.clientLeft + Number.parseFloat(style.paddingLeft) + point.x) * scaleX,
    y: box.y + (frame.clientTop + Number.parseFloat(style.paddingTop) + point.y) * scaleY,
  }
}

export const boxesFunctions = [firstBox, boxOfArea, bringIntoView, pointOnLine, pointInShape, placeInside]

declare const document: PageDocument
declare const innerWidth: number
declare const innerHeight: number
declare const getComputedStyle: PageWindow["getComputedStyle"]
declare const scrollBy: PageWindow["scrollBy"]
