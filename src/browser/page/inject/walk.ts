// One visit of a document that gives the lines of its snapshot. Runs in the page (see agent.ts).
// Numbers of elements and places of frames are left as marks; the gateway puts in what is valid for the whole tab.
import { forgetGone, numberOf, type PageAgent, rootOf } from "./agent.ts"
import { watchChanges } from "./changes.ts"
import type { PageDocument, PageElement, PageNode } from "./dom.ts"
import { firstInside, isHidden, isHiddenByAttribute, nameOf, textOf, tidy } from "./names.ts"
import { type RoleTables, roleOf, roleTables, statesOf } from "./roles.ts"

export interface WalkOptions {
  /** Only interactive elements, as a flat list. */
  interactive: boolean
  /** With interactive: headings and messages too, so that the list can be understood. */
  context: boolean
  /** Refs for named headings, cells and landmarks too. */
  contentRefs: boolean
  /** Of a longer run of equal siblings only so many are shown, and the others counted; 0 shows all. */
  fold: number
  /** Nesting of roles past which nothing is shown; below 0 for no limit. */
  depth: number
  /** Only what is inside the element of this selector; "" for the whole page. */
  selector: string
}

/** `\0` in a line stands for the ref of the entry in `refs` that names the line. */
export interface WalkResult {
  lines: string[]
  /** Line, number of the element, role, name, whether it is interactive. */
  refs: [number, number, string, string, boolean][]
  /** Line of an iframe, its number, depth of what is inside. */
  frames: [number, number, number][]
  /** How many elements could hide a closed shadow root that the gateway has not handed in. */
  suspects: number
  /** Siblings that were counted instead of shown. */
  folded: number
  /** Set when the selector fits no element, several, or is none. */
  problem?: "none" | "several" | "bad"
}

interface Walk extends WalkResult {
  agent: PageAgent
  tables: RoleTables
  options: WalkOptions
  interactive: boolean
  maxDepth: number
  /** Elements that the walk is inside of. */
  nesting: number
  text: string
  textDepth: number
}

export function walkPage(agent: PageAgent, options: WalkOptions): string {
  forgetGone(agent)
  agent.suspects = []
  agent.roots = []
  const walk: Walk = {
    agent,
    tables: roleTables(),
    options,
    interactive: options.interactive,
    maxDepth: options.depth < 0 ? 1000 : options.depth,
    nesting: 0,
    suspects: 0,
    folded: 0,
    lines: [],
    refs: [],
    frames: [],
    text: "",
    textDepth: 0,
  }
  walkFrom(walk, options.selector)
  flushText(walk)
  watchChanges(agent)
  const { lines, refs, frames, folded, problem } = walk
  const suspects = agent.suspects.length
  return JSON.stringify({ lines, refs, frames, suspects, folded, ...(problem ? { problem } : {}) } satisfies WalkResult)
}

function walkFrom(walk: Walk, selector: string): void {
  const root = document.body ?? document.documentElement
  if (!root) return
  const inherited = { silent: false, pointer: getComputedStyle(root).cursor === "pointer" }
  if (selector === "") return visitChildren(walk, root, 0, inherited)
  try {
    const found = document.querySelectorAll(selector)
    if (found.length === 1) visitElement(walk, found[0] as PageElement, 0, { silent: false, pointer: false })
    else walk.problem = found.length === 0 ? "none" : "several"
  } catch {
    walk.problem = "bad"
  }
}

interface Inherited {
  /** True inside an element whose name already says the text. */
  silent: boolean
  /** Whether the parent shows the hand: then a child that shows it too is not clickable by itself. */
  pointer: boolean
}

function flushText(walk: Walk): void {
  const text = tidy(walk.text, 2000).replaceAll("[ref=", "(ref=")
  walk.text = ""
  if (text !== "" && !walk.interactive) walk.lines.push(`${"  ".repeat(walk.textDepth)}- text: ${text}`)
}

/** A walk calls itself: past this nesting, which no page of a parser's making has, it would run out of stack. */
function visitChildren(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const deepest = 600
  if (walk.nesting >= deepest) {
    if (!element.firstChild) return
    flushText(walk)
    walk.folded += 1
    walk.lines.push(
      `${walk.interactive ? "" : "  ".repeat(depth)}- text: (nested too deeply: what is inside is left out)`,
    )
    return
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
  const shadow = rootOf(element)
  if (shadow) walk.agent.roots.push(shadow)
  else if (isSuspect(element) && !walk.agent.probed.has(element)) walk.agent.suspects.push(element)
  if (walk.options.fold > 0) return visitFolded(walk, element, depth, inherited)
  for (let node = firstInside(element); node; node = node.nextSibling) visitNode(walk, node, depth, inherited)
}

/** Whether an element could hide a closed shadow root: a custom element, or one that shows without having content. */
function isSuspect(element: PageElement): boolean {
  if (element.localName.includes("-")) return true
  return (
    !element.firstChild && /^(div|span|section|main|article|p)$/.test(element.localName) && element.offsetHeight > 0
  )
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
        if (last.count > fold / 4) {
          before += last.count
          walk.folded += last.count
          flushText(walk)
          const shown = walk.refs.length > refsBefore || !walk.interactive
          const indent = walk.interactive ? "" : "  ".repeat(depth)
          if (shown)
            walk.lines.push(
              `${indent}- text: (${last.count} more ${kind.split(" ")[0]} elements like the ${fold} above)`,
            )
          node = last.element
          continue
        }
      }
      before += 1
    }
    visitNode(walk, node, depth, inherited)
  }
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

function visitNode(walk: Walk, node: PageNode, depth: number, inherited: Inherited): void {
  if (node.nodeType === 1) return visitElement(walk, node as PageElement, depth, inherited)
  if (node.nodeType !== 3 || inherited.silent || walk.interactive) return
  if (walk.text === "") walk.textDepth = depth
  walk.text += node.nodeValue ?? ""
}

function visitElement(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const tag = element.localName
  if (walk.tables.skippedTags.has(tag) || depth > walk.maxDepth) return
  // Without visibility of its own an element says nothing, but a child may have turned it on again.
  let shown = element.checkVisibility({ visibilityProperty: true })
  if (shown ? isHiddenByAttribute(element) : isHidden(element)) return
  shown ||= tag === "slot" || !element.checkVisibility()
  const role = shown ? roleOf(walk.tables, element) : ""
  if (role !== "") return visitRole(walk, element, role, depth, inherited)
  if (tag === "svg" || tag === "canvas" || tag === "br") {
    walk.text += " "
    return
  }
  const control = tag === "label" && shown ? hiddenControl(element) : null
  if (control) return visitLabel(walk, element, control, depth)
  const pointer = shown && (inherited.pointer || getComputedStyle(element).cursor === "pointer")
  const clickable = pointer && !inherited.pointer && tag !== "label" && tag !== "slot" && tag !== "body"
  const focusable = shown && Number(element.getAttribute("tabindex") ?? -1) >= 0
  if (clickable || focusable || (shown && element.hasAttribute("onclick"))) {
    return visitClickable(walk, element, depth, { ...inherited, pointer })
  }
  const block = !walk.tables.inlineTags.has(tag)
  if (block) flushText(walk)
  visitChildren(walk, element, depth, shown ? { silent: inherited.silent, pointer } : { silent: true, pointer })
  if (block) flushText(walk)
}

/** The checkbox or radio of a label that is drawn by the label alone. */
function hiddenControl(label: PageElement): PageElement | null {
  const { control } = label
  if (!control || control.localName !== "input" || !/^(checkbox|radio)$/.test(control.type)) return null
  return control.checkVisibility() ? null : control
}

function visitLabel(walk: Walk, element: PageElement, control: PageElement, depth: number): void {
  flushText(walk)
  const name = nameOf(walk.tables, control, control.type) || tidy(textOf(element, { left: 1000 }), 200)
  addLine(walk, { element, role: control.type, name, depth, states: statesOf(control, control.type), ref: true })
}

/** A plain element that takes clicks: no role tells it, only the hand, a listener attribute or the tab order. */
function visitClickable(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  flushText(walk)
  const name = tidy(
    element.getAttribute("aria-label") ?? element.getAttribute("title") ?? textOf(element, { left: 1000 }),
    200,
  )
  addLine(walk, { element, role: "generic", name, depth, states: statesOf(element, "generic"), ref: true })
  visitChildren(walk, element, depth + 1, { silent: name !== "", pointer: inherited.pointer })
  flushText(walk)
}

function visitRole(walk: Walk, element: PageElement, role: string, depth: number, inherited: Inherited): void {
  const isInteractive = walk.tables.interactive.has(role)
  const inside = depth + 1
  const pointer = inherited.pointer || isInteractive
  if (walk.interactive && !isInteractive && role !== "iframe" && !(walk.options.context && isContext(role)))
    return visitChildren(walk, element, inside, { ...inherited, pointer })
  if (role === "iframe") return visitFrame(walk, element, depth)
  if (inherited.silent && !isInteractive && !walk.interactive) return visitChildren(walk, element, depth, inherited)
  flushText(walk)
  const name = nameOf(walk.tables, element, role)
  const start = walk.lines.length
  addLine(walk, {
    element,
    role,
    name,
    depth,
    states: statesOf(element, role),
    ref: isInteractive || isContent(walk, role, name),
  })
  if (role === "img") return
  if (walk.interactive && isContext(role)) {
    if (name === "") addText(walk, element, start)
    return visitChildren(walk, element, inside, { silent: true, pointer })
  }
  if (addValue(walk, element, role, inside, start)) return
  const href = role === "link" && !walk.interactive ? (element.getAttribute("href") ?? "") : ""
  if (href !== "" && href.length <= 120 && !/^javascript:/i.test(href)) {
    walk.lines.push(`${"  ".repeat(inside)}- /url: ${tidy(href, 120)}`)
  }
  const silent = name !== "" && walk.tables.namedByContent.has(role)
  visitChildren(walk, element, inside, { silent, pointer })
  flushText(walk)
  if (!walk.interactive) foldText(walk, start)
}

/** What tells a reader of a list of controls where they are and what has happened. */
function isContext(role: string): boolean {
  return role === "heading" || role === "alert" || role === "status"
}

function isContent(walk: Walk, role: string, name: string): boolean {
  return walk.options.contentRefs && name !== "" && walk.tables.content.has(role)
}

/** The element's own words behind its line; without words the line says nothing. */
function addText(walk: Walk, element: PageElement, start: number): void {
  const text = tidy(textOf(element, { left: 1000 }), 200).replaceAll("[ref=", "(ref=")
  if (text === "") walk.lines.length = start
  else walk.lines[start] += `: ${text}`
}

/** A line whose only content is one text becomes one line; a line with content gets its colon. */
function foldText(walk: Walk, start: number): void {
  const count = walk.lines.length - start - 1
  if (count === 0) return
  const only = count === 1 ? /^ *- text: /.exec(walk.lines[start + 1] as string) : null
  if (only) walk.lines[start] += `: ${(walk.lines.pop() as string).slice(only[0].length)}`
  else walk.lines[start] += ":"
}

interface Line {
  element: PageElement
  role: string
  name: string
  depth: number
  states: string
  ref: boolean
}

function addLine(walk: Walk, line: Line): void {
  const name = line.name === "" ? "" : ` ${JSON.stringify(line.name)}`
  let ref = ""
  if (line.ref) {
    const id = numberOf(walk.agent, line.element, `${line.role} ${line.name}`)
    walk.refs.push([walk.lines.length, id, line.role, line.name, walk.tables.interactive.has(line.role)])
    ref = " [ref=\0]"
  }
  const indent = walk.interactive ? "" : "  ".repeat(line.depth)
  const role = tidy(line.role, 40).replace(/[^\w-]/g, "") || "generic"
  walk.lines.push(`${indent}- ${role}${name}${ref}${line.states}`)
}

/** Values of inputs, and the options of a select; true when there is nothing else inside to visit. */
function addValue(walk: Walk, element: PageElement, role: string, inside: number, start: number): boolean {
  const tag = element.localName
  if (tag === "select") {
    addOptions(walk, element, inside)
    if (!walk.interactive && walk.lines.length > start + 1) walk.lines[start] += ":"
    return true
  }
  if (tag !== "input" && tag !== "textarea") return false
  if (role === "checkbox" || role === "radio" || role === "button" || role === "switch") return true
  const value = element.type === "password" ? "•".repeat(Math.min(8, element.value.length)) : tidy(element.value, 500)
  if (value !== "") walk.lines[start] += `: ${value.replaceAll("[ref=", "(ref=")}`
  return true
}

function addOptions(walk: Walk, element: PageElement, inside: number): void {
  const limit = 50
  const options = element.options
  if (!options) return
  const indent = walk.interactive ? "  " : "  ".repeat(inside)
  let left = 0
  for (let index = 0; index < options.length; index += 1) {
    const option = options[index] as PageElement
    if (index < limit || option.selected) {
      walk.lines.push(
        `${indent}- option ${JSON.stringify(nameOf(walk.tables, option, "option"))}${statesOf(option, "option")}`,
      )
    } else left += 1
  }
  if (left > 0) walk.lines.push(`${indent}- text: (${left} more options)`)
}

function visitFrame(walk: Walk, element: PageElement, depth: number): void {
  flushText(walk)
  const name = tidy(
    element.getAttribute("aria-label") ?? element.getAttribute("title") ?? element.getAttribute("name") ?? "",
    200,
  )
  const id = numberOf(walk.agent, element, "iframe")
  walk.frames.push([walk.lines.length, id, depth + 1])
  const indent = walk.interactive ? "" : "  ".repeat(depth)
  walk.lines.push(`${indent}- iframe${name === "" ? "" : ` ${JSON.stringify(name)}`}`)
}

/** The number of the one frame element that the selector fits; 0 when there is none, -1 for several. */
export function numberOfSelector(agent: PageAgent, selector: string): number {
  const found = Array.from(document.querySelectorAll(selector)).filter((element) => /^i?frame$/.test(element.localName))
  if (found.length !== 1) return found.length === 0 ? 0 : -1
  return numberOf(agent, found[0] as PageElement, "iframe")
}

export const walkFunctions = [
  numberOfSelector,
  walkPage,
  walkFrom,
  isSuspect,
  visitFolded,
  shapeOf,
  skipEqual,
  isContext,
  isContent,
  addText,
  flushText,
  visitChildren,
  visitInside,
  visitNode,
  visitElement,
  hiddenControl,
  visitLabel,
  visitClickable,
  visitRole,
  foldText,
  addLine,
  addValue,
  addOptions,
  visitFrame,
]

declare const document: PageDocument
declare const getComputedStyle: (element: PageElement) => { cursor: string }
declare const CSS: { escape(text: string): string }
