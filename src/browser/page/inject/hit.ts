// What lies at a point, and whether a click there counts for an element. Runs in the page (see agent.ts).
import { rootOf } from "./agent.ts"
import type { PageDocument, PageElement, PageNode, PageRoot } from "./dom.ts"

export function elementAt(x: number, y: number): PageElement | null {
  let root: PageRoot = document
  for (let found: PageElement | null = null; ;) {
    const hit = root.elementFromPoint(x, y)
    if (!hit || hit === found) return found
    found = hit
    const inner = rootOf(hit)
    if (!inner) return found
    root = inner
  }
}

/** Of a part of an image map the image that it is drawn on: the part has no box of its own. Of all else the element itself. */
export function drawnOn(element: PageElement): PageElement {
  const map = element.localName === "area" ? element.closest("map") : null
  if (!map) return element
  const names = [map.getAttribute("name"), map.id].filter(Boolean)
  const images = map.getRootNode().querySelectorAll("img[usemap]")
  for (let index = 0; index < images.length; index += 1) {
    const image = images[index] as PageElement
    const reference = image.getAttribute("usemap") ?? ""
    if (
      names.includes(reference.slice(reference.indexOf("#") + 1)) &&
      image.checkVisibility({ visibilityProperty: true })
    )
      return image
  }
  return element
}

/** Whether a click on `hit` counts as one on `target`: it is inside, or its label, or part of the image map over it. */
export function isHit(target: PageElement, hit: PageElement): boolean {
  if (isInside(hit, target) || isInside(drawnOn(hit), target)) return true
  const label = hit.closest("label")
  return label !== null && label.control === target
}

/** Inside in the sense of what is drawn: through slots and out of shadow roots. */
export function isInside(node: PageNode, container: PageElement): boolean {
  for (let current: PageNode | null = node; current; current = drawnIn(current)) if (current === container) return true
  return false
}

/** What a node is drawn in: the slot that it is given to, its parent, the host of its shadow root. */
export function drawnIn(node: PageNode): PageNode | null {
  const element = node as PageElement
  return element.assignedSlot ?? element.parentNode ?? element.host ?? null
}

/** For an error message: the tag and, when it is a plain word, the id. Never the page's free text. */
export function describe(element: PageElement): string {
  const id = /^[\w-]{1,40}$/.test(element.id) ? ` id="${element.id}"` : ""
  return `<${element.localName.replace(/[^\w-]/g, "")}${id}>`
}

/**
 * The title of the document, or "" where the browser must be asked: it cuts what is too long, and is not fooled by a form
 * or picture of the name `title`, which stands in the place of the document's own.
 */
export function titleOf(): string {
  const longest = 1_000
  const title: unknown = document.title
  return typeof title === "string" && title.length <= longest ? title : ""
}

export const hitFunctions = [elementAt, drawnOn, isHit, isInside, drawnIn, describe, titleOf]

declare const document: PageDocument
