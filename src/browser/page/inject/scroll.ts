// Scrolls what an element stands in, or the page, and tells whether anything moved. Runs in the page (see agent.ts).
import { elementOf, type PageAgent, rootOf } from "./agent.ts"
import type { PageDocument, PageElement, PageNode, PageStyle } from "./dom.ts"
import { isEditable } from "./catcher.ts"
import { nextFrame } from "./reach.ts"
import { focusedElement } from "./walk/walk.ts"

export interface ScrollOptions {
  /** Number of an element; 0 for the page. */
  id: number
  direction: "down" | "up" | "left" | "right"
  /** Views far; null where `pixels` or `to` says it. */
  pages: number | null
  pixels: number | null
  to: "start" | "end" | null
}

export type Scrolled = { kind: "gone" } | { kind: "scrolled"; moved: boolean }

export async function scrollBox(agent: PageAgent, options: ScrollOptions): Promise<Scrolled> {
  const element = options.id === 0 ? null : elementOf(agent, options.id)
  if (options.id !== 0 && !element) return { kind: "gone" }
  const across = options.direction === "left" || options.direction === "right"
  const box = scrollableAround(element, across)
  const view = across ? box.clientWidth : box.clientHeight
  const sign = options.direction === "up" || options.direction === "left" ? -1 : 1
  const before = across ? box.scrollLeft : box.scrollTop
  const whole = across ? box.scrollWidth : box.scrollHeight
  const by = sign * (options.pixels ?? view * (options.pages ?? 0.8))
  const goal = options.to === null ? before + by : options.to === "start" ? 0 : whole
  if (across) box.scrollLeft = goal
  else box.scrollTop = goal
  // Lists that draw only what is in view, or bring more, do so in answer to the event, with the next frames.
  await nextFrame()
  await nextFrame()
  const after = across ? box.scrollLeft : box.scrollTop
  return { kind: "scrolled", moved: after !== before }
}

/**
 * Resolves when what the keys scroll has come to rest: a key that comes while the browser still moves the page there is
 * thrown away. A field with the focus keeps the keys for itself.
 */
export async function scrollRest(direction: "down" | "up"): Promise<void> {
  const focused = focusedElement()
  if (focused && isEditable(focused)) return
  const box = scrollableAround(focused?.localName === "body" ? null : focused, false)
  const [mostFrames, stillFrames, framesToBegin] = [60, 3, 10]
  const start = box.scrollTop
  const left = direction === "up" ? start : box.scrollHeight - box.clientHeight - start
  let before = start
  for (let frames = 0, still = 0; frames < mostFrames; frames += 1) {
    if (still >= (before === start && left > 1 ? framesToBegin : stillFrames)) return
    await nextFrame()
    still = box.scrollTop === before ? still + 1 : 0
    before = box.scrollTop
  }
}

/** The nearest box that scrolls in this direction; without an element the page, or the largest box that scrolls in it. */
export function scrollableAround(element: PageElement | null, across: boolean): PageElement {
  for (let box = element; box; box = box.parentElement ?? box.getRootNode().host ?? null) {
    if (canScroll(box, across)) return box
  }
  const page = document.scrollingElement ?? document.documentElement
  if (element || isLonger(page, across)) return page
  return largestBox(document.body ?? page, across) ?? page
}

function isLonger(box: PageElement, across: boolean): boolean {
  return across ? box.scrollWidth > box.clientWidth + 1 : box.scrollHeight > box.clientHeight + 1
}

function canScroll(box: PageElement, across: boolean): boolean {
  if (!isLonger(box, across)) return false
  const style = getComputedStyle(box)
  return /auto|scroll|overlay/.test(across ? style.overflowX : style.overflowY)
}

function largestBox(root: PageElement, across: boolean): PageElement | null {
  let largest: PageElement | null = null
  let left = 2_000
  const waiting: PageNode[] = [root]
  for (let node = waiting.pop(); node && left > 0; node = waiting.pop(), left -= 1) {
    const box = node as PageElement
    const size = (one: PageElement) => one.clientWidth * one.clientHeight
    if (box.localName && canScroll(box, across) && (!largest || size(box) > size(largest))) largest = box
    const children = (rootOf(box) ?? box) as unknown as { children: ArrayLike<PageElement> }
    for (let index = 0; index < children.children.length; index += 1)
      waiting.push(children.children[index] as PageElement)
  }
  return largest
}

/** Whether these words stand in the view now; they are brought to its middle. */
export function showWords(words: string): boolean {
  const wanted = words.toLowerCase()
  const walker = document.createTreeWalker(document.body ?? document.documentElement, 4)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(node.nodeValue ?? "").toLowerCase().includes(wanted)) continue
    const holder = node.parentNode as PageElement
    if (!holder.checkVisibility({ visibilityProperty: true })) continue
    holder.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" })
    return true
  }
  return false
}

export const scrollFunctions = [scrollBox, scrollRest, scrollableAround, isLonger, canScroll, largestBox, showWords]

declare const document: PageDocument & {
  scrollingElement: PageElement | null
  createTreeWalker(root: PageElement, show: number): { nextNode(): PageNode | null }
}
declare const getComputedStyle: (element: PageElement) => PageStyle
