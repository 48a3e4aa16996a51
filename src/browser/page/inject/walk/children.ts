// Goes through what is inside an element as a reader meets it: shadow content, slots, long runs of equal siblings.
// Runs in the page (see agent.ts).
import { rootOf } from "../agent.ts"
import type { PageElement, PageNode, PageStyle } from "../dom.ts"
import { firstInside } from "../names.ts"
import { factsOf } from "../roles.ts"
import { flushText, type Inherited, note, type Walk } from "./state.ts"

/** A walk calls itself: past this nesting, which no page of a parser's making has, it would run out of stack. */
export function visitChildren(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const deepest = 600
  if (walk.nesting >= deepest) {
    if (!element.firstChild) return
    flushText(walk)
    walk.folded += 1
    return note(walk, depth, "nested too deeply: what is inside is left out")
  }
  walk.nesting += 1
  visitInside(walk, element, depth, inherited)
  walk.nesting -= 1
}

function visitInside(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const assigned = element.localName === "slot" ? element.assignedNodes({ flatten: true }) : []
  if (assigned.length > 0) {
    for (const node of assigned) visitNode(walk, node, depth, inherited)
    return
  }
  if (factsOf(walk.tables, element.localName).replaced) return
  const shadow = rootOf(element)
  if (shadow) {
    walk.agent.roots.push(shadow)
    // It has style sheets of its own.
    walk.cursors = true
  }
  if (shadow ? isSelfNamed(element) : isSuspect(walk, element)) suspect(walk, element)
  if (walk.options.fold > 0) return visitFolded(walk, element, depth, inherited)
  // A list of controls has no words of its own: to hand out the text nodes of a large page takes long.
  if (walk.interactive) {
    const first = (shadow ?? element).firstElementChild
    for (let child = first; child; child = child.nextElementSibling) walk.visitElement(walk, child, depth, inherited)
    return
  }
  for (let node = (shadow ?? element).firstChild; node; node = node.nextSibling) visitNode(walk, node, depth, inherited)
}

function visitNode(walk: Walk, node: PageNode, depth: number, inherited: Inherited): void {
  if (node.nodeType === 1) walk.visitElement(walk, node as PageElement, depth, inherited)
  else if (node.nodeType === 3) walk.visitText(walk, node, depth, inherited)
}

function suspect({ agent }: Walk, element: PageElement): void {
  const wasDefined = agent.probed.get(element)
  if (wasDefined === undefined || (!wasDefined && element.matches(":defined"))) agent.suspects.push(element)
}

/** Whether an element may have told its role to the browser alone: it takes the focus, and no attribute says why. */
export function isSelfNamed(element: PageElement): boolean {
  return element.localName.includes("-") && element.hasAttribute("tabindex") && !element.hasAttribute("role")
}

/** Whether an element could hide a closed shadow root: a custom element, or one that shows without content of its own. */
function isSuspect(walk: Walk, element: PageElement): boolean {
  const { custom, mayHide } = factsOf(walk.tables, element.localName)
  return custom || (mayHide && !element.hasChildNodes() && element.offsetHeight > 0)
}

/** An element that is passed by: where its parent is seen and it is not, something else is shown in its place. */
export function passBy(walk: Walk, element: PageElement): void {
  const { parentElement: parent } = element
  if (!parent || element.previousSibling || !factsOf(walk.tables, parent.localName).mayHide || rootOf(parent)) return
  if (!element.checkVisibility() && parent.offsetHeight > 0) suspect(walk, parent)
}

/** Visits the first of a long run of equal siblings and counts the others, which costs a page of 20,000 rows nothing. */
function visitFolded(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const { fold } = walk.options
  let kind = ""
  let run = 0
  let before = 0
  let refsBefore = 0
  for (let node = firstInside(element); node; node = node.nextSibling) {
    if (node.nodeType === 1) {
      const own = shapeOf(node as PageElement)
      if (own !== kind) {
        kind = own
        run = 0
        refsBefore = walk.refs.length
      }
      run += 1
      if (run > fold) {
        const last = skipEqual(node as PageElement, kind, before)
        const all = run + last.count
        if (last.count > fold / 4 && !isSmall(element, all) && !(all <= 5 * fold && isAtWork(walk, element))) {
          before += last.count
          walk.folded += last.count
          flushText(walk)
          const shown = walk.refs.length > refsBefore || !walk.interactive
          if (shown) note(walk, depth, `${last.count} more ${kind.split(" ")[0]} elements like the ${fold} above`)
          node = last.element
          continue
        }
      }
      before += 1
    }
    visitNode(walk, node, depth, inherited)
  }
}

/** The days of a month, the keys of a keyboard: to show them takes less than to be asked for them. */
function isSmall(element: PageElement, count: number): boolean {
  const [most, wordsEach] = [45, 12]
  return count <= most && (element.textContent ?? "").length <= count * wordsEach
}

/** Whether a person is working with this part now: it has the focus, or lies over the page (a calendar, a list of choices). */
function isAtWork(walk: Walk, element: PageElement): boolean {
  const { focused } = walk
  if (focused && focused.localName !== "body" && element.contains(focused)) return true
  let current: PageElement | null = element
  for (let steps = 0; current && current.localName !== "body" && steps < 12; steps += 1) {
    const role = current.getAttribute("role") ?? ""
    if (/^(dialog|alertdialog|listbox|menu|grid|tooltip)$/.test(role)) return true
    const { position, zIndex } = getComputedStyle(current)
    if (position === "fixed" || (position === "absolute" && Number(zIndex) > 0)) return true
    current = current.parentElement
  }
  return false
}

function shapeOf(element: PageElement): string {
  return `${element.localName} ${element.firstElementChild?.localName ?? ""}`
}

/** `before`: how many element children of the parent come before the first. */
function skipEqual(first: PageElement, kind: string, before: number): { element: PageElement; count: number } {
  const [tag, inside] = kind.split(" ") as [string, string]
  const { parentElement: parent } = first
  const many = 500
  if (parent && inside !== "" && parent.childElementCount - before > many) {
    // One question to the browser instead of a look at each: to hand out 20,000 elements takes most of the time.
    const equal = `:scope > ${CSS.escape(tag)} > ${CSS.escape(inside)}:first-child`
    const all = parent.childElementCount
    if (parent.querySelectorAll(equal).length === all)
      return { element: parent.lastElementChild as PageElement, count: all - before }
  }
  let element = first
  let count = 1
  for (let next = first.nextElementSibling; next && next.localName === tag; next = next.nextElementSibling) {
    if ((next.firstElementChild?.localName ?? "") !== inside) break
    element = next
    count += 1
  }
  return { element, count }
}

export const childrenFunctions = [
  visitChildren,
  visitInside,
  visitNode,
  suspect,
  isSelfNamed,
  isSuspect,
  passBy,
  visitFolded,
  isSmall,
  isAtWork,
  shapeOf,
  skipEqual,
]

declare const getComputedStyle: (element: PageElement) => PageStyle
declare const CSS: { escape(text: string): string }
