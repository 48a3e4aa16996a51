// What takes clicks though no role tells it: the hand over it, a handler, the tab order, a handle to drag. Runs in the page.
import { rootOf } from "../agent.ts"
import type { PageElement, PageNode, PageStyle } from "../dom.ts"
import { firstInside, hiddenBy, isHidden, type TextBudget, textOf, tidy } from "../names.ts"
import { hasRole, isReplaced } from "../roles.ts"
import { isChart } from "./special.ts"
import type { Inherited, Walk } from "./state.ts"

/** The cursor over an element; that of what it stands in, where the page has none of its own. */
export function cursorOf(walk: Walk, element: PageElement, inherited: Inherited): string {
  return walk.cursors ? getComputedStyle(element).cursor : inherited.cursor
}

/** Whether the cursor over an element is one of its own that says: this can be worked with the mouse. */
export function hasOwnHand(cursor: string, inherited: Inherited): boolean {
  return cursor !== inherited.cursor && isHandCursor(cursor)
}

export function isHandCursor(cursor: string): boolean {
  return /^(pointer|grab|grabbing|move|all-scroll|cell|copy|alias|zoom-in|zoom-out|context-menu|crosshair|\w+-resize|url\(.*\), ?pointer)$/.test(
    cursor,
  )
}

/** Whether the element itself, not what it stands in, is known to take the mouse or the keys. */
export function isTarget(walk: Walk, element: PageElement, hand: boolean): boolean {
  if (element.localName === "body" || element.localName === "html" || element.localName === "slot") return false
  if (hand && element.localName !== "label") return true
  if (!element.hasAttributes()) return walk.agent.listening.has(element)
  if (element.hasAttribute("tabindex") && Number(element.getAttribute("tabindex")) >= 0) return !isGuard(element)
  if (element.hasAttribute("onclick") || element.getAttribute("draggable") === "true") return true
  if (/\bclick\b|(^|;)\s*[\w.]+\s*(;|$)/.test(element.getAttribute("jsaction") ?? "")) return true
  // One of the libraries for dragging listens at the window alone, and marks where things may be dropped.
  if (element.hasAttribute("aria-grabbed") || element.hasAttribute("data-drop-target-for-element")) return true
  return walk.agent.listening.has(element) || isEmptyList(walk, element)
}

/** A list of a board that has no entries: people put some there, as into its sisters whose entries can be dragged. */
export function isEmptyList(walk: Walk, element: PageElement): boolean {
  if (element.firstElementChild || !/^(div|ul|ol|section)$/.test(element.localName)) return false
  if ((element.firstChild?.nodeValue ?? "").trim() !== "") return false
  const kind = kindOf(element)
  if (kind === "") return false
  let areBoard = walk.boards.get(kind)
  const most = 30
  if (areBoard === undefined && walk.boards.size < most) {
    areBoard = holdsDragged(element, kind)
    walk.boards.set(kind, areBoard)
  }
  if (!areBoard) return false
  const smallest = 20
  const { width, height } = element.getBoundingClientRect()
  return width >= smallest && height >= smallest
}

/** A selector for what its makers treat alike: by its first class, else by the attributes that they have put on it. */
function kindOf(element: PageElement): string {
  const [first = ""] = (element.getAttribute("class") ?? "").trim().split(/\s+/)
  if (first !== "") return `${element.localName}.${CSS.escape(first)}`
  const own = element.getAttributeNames().filter((name) => name.startsWith("data-"))
  return own.length === 0 ? "" : element.localName + own.map((name) => `[${CSS.escape(name)}]`).join("")
}

function holdsDragged(element: PageElement, kind: string): boolean {
  const sisters = element.getRootNode().querySelectorAll(kind)
  const most = 30
  for (let index = 0; index < Math.min(sisters.length, most); index += 1) {
    const entry = (sisters[index] as PageElement).firstElementChild
    if (!entry) continue
    if (entry.getAttribute("draggable") === "true") return true
    if (/^(grab|move|all-scroll)$/.test(getComputedStyle(entry).cursor)) return true
  }
  return false
}

/** Dialogs and lists keep the focus inside by an empty element at each end: nobody sees it, and a click does nothing. */
function isGuard(element: PageElement): boolean {
  if (rootOf(element) || (element.textContent ?? "") !== "" || holdsMore(element)) return false
  const smallest = 4
  const { width, height } = element.getBoundingClientRect()
  return width * height <= smallest && !isDrawnByStyle(element)
}

/** Anything but one empty element without a size. */
function holdsMore(element: PageElement): boolean {
  const { firstElementChild: child, childElementCount: count } = element
  if (!child) return false
  const { width, height } = child.getBoundingClientRect()
  return count > 1 || child.firstElementChild !== null || width * height > 0
}

/** A handle may be drawn by its style sheet alone, around an element without a size. */
export function isDrawnByStyle(element: PageElement): boolean {
  return ["::before", "::after"].some((part) => getComputedStyle(element, part).content !== "none")
}

/** A link without an address is one all the same when a script answers it: so the browser tells it too. */
export function plainRole(walk: Walk, element: PageElement): string {
  const isLink = element.localName === "a" && (walk.agent.listening.has(element) || element.hasAttribute("onclick"))
  return isLink ? "link" : "generic"
}

/** What the inside of a target looks like, from a look at some tens of its elements. */
export interface Inside {
  /** Its words, on one line; cut at a length when they are long. */
  words: string
  /** The words are all that people read in it. */
  isWhole: boolean
  /** There is more inside than was looked at: what was not may be anything. */
  isCut: boolean
  /** Elements with words or pictures of their own that stand on their own: one for `<div>Reply</div>`, two for a menu. */
  items: number
  /** The items are children of one parent, of one kind, and short: entries of a menu rather than parts of a card. */
  isMenu: boolean
  /** It is a menu whose entries have an icon each beside their words. */
  hasIcons: boolean
  /** It holds buttons, links, fields. */
  hasControls: boolean
  controls: PageElement[]
  /** The items that stand in none of these. */
  own: PageElement[]
  /** It holds a drawing with words: which of them take clicks, only the script knows that listens on the whole. */
  hasChart: boolean
}

export function lookInside(walk: Walk, element: PageElement): Inside {
  const found: PageElement[] = []
  const state: Gathering = { left: 120, hasControls: false, hasChart: isChart(element), own: [], controls: [] }
  gatherItems(walk, element, found, state)
  // One that listens for its rows or entries is no target itself.
  const isList = /^(ul|ol|dl|menu|table|tbody)$/.test(element.localName)
  const isPlain = (isList && found.length > 0) || (found.length > 1 && areEntries(element, found))
  const hasIcons = haveIcons(element, found)
  const isMenu = isPlain || hasIcons
  const budget: TextBudget = { left: 1000 }
  const all = tidy(textOf(element, budget), Infinity)
  const isWhole = all.length <= 200 && budget.left > 0 && !budget.differs
  return {
    words: tidy(all, 200),
    isWhole,
    isCut: state.left <= 0,
    items: found.length,
    isMenu,
    hasIcons,
    hasControls: state.hasControls,
    own: state.own ?? [],
    controls: state.controls ?? [],
    hasChart: state.hasChart === true,
  }
}

/** The words of a box, without those of the controls in it. */
export function ownWords({ words, hasControls, own }: Inside): string {
  if (!hasControls) return words
  return tidy(own.map((item) => textOf(item, { left: 200 })).join(" "), 200)
}

/** Whether the items with words are entries, each of which holds one of the pictures too. */
function haveIcons(element: PageElement, items: readonly PageElement[]): boolean {
  const worded = items.filter(({ localName }) => localName !== "svg" && localName !== "img")
  if (worded.length < 2 || worded.length === items.length || !areEntries(element, worded)) return false
  const icons = items.filter((item) => !worded.includes(item))
  return worded.every((item) => item.parentElement !== null && icons.some((icon) => item.parentElement?.contains(icon)))
}

/** Whether the items are short and stand one each in elements of one kind: `<div>` by `<div>`, rows with a title each. */
function areEntries(element: PageElement, items: readonly PageElement[]): boolean {
  const longest = 60
  if (items.some((item) => (item.textContent ?? "").trim().length > longest)) return false
  const [first] = items as [PageElement]
  let around: PageElement = element
  for (let inner = first.parentElement; inner && element.contains(inner); inner = inner.parentElement) {
    if (!items.every((item) => inner?.contains(item))) continue
    around = inner
    break
  }
  const branches = items.map((item) => {
    let branch = item
    while (branch.parentElement && branch.parentElement !== around) branch = branch.parentElement
    return branch
  })
  const [one] = branches as [PageElement]
  const entries = new Set(branches)
  // The tick beside the words of an entry is no entry.
  const isSign = (item: PageElement, place: number) =>
    item.localName === "svg" && branches.some((branch, other) => other !== place && branch === branches[place])
  const counted = items.filter((item, place) => !isSign(item, place)).length
  return entries.size > 1 && entries.size === counted && branches.every(({ localName }) => localName === one.localName)
}

/** What a look for items has found besides them, and how many elements it may still look at. */
interface Gathering {
  left: number
  hasControls: boolean
  hasChart?: boolean
  own?: PageElement[]
  controls?: PageElement[]
}

/** The innermost elements that stand on their own: blocks with words, list items, rows, pictures. */
export function gatherItems(walk: Walk, element: PageElement, found: PageElement[], state: Gathering): void {
  let hasWords = false
  const before = found.length
  const take = (node: PageNode) => {
    if (node.nodeType === 3) hasWords ||= (node.nodeValue ?? "").trim() !== ""
    if (node.nodeType !== 1 || state.left <= 0) return
    const child = node as PageElement
    // What a slot is given stands where the slot does.
    const given = child.localName === "slot" ? child.assignedNodes({ flatten: true }) : []
    if (given.length > 0) return given.forEach(take)
    state.left -= 1
    if (walk.tables.skippedTags.has(child.localName) || isHidden(child)) return
    const control = isControl(walk, child) && hiddenBy(child) === ""
    if (control) {
      state.hasControls = true
      state.controls?.push(child)
    }
    const chart = isChart(child)
    if (chart) state.hasChart = true
    const start = state.own?.length ?? 0
    if (child.localName === "img" || (child.localName === "svg" && !chart)) {
      if (!child.checkVisibility(walk.asSeen)) return
      found.push(child)
      // An icon that nobody is told of only decorates.
      if (hiddenBy(child) === "") state.own?.push(child)
    } else if (!isReplaced(child.localName)) gatherItems(walk, child, found, state)
    if (control && state.own) state.own.length = start
  }
  const assigned = element.localName === "slot" ? element.assignedNodes({ flatten: true }) : []
  assigned.forEach(take)
  for (let node = assigned.length > 0 ? null : firstInside(element); node && state.left > 0; node = node.nextSibling)
    take(node)
  if (found.length > before || !hasWords || !element.checkVisibility(walk.asSeen)) return
  found.push(element)
  state.own?.push(element)
}

export function isControl(walk: Walk, element: PageElement): boolean {
  const tag = element.localName
  return (
    tag === "input" || tag === "select" || tag === "textarea" || hasRole(walk.tables, element, walk.tables.interactive)
  )
}

/** Whether an element inside a clickable container is an item of it: it stands on its own and has words or is a picture. */
export function isPart(walk: Walk, element: PageElement): boolean {
  const tag = element.localName
  if (tag === "img" || tag === "svg" || tag === "tr" || tag === "li") return true
  if (walk.tables.inlineTags.has(element.localName) && element.localName !== "span") return false
  let hasWords = false
  for (let node: PageNode | null = firstInside(element); node; node = node.nextSibling) {
    if ((node.nodeType === 3 ? node.nodeValue : node.textContent)?.trim()) hasWords = true
    if (node.nodeType === 1 && !walk.tables.inlineTags.has((node as PageElement).localName)) return false
  }
  return hasWords
}

export const targetsFunctions = [
  cursorOf,
  hasOwnHand,
  isHandCursor,
  isTarget,
  isEmptyList,
  kindOf,
  holdsDragged,
  isGuard,
  holdsMore,
  isDrawnByStyle,
  plainRole,
  lookInside,
  ownWords,
  areEntries,
  haveIcons,
  gatherItems,
  isControl,
  isPart,
]

declare const getComputedStyle: (element: PageElement, part?: string) => PageStyle
declare const CSS: { escape(text: string): string }
