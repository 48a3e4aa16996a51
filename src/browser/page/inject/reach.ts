// Whether and where an element can be clicked: visible, enabled, still, in view, not covered. Runs in the page.
import { elementOf, numberOf, type PageAgent } from "./agent.ts"
import { bringIntoView, firstBox, placeInside, pointInShape, pointOnLine } from "./boxes.ts"
import { fieldFor, isEditable } from "./catcher.ts"
import { armClick } from "./click-guard.ts"
import { isDial } from "./dial.ts"
import type { Box, PageAnimation, PageDocument, PageElement, PageNode, PageWindow } from "./dom.ts"
import { firstInside } from "./names.ts"
import { isTiny } from "./walk/hints.ts"
import { describe, drawnIn, drawnOn, elementAt, isHit, isInside } from "./hit.ts"
import { isHandle, isPaneOver, isPlain } from "./panes.ts"

export interface ReachOptions {
  /** 0 for the first try; later ones scroll differently, out from under headers that stick. */
  attempt: number
  /** Watch two frames even when no animation is known to run: scripts can move things too. */
  settle: boolean
  /** Refuse what does not take text. */
  editable: boolean
  /** Find a point to click; else only the state of the element is looked at. */
  point: boolean
  /** Guard the click that follows: it is stopped if it would land elsewhere. */
  arm: boolean
  /** False where the element need not be usable: to look at it, or to put the mouse over it. */
  enabled?: boolean
  /** A point of the element's box instead of where people click it. */
  at?: Spot
  /** The middle of its box where nothing lies over it: things are put there, and not on the words. */
  middle?: boolean
  /** With middle: the number of what is put there. Boxes of one size then come to lie over each other. */
  held?: number
}

export type Spot =
  /** Pixels from the top left corner, or shares of width and height where both are between 0 and 1. */
  | { x: number; y: number }
  /** Between the element and its neighbour, for something that comes from `fromId` (0 for elsewhere). */
  | { beside: "before" | "after"; fromId: number }

export type Reach =
  /**
   * `scrolled`: the browser may not yet know where frames of other processes lie now.
   * `plain`: no button, link or field of the browser's or by its role, but something that a script has made.
   */
  | { kind: "ready"; x: number; y: number; scrolled: boolean; plain?: boolean }
  | { kind: "gone" | "not-visible" | "disabled" | "not-editable" | "not-stable" }
  /**
   * `byId`: the number of what lies over it; 0 for nothing of this document. `isOff`: nothing does, but the page lets no
   * click through to it, as pages do outside an open menu.
   */
  | { kind: "covered"; by: string; byId: number; isOff?: boolean }

export async function reachElement(agent: PageAgent, id: number, options: ReachOptions): Promise<Reach> {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  const found = await reachKnown(agent, element, options)
  return found.kind === "ready" && isPlain(element) ? { ...found, plain: true } : found
}

async function reachKnown(agent: PageAgent, element: PageElement, options: ReachOptions): Promise<Reach> {
  const { target, isBoxed } = targetFor(element)
  // A field may be without a box and take keys all the same: some editors draw everything themselves.
  const needsBox = options.point || !options.editable
  const drawn = drawnOn(target)
  if (!drawn.checkVisibility({ visibilityProperty: true })) return { kind: "not-visible" }
  if (needsBox && !isBoxed) return { kind: "not-visible" }
  if (options.enabled !== false && isDisabled(element)) return { kind: "disabled" }
  const takesText = !options.editable || isEditable(element) || isDial(element) || Boolean(fieldFor(element))
  if (!takesText) return { kind: "not-editable" }
  if ((options.settle || isAnimated(drawn)) && !(await isStill(drawn))) return { kind: "not-stable" }
  if (!options.point) return { kind: "ready", x: 0, y: 0, scrolled: false }
  if (options.at) return reachSpot(agent, target, options.at, options.arm)
  let found = options.attempt > 0 ? scrollAndFind(agent, target, options) : findPoint(agent, target, options)
  if (found.kind !== "ready" && options.attempt === 0) found = scrollAndFind(agent, target, options)
  if (found.kind === "ready" && options.arm) armClick(agent, target)
  if (found.kind === "ready") return found
  // What is drawn in place of the control takes the mouse for it.
  const cover = found.kind === "covered" ? elementOf(agent, found.byId) : null
  const stand = target === element ? drawnInstead(element, cover) : null
  if (!stand) return found
  const instead = scrollAndFind(agent, stand, options)
  if (instead.kind !== "ready") return found
  if (options.arm) armClick(agent, stand)
  return instead
}

/**
 * What people click to work a control that they do not see: its label, or the box that a component draws around it. A
 * button that something lies over is only covered: this is for fields, and for what is inside a component.
 */
export function drawnInstead(element: PageElement, cover: PageElement | null): PageElement | null {
  if (element.localName === "area") return null
  if (element.localName === "text") return groupOf(element, cover)
  if (element.localName === "canvas") return cover && isPaneOver(element, cover) ? cover : null
  for (let index = 0; element.labels && index < element.labels.length; index += 1) {
    const label = element.labels[index] as PageElement
    // One that lies over the field, and lets the mouse through to what is drawn for it.
    if (firstBox(label) && getComputedStyle(label).pointerEvents !== "none") return label
  }
  const isField = /^(input|select|textarea)$/.test(element.localName)
  const hasOwnRole = /^(combobox|checkbox|radio|switch|slider|textbox|searchbox|spinbutton)$/.test(
    element.getAttribute("role") ?? "",
  )
  const { host } = element.getRootNode()
  const takesNoMouse = getComputedStyle(element).pointerEvents === "none"
  if (!isField && !hasOwnRole && !host && !takesNoMouse) return null
  let around: PageElement | null = element.parentElement ?? host ?? null
  for (let steps = 0; around && steps < 6; steps += 1) {
    // More controls than this one: from here on it is no longer the box of this control.
    if (around.localName === "body" || hasOtherControls(around, element)) break
    // What covers it from elsewhere, such as a banner, is no part of the control.
    if (firstBox(around) && (cover === null || isInside(cover, around))) return around
    around = around.parentElement ?? around.getRootNode().host ?? null
  }
  return null
}

/** Of a drawing the bar or shape that lies over its own word: both are one to the script that drew them. */
function groupOf(word: PageElement, cover: PageElement | null): PageElement | null {
  const group = word.closest("g")
  return group && cover && group.contains(cover) && group.querySelectorAll("text").length === 1 ? group : null
}

/** Whether a box holds controls that a person sees beside this one. The button that opens the same list is none. */
function hasOtherControls(around: PageElement, element: PageElement): boolean {
  const found = around.querySelectorAll(
    "button,a[href],input:not([type=hidden]),select,textarea,[role=button],[role=radio],[role=checkbox]",
  )
  for (let index = 0; index < found.length; index += 1) {
    const other = found[index] as PageElement
    if (other === element || other.contains(element) || element.contains(other)) continue
    if (other.hasAttribute("aria-haspopup") || other.getAttribute("tabindex") === "-1") continue
    if (!isTiny(other) && other.closest("[aria-hidden=true]") === null) return true
  }
  return false
}

/** Fields that components keep at no size at all are worked by the box that is drawn around them. */
function targetFor(element: PageElement): { target: PageElement; isBoxed: boolean } {
  const target = clickTarget(element)
  if (firstBox(target)) return { target, isBoxed: true }
  const drawn = element.checkVisibility({ visibilityProperty: true }) ? drawnInstead(element, null) : null
  return drawn ? { target: drawn, isBoxed: true } : { target, isBoxed: false }
}

/** A control whose box is hidden for looks is clicked by its label. */
export function clickTarget(element: PageElement): PageElement {
  if (firstBox(element) || !element.labels) return element
  for (let index = 0; index < element.labels.length; index += 1) {
    const label = element.labels[index] as PageElement
    if (firstBox(label)) return label
  }
  return element
}

export function isDisabled(element: PageElement): boolean {
  return element.matches(":disabled") || element.closest("[aria-disabled=true]") !== null
}

function isAnimated(element: PageElement): boolean {
  return document.getAnimations().some((animation: PageAnimation) => {
    const animated = animation.effect?.target ?? null
    return animation.playState === "running" && animated !== null && isInside(element, animated)
  })
}

/** Lets tasks run that an event has queued (a form's submission, say). Unlike timers, messages are never slowed down. */
export async function nextTask(): Promise<void> {
  for (let count = 0; count < 2; count += 1) {
    await new Promise<void>((resolve) => {
      const channel = new MessageChannel()
      channel.port1.onmessage = () => resolve()
      channel.port2.postMessage(null)
    })
  }
}

/** Hidden tabs get no frames: a timer stands in for one, late enough not to overtake a frame. True for a real frame. */
export function nextFrame(): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    requestAnimationFrame(() => resolve(true))
    setTimeout(() => resolve(false), 150)
  })
}

/**
 * The same box in two frames that follow each other; in three of what is known to be animated: before and after a turn
 * it may stand in one place, when a busy machine leaves out the frame between. Only frames count, since between them nothing moves, however long
 * a busy machine takes for one; where several times none comes, the tab is hidden, and nothing moves at all. What is
 * known to be animated is waited for a second longer: a machine may be that busy.
 */
export async function isStill(element: PageElement): Promise<boolean> {
  let before: Box | null = null
  const [most, wanted] = isAnimated(element) ? [12, 3] : [4, 2]
  for (let waits = 0, frames = 0; waits < most && frames < wanted; waits += 1) {
    if (!(await nextFrame())) continue
    const now = element.getBoundingClientRect()
    if (before && !isSameBox(now, before)) return false
    before = now
    frames += 1
  }
  return true
}

function isSameBox(one: Box, other: Box): boolean {
  return one.x === other.x && one.y === other.y && one.width === other.width && one.height === other.height
}

/** A point that the caller chose, brought into view. Outside the box nothing is there to be hit. */
function reachSpot(agent: PageAgent, element: PageElement, spot: Spot, arm: boolean): Reach {
  const isInView = ({ x, y }: { x: number; y: number }) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight
  let { point, inside } = pointOf(agent, element, spot)
  let scrolled = false
  if (!isInView(point)) {
    bringIntoView(element, "center")
    ;({ point } = pointOf(agent, element, spot))
    if (!isInView(point))
      scrollBy({ left: point.x - innerWidth / 2, top: point.y - innerHeight / 2, behavior: "instant" })
    ;({ point, inside } = pointOf(agent, element, spot))
    scrolled = true
  }
  if (!isInView(point)) return { kind: "not-visible" }
  const hit = elementAt(point.x, point.y)
  const isOn = hit !== null && isHit(element, hit)
  if (inside && !isOn && !(hit && isPaneOver(element, hit))) return coveredBy(agent, hit)
  if (arm) armClick(agent, inside && isOn ? element : hit)
  return { kind: "ready", ...point, scrolled }
}

function pointOf(
  agent: PageAgent,
  element: PageElement,
  spot: Spot,
): { point: { x: number; y: number }; inside: boolean } {
  const box = firstBox(element) ?? element.getBoundingClientRect()
  if ("beside" in spot)
    return { point: pointBeside(element, box, spot.beside, elementOf(agent, spot.fromId)), inside: false }
  const { x, y } = spot
  const areShares = x >= 0 && x <= 1 && y >= 0 && y <= 1
  // The far edge itself belongs to the neighbour.
  const across = areShares ? Math.min(x * box.width, box.width - 0.5) : x
  const down = areShares ? Math.min(y * box.height, box.height - 0.5) : y
  const inside = across >= 0 && down >= 0 && across < box.width && down < box.height
  return { point: { x: box.x + across, y: box.y + down }, inside }
}

/**
 * Lists make room as soon as something is held over an item, on the side that it comes to from: so the point lies on the
 * near side of the place, over the neighbour's edge, or well over the item itself.
 */
function pointBeside(
  element: PageElement,
  box: Box,
  beside: "before" | "after",
  from: PageElement | null,
): { x: number; y: number } {
  const neighbour = (element.nextElementSibling ?? element.parentElement?.firstElementChild)?.getBoundingClientRect()
  const isRow = neighbour ? Math.abs(neighbour.y - box.y) < box.height / 2 && neighbour.x !== box.x : false
  const [start, size] = isRow ? [box.x, box.width] : [box.y, box.height]
  const origin = from?.getBoundingClientRect()
  const comesForward = origin ? (isRow ? origin.x : origin.y) < start : beside === "after"
  const edge = 3
  const well = size * 0.15
  const along =
    beside === "before" ? start + (comesForward ? -edge : well) : start + size + (comesForward ? -well : edge)
  return isRow ? { x: along, y: box.y + box.height / 2 } : { x: box.x + box.width / 2, y: along }
}

/** A row, an entry, a box: it may hold controls that have refs of their own, such as the branches of a tree. */
function mayHoldOthers(element: PageElement): boolean {
  if (/^(a|area|button|input|select|textarea|label|summary|option|canvas|svg|img|iframe)$/.test(element.localName))
    return false
  if (/^(button|link|tab|switch|checkbox|radio|slider|textbox|combobox)$/.test(element.getAttribute("role") ?? ""))
    return false
  return !element.isContentEditable
}

/** Whether the point belongs to another control inside the element, which a click on the element does not mean. */
function isOfAnother(hit: PageElement, element: PageElement): boolean {
  for (let part: PageNode | null = hit; part && part !== element; part = drawnIn(part))
    if (part.nodeType === 1 && isAnother(part as PageElement, element)) return true
  return false
}

function isAnother(part: PageElement, element: PageElement): boolean {
  if (/^(button|input|select|textarea)$/.test(part.localName)) return true
  if (part.localName === "a") return part.hasAttribute("href")
  const role = part.getAttribute("role")
  if (role !== null && role === element.getAttribute("role")) return true
  return /^(button|link|tab|switch|checkbox|radio|slider|textbox|combobox|option|treeitem|menuitem\w*)$/.test(
    role ?? "",
  )
}

/** What is drawn inside a node, in place of what it holds: shadow content, or what a slot is given. */
function firstDrawn(node: PageElement): PageNode[] {
  return node.localName === "slot" ? node.assignedNodes({ flatten: true }) : []
}

/**
 * People click a plain row or box on its words, and pages listen there: the middle may be empty space. A sign before the
 * words is often a control of its own: the arrow that opens a branch.
 */
function wordsPoint(element: PageElement): { x: number; y: number } | null {
  let left = 80
  let sign: { x: number; y: number } | null = null
  const waiting: PageNode[] = [element]
  for (let node = waiting.pop(); node && left > 0; node = waiting.pop(), left -= 1) {
    if (node.nodeType === 3 && (node.nodeValue ?? "").trim() !== "") {
      const point = middleOf(node)
      if (/[\p{L}\p{N}]/u.test(node.nodeValue ?? "")) return point ?? sign
      sign ??= point
    }
    if (node.nodeType !== 1 || (node !== element && isAnother(node as PageElement, element))) continue
    const children: PageNode[] = firstDrawn(node as PageElement).slice(0, left)
    let child = children.length > 0 ? null : firstInside(node as PageElement)
    // No more than are looked at: an element may hold more children than a call takes arguments.
    for (; child && children.length < left; child = child.nextSibling) children.push(child)
    waiting.push(...children.toReversed())
  }
  return sign
}

/** The middle of the first line of some words; null where they are not drawn. */
function middleOf(words: PageNode): { x: number; y: number } | null {
  const range = document.createRange()
  range.selectNodeContents(words)
  const box = range.getClientRects()[0]
  return box && box.width > 0 && box.height > 0 ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : null
}

function scrollAndFind(agent: PageAgent, element: PageElement, options: ReachOptions): Reach {
  const blocks = ["center", "end", "start"]
  bringIntoView(element, blocks[options.attempt % 3] as string)
  const found = findPoint(agent, element, options)
  return found.kind === "ready" ? { ...found, scrolled: true } : found
}

/** The middle of the element's first box, or a corner region of it when something lies over the middle. */
function findPoint(agent: PageAgent, element: PageElement, { middle = false, held = 0 }: ReachOptions): Reach {
  const box = firstBox(element)
  if (!box) return { kind: "not-visible" }
  const left = Math.max(0, box.x)
  const top = Math.max(0, box.y)
  const width = Math.min(innerWidth, box.x + box.width) - left
  const height = Math.min(innerHeight, box.y + box.height) - top
  if (width <= 0 || height <= 0) return { kind: "not-visible" }
  const shares = [
    [0.5, 0.5],
    [0.2, 0.5],
    [0.8, 0.5],
    [0.5, 0.2],
    [0.5, 0.8],
  ]
  let cover: PageElement | null = null
  let other: Reach | undefined
  const isHolder = mayHoldOthers(element)
  const words = isHolder && !middle ? wordsPoint(element) : null
  if (words && words.x > left && words.y > top && words.x < left + width && words.y < top + height) {
    const hit = elementAt(words.x, words.y)
    if (hit && isHit(element, hit) && !isHandle(hit, element)) return { kind: "ready", ...words, scrolled: false }
  }
  const grip = held > 0 ? gripOn(elementOf(agent, held), box) : null
  if (grip) shares.unshift([(box.x + grip.x - left) / width, (box.y + grip.y - top) / height])
  for (const [across, down] of shares as [number, number][]) {
    const x = left + width * across
    const y = top + height * down
    const hit = elementAt(x, y)
    if (hit && isHit(element, hit)) {
      const point: Reach = { kind: "ready", x, y, scrolled: false }
      if (!isHolder || (!isOfAnother(hit, element) && !isHandle(hit, element))) return point
      other ??= point
    } else cover ??= hit
  }
  const onLine = other ? null : (pointOnLine(element) ?? pointInShape(element, { x: left, y: top, width, height }))
  if (other || onLine) return other ?? { kind: "ready", ...(onLine as { x: number; y: number }), scrolled: false }
  const isOff = getComputedStyle(element).pointerEvents === "none"
  return isOff ? { ...coveredBy(agent, cover), isOff } : coveredBy(agent, cover)
}

/** Where a thing of the same size is held, from its corner: many boards look at how far its box lies over another. */
function gripOn(held: PageElement | null, box: Box): { x: number; y: number } | null {
  const own = held ? firstBox(held) : null
  if (!held || !own || Math.abs(own.width - box.width) > 1 || Math.abs(own.height - box.height) > 1) return null
  const words = mayHoldOthers(held) ? wordsPoint(held) : null
  const grip = words && { x: words.x - own.x, y: words.y - own.y }
  return grip && grip.x > 0 && grip.y > 0 && grip.x < own.width && grip.y < own.height ? grip : null
}

function coveredBy(agent: PageAgent, cover: PageElement | null): Extract<Reach, { kind: "covered" }> {
  const by = cover ? describe(cover) : "something outside the page"
  return { kind: "covered", by, byId: cover ? numberOf(agent, cover) : 0 }
}

/**
 * Takes a point of a frame's own view to the view of the document that holds the frame; scrolls it into view.
 * The frame's border, padding and scale count.
 */
export function pointThroughFrame(agent: PageAgent, id: number, point: { x: number; y: number; arm: boolean }): Reach {
  const frame = elementOf(agent, id)
  if (!frame) return { kind: "gone" }
  const locate = () => placeInside(frame, point)
  let { x, y } = locate()
  let scrolled = false
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight || elementAt(x, y) !== frame) {
    scrollBy({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: "instant" })
    scrolled = true
    ;({ x, y } = locate())
  }
  const hit = elementAt(x, y)
  if (hit === frame) {
    if (point.arm) armClick(agent, null)
    return { kind: "ready", x, y, scrolled }
  }
  return hit ? { kind: "covered", by: describe(hit), byId: numberOf(agent, hit) } : { kind: "not-visible" }
}

export const reachFunctions = [
  reachElement,
  reachKnown,
  clickTarget,
  targetFor,
  drawnInstead,
  groupOf,
  hasOtherControls,
  isDisabled,
  isAnimated,
  nextFrame,
  nextTask,
  isStill,
  isSameBox,
  reachSpot,
  pointOf,
  pointBeside,
  coveredBy,
  mayHoldOthers,
  isOfAnother,
  isAnother,
  firstDrawn,
  wordsPoint,
  middleOf,
  scrollAndFind,
  gripOn,
  findPoint,
  pointThroughFrame,
]

declare const document: PageDocument
declare const innerWidth: number
declare const innerHeight: number
declare const getComputedStyle: PageWindow["getComputedStyle"]
declare const requestAnimationFrame: PageWindow["requestAnimationFrame"]
declare const setTimeout: PageWindow["setTimeout"]
declare const scrollBy: PageWindow["scrollBy"]
declare const MessageChannel: new () => {
  port1: { onmessage: () => void }
  port2: { postMessage(message: null): void }
}
