// The full snapshot: everything that a person can read, nested as it is on the page, with refs for what can be acted on.
// Nothing visible is left out unless a line says so. Runs in the page (see agent.ts).
import type { PageElement, PageNode } from "../dom.ts"
import { generatedWords, hiddenBy, isCutAway, nameOf, tidy, textOf } from "../names.ts"
import { factsOf, hasRole, roleOf, statesOf, takesInput } from "../roles.ts"
import { drawnFor, innerField, isHiddenField, isSaidBy } from "./drawn.ts"
import { passBy, visitChildren } from "./children.ts"
import { isParked } from "./hosts.ts"
import {
  addCanvas,
  addDrawnControl,
  addFrame,
  addPlayer,
  drawnControl,
  givenName,
  isCanvas,
  isChart,
  isPicture,
  isPlayer,
  seenOf,
  sizeOf,
} from "./special.ts"
import { addLine, flushText, type Inherited, note, type Walk } from "./state.ts"
import { cursorOf, hasOwnHand, isEmptyList, isPart, isTarget, lookInside, plainRole } from "./targets.ts"
import { addValue } from "./values.ts"

export function visitTreeText(walk: Walk, node: PageNode, depth: number, inherited: Inherited): void {
  if (inherited.silent || inherited.unseen) return
  const words = node.nodeValue ?? ""
  if (walk.textNode === null && words.trim() !== "") {
    walk.textDepth = depth
    walk.textNode = node
  }
  walk.text += words
}

export function visitTreeElement(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const { skipped } = factsOf(walk.tables, element.localName)
  if (skipped) return passBy(walk, element)
  const seen = seenOf(walk, element)
  if (seen === "nothing") return passBy(walk, element)
  if (seen === "shown" && element.hasAttribute("role") && isParked(element, element.getAttribute("role") ?? ""))
    return passBy(walk, element)
  const place = { depth, shown: seen === "shown" }
  const mark = hiddenBy(element)
  if (mark === "" || walk.mark !== "") return visitShown(walk, element, place, inherited)
  // Neither does: helpers of components.
  if (isCutAway(element) || isHiddenField(element)) return
  // People see it and screen readers do not: its words are no part of any name.
  flushText(walk)
  walk.mark = mark
  visitShown(walk, element, place, { ...inherited, silent: false })
  flushText(walk)
  walk.mark = ""
}

interface Place {
  depth: number
  /** It can be seen itself, not only what is inside it. */
  shown: boolean
}

function visitShown(walk: Walk, element: PageElement, place: Place, inherited: Inherited): void {
  const { depth, shown } = place
  if (depth > walk.maxDepth) return cutOff(walk, element, depth)
  const tag = element.localName
  const role = shown ? roleOf(walk.tables, element) : ""
  if (shown && isCanvas(element, role)) return addCanvas(walk, element, depth)
  if (shown && role === "" && isPlayer(walk, element)) return addPlayer(walk, element, depth)
  if (role !== "") return visitTreeRole(walk, element, role, place, inherited)
  if (tag === "svg" || tag === "br") {
    walk.text += " "
    return
  }
  const control = tag === "label" && shown ? drawnControl(element) : null
  if (control) {
    flushText(walk)
    return addDrawnControl(walk, element, control, depth)
  }
  const cursor = shown ? cursorOf(walk, element, inherited) : inherited.cursor
  const isSame = cursor === inherited.cursor && inherited.unseen === !shown
  const inside: Inherited = isSame ? inherited : { ...inherited, cursor, unseen: !shown }
  if (shown && (isTarget(walk, element, hasOwnHand(cursor, inherited)) || (inherited.parts && isPart(walk, element)))) {
    return visitTarget(walk, element, depth, inside)
  }
  const block = !factsOf(walk.tables, tag).inline
  if (block) flushText(walk)
  visitWhole(walk, element, depth, inside)
  if (block) flushText(walk)
}

/** What is inside the element, with the words that only the style sheet puts before and behind it. */
function visitWhole(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const isAsked = walk.generating.has(element) && !inherited.silent && !inherited.unseen
  const { before, after } = isAsked ? generatedWords(element) : { before: "", after: "" }
  addWords(walk, before, depth)
  visitChildren(walk, element, depth, inherited)
  addWords(walk, after, depth)
}

function addWords(walk: Walk, words: string, depth: number): void {
  if (words === "") return
  if (walk.text.trim() === "") walk.textDepth = depth
  walk.text += words
}

/** Past the depth that the caller asked for: said once for each place. */
function cutOff(walk: Walk, element: PageElement, depth: number): void {
  if (tidy(textOf(element, { left: 50 }), 20) === "" && element.childElementCount === 0) return
  flushText(walk)
  const last = "- text: (deeper than the depth asked for: left out)"
  if (walk.lines.at(-1)?.trimStart() === last) return
  walk.folded += 1
  note(walk, depth, "deeper than the depth asked for: left out")
}

/** A plain element that takes clicks, or a part of one: no role tells it. What is inside it stays in the snapshot. */
function visitTarget(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  flushText(walk)
  const { words, isWhole, isCut, items, hasControls } = lookInside(walk, element)
  const label = tidy(givenName(element), 200)
  const isSimple = items <= 1 && !hasControls && isWhole && !isCut
  const name = label || (isSimple ? words : "")
  // So it is of one that is drawn beside it.
  const drawn =
    name === "" && !element.firstChild?.nodeValue?.trim() && isSimple ? drawnFor(element, inherited.of) : null
  if (drawn && isSaidBy(walk, drawn, element, "")) return visitChildren(walk, element, depth, inherited)
  // A control that is drawn by an element inside it: one ref is enough.
  if (inherited.silent && isSimple) return visitChildren(walk, element, depth, inherited)
  const start = walk.lines.length
  const role = plainRole(walk, element)
  const states = statesOf(walk.tables, element, role) + (isEmptyList(walk, element) ? " [empty]" : "")
  addLine(walk, { element, role, name, depth, states, ref: true })
  const silent = isSimple && name !== "" && name === words
  visitWhole(walk, element, depth + 1, { ...inherited, silent, parts: items > 1 })
  flushText(walk)
  foldText(walk, start)
}

function visitTreeRole(walk: Walk, element: PageElement, role: string, place: Place, inherited: Inherited): void {
  const { depth } = place
  if (role === "iframe") return addFrame(walk, element, depth)
  // The field in it has the ref.
  const isBox = innerField(walk, element, role) !== null
  const isInteractive = !isBox && takesInput(walk.tables, element, role)
  const isLeaf = isInteractive && !element.firstElementChild && !element.shadowRoot
  const cursor = isLeaf ? "pointer" : cursorOf(walk, element, inherited)
  const isOwn =
    !isInteractive &&
    !isBox &&
    (isTarget(walk, element, hasOwnHand(cursor, inherited)) || (inherited.parts && isPart(walk, element)))
  if (inherited.silent && !isInteractive && !isOwn) {
    const silent = role !== "group" || !isBranch(element)
    return visitChildren(walk, element, depth, { ...inherited, silent, unseen: false, cursor })
  }
  flushText(walk)
  const { name, said } = nameOf(walk.tables, element, role)
  // A picture that only decorates.
  if (isPicture(element) && walk.mark !== "" && name === "" && !isOwn) return
  const start = walk.lines.length
  const isNamed =
    walk.options.contentRefs && name !== "" && walk.tables.content.has(role) && !wrapsControl(walk, element)
  // As a canvas it is worked at points of it, by what moves and what listens in none of its parts.
  const isDrawing = walk.options.contentRefs && role === "img" && isChart(element)
  addLine(walk, {
    element,
    role,
    name,
    depth,
    states: statesOf(walk.tables, element, role) + (isDrawing ? sizeOf(element) : ""),
    ref: isInteractive || isOwn || isNamed || isDrawing,
  })
  if (isPicture(element)) return
  if (addValue(walk, element, role, depth + 1, start)) return
  addAddress(walk, element, role, depth + 1)
  const parts = isOwn && !isInteractive && lookInside(walk, element).items > 1
  visitWhole(walk, element, depth + 1, { silent: said, unseen: false, cursor, parts })
  flushText(walk)
  foldText(walk, start)
}

/** The entries below one of a tree, whose name has none of their words. */
export function isBranch(element: PageElement): boolean {
  const around = element.parentElement?.closest("[role=treeitem],[role=group]")
  return around?.getAttribute("role") === "treeitem"
}

/** A cell around one button, an entry around one link: the ref of what is inside is enough. */
function wrapsControl(walk: Walk, element: PageElement): boolean {
  const { firstElementChild: child } = element
  return child !== null && element.childElementCount === 1 && hasRole(walk.tables, child, walk.tables.interactive)
}

function addAddress(walk: Walk, element: PageElement, role: string, depth: number): void {
  const href = role === "link" ? (element.getAttribute("href") ?? "") : ""
  if (href === "" || href === "#" || href.length > 120 || /^javascript:/i.test(href)) return
  walk.lines.push(`${"  ".repeat(depth)}- /url: ${tidy(href, 120)}`)
}

/** A line whose only content is one text becomes one line; a line with content gets its colon. */
function foldText(walk: Walk, start: number): void {
  const count = walk.lines.length - start - 1
  if (count === 0) return
  const line = walk.lines[start] as string
  if (/\]: |": /.test(line) && !line.endsWith(":")) return
  const only = count === 1 ? /^ *- text( \[ref=\0\])?: /.exec(walk.lines[start + 1] as string) : null
  if (!only) return void (walk.lines[start] += ":")
  const words = (walk.lines.pop() as string).slice(only[0].length)
  if (only[1]) takeRef(walk, start)
  walk.lines[start] += `: ${words}`
}

/** The line of the words goes: their ref becomes that of the line that says them, if it has none. */
function takeRef(walk: Walk, start: number): void {
  const [, id = 0] = walk.refs.pop() ?? []
  const element = walk.elements.pop() as PageElement
  const line = walk.lines[start] as string
  if (line.includes("[ref=\0]")) return
  const role = /^ *- ([\w-]+)/.exec(line)?.[1] ?? "text"
  walk.refs.push([start, id, role, "", false])
  walk.elements.push(element)
  walk.lines[start] = `${line} [ref=\0]`
}

export const treeFunctions = [
  visitTreeText,
  visitTreeElement,
  visitShown,
  visitWhole,
  addWords,
  cutOff,
  visitTarget,
  visitTreeRole,
  addAddress,
  isBranch,
  wrapsControl,
  foldText,
  takeRef,
]
