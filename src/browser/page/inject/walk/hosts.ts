// What stands around things that have lines of their own and says nothing else: hosts of components, boxes around dialogs and
// tables, labels that components make. And what a page keeps far off until it is opened. Runs in the page (see agent.ts).
import { rootOf } from "../agent.ts"
import type { PageDocument, PageElement } from "../dom.ts"
import { nameOf, textOf, tidy } from "../names.ts"
import { roleOf } from "../roles.ts"
import { isListed, isSaidBy, isTick, isUndrawn, takesFocus } from "./drawn.ts"
import type { Inherited, Walk } from "./state.ts"
import type { Inside } from "./targets.ts"

/** Lists and dialogs that are parked where no scrolling leads, until they are opened. */
export function isParked(element: PageElement, role: string): boolean {
  if (!/^(listbox|menu|tree|grid|dialog|alertdialog|tooltip)$/.test(role)) return false
  const { x, y, width, height } = element.getBoundingClientRect()
  const far = -1000
  if (y + height + scrollY < far) return true
  // Pages that are written from right to left scroll that way.
  return x + width + scrollX < far && getComputedStyle(document.documentElement).direction !== "rtl"
}

/** Around one control, or one dialog or table, and nothing else: a click on it is one on what is inside. */
export function isOnlyAround(walk: Walk, element: PageElement, inside: Inside): boolean {
  if (element.getAttribute("draggable") === "true") return false
  const [control, other] = inside.controls
  if (control && !other && isAroundControl(walk, element, control, inside)) return true
  return !takesFocus(element) && (inside.items > 1 || inside.isCut) && isAroundPart(element)
}

function isAroundControl(walk: Walk, element: PageElement, control: PageElement, { own }: Inside): boolean {
  const words = tidy(own.map((item) => textOf(item, { left: 200 })).join(" "), 200)
  // The host of a component hands the focus on to the control that it is made of.
  if (control.getRootNode().host === element)
    return words === "" || nameOf(walk.tables, control, roleOf(walk.tables, control)).name === words
  // A box to tick without a label has its words for a hint.
  if (takesFocus(element) || control.localName !== "input" || !isTick(control) || !isUndrawn(control)) return false
  return words !== "" && nameOf(walk.tables, control, control.type).name === ""
}

function isAroundPart(element: PageElement): boolean {
  const parts = "[role=dialog],[role=alertdialog],[role=grid],[role=treegrid]"
  const part = element.querySelector(parts) ?? rootOf(element)?.querySelector(parts)
  if (!part?.checkVisibility({ visibilityProperty: true })) return false
  const [box, inner] = [element.getBoundingClientRect(), part.getBoundingClientRect()]
  if (Math.abs(box.width - inner.width) + Math.abs(box.height - inner.height) < 8) return true
  // Their names stand for their words in any text but this.
  const wordsOf = (of: PageElement) => tidy(of.textContent ?? "", Infinity)
  return wordsOf(part) === wordsOf(element)
}

/** The control that an element of a component names by `for`, where that says all its words. */
export function isLabelFor(walk: Walk, element: PageElement, words: string): boolean {
  const { host } = element.getRootNode()
  const label = element.localName === "label" && host?.hasAttribute("for") ? host : element
  const id = label.localName.includes("-") ? label.getAttribute("for") : null
  const target = id ? label.getRootNode().getElementById?.(id) : null
  if (!target || takesFocus(element)) return false
  const control = controlOf(target)
  return isListed(control) && isSaidBy(walk, control, element, words)
}

/** Components are made of components. */
function controlOf(target: PageElement): PageElement {
  const controls = "input,select,textarea,button,[role=combobox],[role=slider],[role=button],[role=textbox]"
  let part: PageElement | undefined = target
  for (let steps = 0; part && steps < 3; steps += 1) {
    const found: PageElement | null | undefined = rootOf(part)?.querySelector(controls)
    if (found) return found
    part = Array.from(rootOf(part)?.querySelectorAll("*") ?? []).find((inner) => rootOf(inner) !== null)
  }
  return target
}

/** The button of the same name that the host of an entry is drawn by; the entry is told to be disabled as the button is. */
export function drawsEntry(walk: Walk, element: PageElement, role: string, { control }: Inherited): boolean {
  if (role !== "button" || !control || element.getRootNode().host !== control) return false
  const entry = roleOf(walk.tables, control)
  if (!/^(menuitem\w*|option|tab|treeitem)$/.test(entry)) return false
  if (nameOf(walk.tables, control, entry).name !== nameOf(walk.tables, element, role).name) return false
  const last = walk.refs.at(-1)?.[0]
  if (element.matches(":disabled") && last !== undefined && walk.elements.at(-1) === control) {
    const line = walk.lines[last] as string
    if (!line.includes(" [disabled]")) walk.lines[last] = line.replace("[ref=\0]", "[ref=\0] [disabled]")
  }
  return true
}

export const hostsFunctions = [isParked, isOnlyAround, isAroundControl, isAroundPart, isLabelFor, controlOf, drawsEntry]

declare const scrollX: number
declare const scrollY: number
declare const document: PageDocument
declare const getComputedStyle: (element: PageElement) => { direction: string }
