// What a walk knows while it goes through a document, and how it writes a line. Runs in the page (see agent.ts).
import { numberOf, type PageAgent } from "../agent.ts"
import { isConcealed } from "../conceal.ts"
import type { PageElement, PageNode, PageRoot } from "../dom.ts"
import { textOf, tidy } from "../names.ts"
import { isRefused, type RoleTables, takesInput } from "../roles.ts"
import { drawnState, errorBeside, hintOf, hintOfSign, inBrackets } from "./hints.ts"

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
  /** The last walk was this one: nothing need be told where nothing has changed since. */
  repeated?: boolean
}

/** What a walk tells besides its lines. */
export interface WalkReport {
  /** For each ref its line, the number of the element, and 1 where it is interactive: one after the other. */
  refs: number[]
  /** Line of an iframe, its number, depth of what is inside. */
  frames: [number, number, number][]
  /** How many elements could hide a closed shadow root and have not been looked at. */
  suspects: number
  /** Siblings that were counted instead of shown. */
  folded: number
  /** Anything of the document was otherwise than at the walk before, shown or not. */
  changed: boolean
  /** Of the document; "" where it has none. */
  title: string
  /** Set when the selector fits no element, several, or is none. */
  problem?: "none" | "several" | "bad"
}

export interface Walk extends Omit<WalkReport, "refs" | "title"> {
  agent: PageAgent
  /** `\0` in a line stands for the ref of the entry in `refs` that names the line. */
  lines: string[]
  /** Line, number of the element, role, name, whether it is interactive. */
  refs: [number, number, string, string, boolean][]
  tables: RoleTables
  options: WalkOptions
  interactive: boolean
  /** How this kind of snapshot shows an element, and words. */
  visitElement: (walk: Walk, element: PageElement, depth: number, inherited: Inherited) => void
  visitText: (walk: Walk, node: PageNode, depth: number, inherited: Inherited) => void
  maxDepth: number
  /** Elements may have cursors that differ from those of what they stand in. */
  cursors: boolean
  /** Around whose content style sheets may put words. */
  generating: Set<PageElement>
  /** Kinds of elements, as selectors, and whether some of them are lists whose entries can be dragged. */
  boards: Map<string, boolean>
  /** What is asked of each element: made once. */
  asSeen: { visibilityProperty: true }
  /** Elements that the walk is inside of. */
  nesting: number
  text: string
  textDepth: number
  /** The first of the nodes whose words have gathered. */
  textNode: PageNode | null
  /** Numbers of the elements that have a ref in the lines so far. */
  referred: Set<number>
  /** Behind words that people see and screen readers do not: "aria-hidden", "inert", or "". */
  mark: string
  /** Names of the controls that other elements name, by the ids of those; made when it is first asked for. */
  labelled?: Map<string, string>
  /** Elements of the refs, for telling equal ones apart. */
  elements: PageElement[]
  /** Documents and shadow roots in which anything is marked as an error. */
  marked: Map<PageRoot, boolean>
  /** Labels that name no control for the browser: their lines, and whether something has come behind that does not say it. */
  captions: { line: number; label: PageElement; words: string; isMet: boolean }[]
  /** The first behind each of these. */
  captioned: Set<PageElement>
  /** The element with the focus, also inside shadow roots. */
  focused: PageElement | null
}

/** What an element passes to what is inside it. */
export interface Inherited {
  /** True inside an element whose line says the text already. */
  silent: boolean
  /** The parent itself is not visible, though what is inside it may be. */
  unseen: boolean
  /** The cursor that the parent shows: an element that shows the same is not known to take clicks by itself. */
  cursor: string
  /** Inside an element that takes clicks as a whole, and is a container of several things. */
  parts: boolean
  /** Inside a menu whose entries have an icon each beside their words: it is no entry itself. */
  hasIcons?: boolean
  /** Inside a control: its name. What only draws it is no target of its own. */
  within?: string
  /** Inside a control: the control. */
  control?: PageElement
  /** Inside something with a name of its words: these. A box around all of them is no target of its own. */
  whole?: string
  /** Inside a label: what it is the label of. */
  of?: PageElement
  /** Inside a box that is drawn for a field that nobody sees. */
  box?: FieldBox
}

/** What is drawn around a field, and says for it what it does not say itself. */
export interface FieldBox {
  field: PageElement
  /** What people read in the box besides the field: its value, where the field holds none. */
  words: string
  name: string
  /** ` [expanded]`, where only the box tells it. */
  states: string
}

export interface LineParts {
  element: PageElement
  role: string
  name: string
  depth: number
  states: string
  ref: boolean
}

export function addLine(walk: Walk, line: LineParts): void {
  let hint = line.ref && line.name === "" ? hintOf(line.element, line.role, walk.interactive) : ""
  if (line.ref && line.name !== "") hint = hintOfSign(line.element, line.role, line.name)
  meetCaption(walk, line, hint)
  const name = line.name === "" ? "" : ` ${JSON.stringify(line.name)}`
  let ref = ""
  if (line.ref) {
    const id = numberOf(walk.agent, line.element)
    const interactive = takesInput(walk.tables, line.element, line.role)
    walk.refs.push([walk.lines.length, id, line.role, line.name, interactive])
    walk.elements.push(line.element)
    walk.referred.add(id)
    ref = " [ref=\0]"
  }
  const indent = walk.interactive ? "" : "  ".repeat(line.depth)
  const isWord = /^[a-z]{1,40}$/.test(line.role)
  const role = isWord ? line.role : tidy(line.role, 40).replace(/[^\w-]/g, "") || "generic"
  const mark = walk.mark === "" ? "" : ` [${walk.mark}]`
  walk.lines.push(`${indent}- ${role}${name}${ref}${statesIn(walk, line)}${hint}${mark}`)
}

function statesIn(walk: Walk, line: LineParts): string {
  const { element, role, states } = line
  if (!line.ref) return states
  const isTold = states.includes(" [invalid]")
  const told = isTold ? reasonOf(walk, element) : ""
  const reason = told === "" && walk.options.context ? errorBeside(element, role, walk.marked) : told
  if (reason !== "") {
    const why = inBrackets("invalid", reason)
    return isTold ? states.replace(" [invalid]", () => why) : states + why
  }
  return states === "" ? drawnState(element, role) : states
}

/** Why a field is refused: the words of the page, which stand in no list of controls, or the bubble of the browser. */
function reasonOf(walk: Walk, element: PageElement): string {
  const most = 120
  const ids = element.getAttribute("aria-errormessage") ?? element.getAttribute("aria-describedby") ?? ""
  const root = element.getRootNode()
  const parts = ids.split(/\s+/).map((id) => root.getElementById?.(id))
  const told = parts.map((part) => (part?.checkVisibility() ? textOf(part, { left: 2 * most }) : "")).join(" ")
  if (told.trim() !== "") return walk.interactive ? tidy(told, most) : ""
  // The browser's words may be about what was typed, letter for letter.
  const isSaid = isRefused(element) && (element.value === "" || !isConcealed(walk.agent, element))
  return isSaid ? tidy(element.validationMessage ?? "", most) : ""
}

/** What the first line behind a label says itself, or where no control comes, the label need not say. */
function meetCaption(walk: Walk, { element, name }: LineParts, hint: string): void {
  const caption = walk.captions.at(-1)
  if (!caption || caption.isMet || walk.lines.length !== caption.line + 1) return
  if (!isBesideLabel(caption.label, element)) return
  caption.isMet = name !== caption.words && hint !== ` [hint=${JSON.stringify(caption.words)}]`
  if (caption.isMet) walk.captioned.add(element)
}

/** In one box with it, which holds no other such label. */
function isBesideLabel(label: PageElement, element: PageElement): boolean {
  const highest = 4
  let row = label.parentElement
  for (let steps = 0; row && steps < highest && !row.contains(element); steps += 1) row = row.parentElement
  if (!row?.contains(element)) return false
  const labels = Array.from(row === label.parentElement ? [] : row.querySelectorAll("label"))
  return labels.every((other) => other === label || other.control !== null)
}

export function addCaption(walk: Walk, label: PageElement, words: string): void {
  walk.captions.push({ line: walk.lines.length, label, words, isMet: false })
  walk.lines.push(`- text: ${plainWords(words)}`)
}

/** Takes away the labels that nothing has come behind, and boxes whose parts say all that they say. */
export function dropIdle(walk: Walk): void {
  const idle = new Set(walk.captions.filter(({ isMet }) => !isMet).map(({ line }) => line))
  for (const [index, [line]] of walk.refs.entries()) if (isSaidByParts(walk, index)) idle.add(line)
  if (idle.size === 0) return
  const places: number[] = []
  let left = 0
  for (let line = 0; line < walk.lines.length; line += 1) {
    places.push(left)
    if (!idle.has(line)) left += 1
  }
  const isKept = (line: number) => !idle.has(line)
  walk.elements = walk.elements.filter((_, index) => isKept(walk.refs[index]?.[0] ?? 0))
  walk.refs = walk.refs.filter(([line]) => isKept(line))
  walk.lines = walk.lines.filter((_, line) => isKept(line))
  for (const ref of walk.refs) ref[0] = places[ref[0]] ?? 0
  for (const frame of walk.frames) frame[0] = places[frame[0]] ?? 0
}

/** Of several boxes one in the other, each of which listens, the innermost is enough, and of one around parts its parts. */
function isSaidByParts({ refs, elements, lines }: Walk, index: number): boolean {
  const [line, , role, name] = refs[index] as Walk["refs"][number]
  const element = elements[index] as PageElement
  const most = 60
  const told = (of: number) => (lines[of] ?? "").split("[ref=\0]")[1]
  // A cell around a tick or an arrow.
  const first = elements[index + 1]
  if (/^(cell|columnheader)$/.test(role) && name === "" && told(line) === "" && first) return element.contains(first)
  if (role !== "generic" || name === "") return false
  if (element.hasAttribute("tabindex") || element.getAttribute("draggable") === "true") return false
  const isPlain = told(line) === "" && name.includes(" ")
  const words = name.endsWith("…") ? name.slice(0, -1) : name
  let said = ""
  let before: PageElement | undefined
  for (let next = index + 1; next < Math.min(refs.length, index + most); next += 1) {
    const part = elements[next] as PageElement
    if (!element.contains(part)) break
    const [partLine = 0, , partRole, own = ""] = refs[next] ?? []
    if (own === name && partRole === role && told(partLine) === told(line)) return true
    if (!isPlain || own === "" || before?.contains(part)) continue
    before = part
    said += said === "" ? own : ` ${own}`
    if (said.length >= words.length) return words === name ? said === name : said.startsWith(words)
  }
  return false
}

/** Words of the page at the end of a line: they must not look like a ref of ours. */
export function plainWords(text: string): string {
  return text.replaceAll("[ref=", "(ref=")
}

/** The words that have gathered become one line; a very long text becomes several. */
export function flushText(walk: Walk): void {
  const most = 2000
  let text = walk.text === "" ? "" : plainWords(tidy(walk.text, Infinity))
  walk.text = ""
  if (walk.interactive) return
  const indent = "  ".repeat(walk.textDepth)
  const mark = walk.mark === "" ? "" : ` [${walk.mark}]`
  while (text !== "") {
    let end = text.length > most ? text.lastIndexOf(" ", most) : text.length
    if (end <= 0) end = most
    walk.lines.push(`${indent}- text${refOfText(walk)}: ${text.slice(0, end)}${mark}`)
    text = text.slice(end).trimStart()
  }
  walk.textNode = null
}

/**
 * The ref of the block that the words stand in, unless it has one already: pages take clicks and drags on plain text,
 * by handlers far above it that nobody can know.
 */
function refOfText(walk: Walk): string {
  if (!walk.options.contentRefs || !walk.textNode) return ""
  const around = (node: PageNode) => {
    const parent = node.parentNode as PageElement | null
    // Out of a shadow root.
    return parent?.nodeType === 11 ? (parent.host ?? null) : parent
  }
  let holder = around(walk.textNode)
  for (let steps = 0; holder && steps < 20 && walk.tables.inlineTags.has(holder.localName); steps += 1)
    holder = around(holder)
  if (!holder || holder.nodeType !== 1 || holder.localName === "body") return ""
  const id = numberOf(walk.agent, holder)
  if (walk.referred.has(id)) return ""
  walk.referred.add(id)
  walk.refs.push([walk.lines.length, id, "text", "", false])
  walk.elements.push(holder)
  return " [ref=\0]"
}

export function note(walk: Walk, depth: number, words: string): void {
  walk.lines.push(`${walk.interactive ? "" : "  ".repeat(depth)}- text: (${words})`)
}

export const stateFunctions = [
  addLine,
  statesIn,
  reasonOf,
  meetCaption,
  isBesideLabel,
  addCaption,
  dropIdle,
  isSaidByParts,
  plainWords,
  flushText,
  refOfText,
  note,
]
