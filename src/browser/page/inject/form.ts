// Chooses options and tells what a field is. Runs in the page (see agent.ts).
import { elementOf, type PageAgent } from "./agent.ts"
import type { PageElement, PageNode, PageWindow } from "./dom.ts"
import { isCatcher, isEditable } from "./catcher.ts"
import { isConcealed } from "./conceal.ts"
import { hasFocus, takesValue } from "./edit.ts"
import { bringIntoView } from "./boxes.ts"
import { isTiny } from "./walk/hints.ts"

export type FieldKind = "text" | "checkbox" | "radio" | "select" | "other"

export interface FieldState {
  kind: "gone" | FieldKind
  checked: boolean
  multiple: boolean
  /** Whether a field of dates, colours or numbers can hold the text; other fields show it when they have it. */
  takes: boolean
}

export function fieldState(agent: PageAgent, id: number, text: string): FieldState {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone", checked: false, multiple: false, takes: false }
  const role = element.getAttribute("role")
  const aria = element.getAttribute("aria-checked")
  const native = element.localName === "input" && (element.type === "checkbox" || element.type === "radio")
  let kind: FieldKind = "other"
  if (native) kind = element.type === "radio" ? "radio" : "checkbox"
  else if (role === "checkbox" || role === "switch") kind = "checkbox"
  else if (role === "radio") kind = "radio"
  else if (element.localName === "select") kind = "select"
  else if (element.localName === "input" || element.localName === "textarea" || element.isContentEditable) kind = "text"
  return {
    kind,
    checked: native ? element.checked : aria === "true",
    multiple: element.multiple === true,
    takes: takesValue(element, text),
  }
}

export type SelectState =
  | { kind: "gone" | "not-select" | "single" | "selected" | "marked" | "no-words" | "secret" }
  | { kind: "missing"; index: number }

/** Chooses exactly the options of these values or labels; nothing is changed when one is missing (or disabled). */
export function selectOptions(agent: PageAgent, id: number, values: string[]): SelectState {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  const { options } = element
  if (element.localName !== "select" || !options) {
    if (!holdsText(element)) return { kind: "not-select" }
    return { kind: holdsSecret(agent, element) ? "secret" : markWords(element, values) }
  }
  if (values.length > 1 && !element.multiple) return { kind: "single" }
  const all: PageElement[] = []
  for (let index = 0; index < options.length; index += 1) all.push(options[index] as PageElement)
  const usable = all.filter((option) => !option.matches(":disabled"))
  const wanted = values.map(
    (value) =>
      usable.find((option) => option.value === value) ??
      usable.find((option) => option.label.trim() === value.trim() || option.text.trim() === value.trim()),
  )
  const index = wanted.indexOf(undefined)
  if (index >= 0) return { kind: "missing", index }
  // A field that a component keeps at no size never has the focus: the component would open its own list.
  if (!isTiny(element)) element.focus({ preventScroll: true })
  const before = all.map((option) => option.selected).join()
  for (const option of all) option.selected = wanted.includes(option)
  if (all.map((option) => option.selected).join() === before) return { kind: "selected" }
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }))
  element.dispatchEvent(new Event("change", { bubbles: true }))
  return { kind: "selected" }
}

/** A text that people mark words of: none that offers a list. */
function holdsText(element: PageElement): boolean {
  if (element.editContext || isCatcher(element) || !isEditable(element)) return false
  return element.getAttribute("role") !== "combobox" && !element.hasAttribute("list")
}

/** Whether words are in it would be told word by word. */
function holdsSecret(agent: PageAgent, element: PageElement): boolean {
  const isPart = (other: PageElement) => other.contains(element) || element.contains(other)
  return isConcealed(agent, element) || Array.from(agent.concealed).some(isPart)
}

/** Marks the first place of some words, as the mouse is drawn over them. */
function markWords(element: PageElement, values: string[]): "single" | "marked" | "no-words" {
  const [words = "", other] = values
  if (other !== undefined) return "single"
  const plain = (text: string) => text.replaceAll("\u00a0", " ")
  if (element.localName === "input" || element.localName === "textarea") {
    const start = plain(element.value).indexOf(plain(words))
    // Fields for mail addresses and numbers have no place that could be set.
    if (words === "" || start < 0 || /^(email|number)$/.test(element.type)) return "no-words"
    element.focus({ preventScroll: true })
    const field = element as unknown as { setSelectionRange(start: number, end: number): void }
    field.setSelectionRange(start, start + words.length)
    return "marked"
  }
  const nodes: PageNode[] = []
  const gather = (node: PageNode) => {
    if (node.nodeType === 3) nodes.push(node)
    for (let child = node.nodeType === 1 ? node.firstChild : null; child; child = child.nextSibling) gather(child)
  }
  gather(element)
  const start = plain(nodes.map((node) => node.nodeValue ?? "").join("")).indexOf(plain(words))
  if (words === "" || start < 0) return "no-words"
  if (!hasFocus(element)) (element.closest("[contenteditable]:not([contenteditable=false])") ?? element).focus()
  const placeAt = (offset: number, isEnd: boolean): [PageNode, number] => {
    let left = offset
    for (const node of nodes) {
      const { length } = node.nodeValue ?? ""
      if (isEnd ? left <= length : left < length) return [node, left]
      left -= length
    }
    return [element, 0]
  }
  const [from, to] = [placeAt(start, false), placeAt(start + words.length, true)]
  bringIntoView(from[0].parentNode as PageElement, "nearest")
  getSelection()?.setBaseAndExtent(...from, ...to)
  return "marked"
}

/** Gives the element the focus; false where it takes none, nor anything in it. */
export function focusOn(agent: PageAgent, id: number): "gone" | boolean {
  const element = elementOf(agent, id)
  if (!element) return "gone"
  if (!hasFocus(element)) element.focus({ preventScroll: true })
  return hasFocus(element)
}

/** Scrolls the element to the middle of its own view; false when it is gone. */
export function scrollTo(agent: PageAgent, id: number): boolean {
  const element = elementOf(agent, id)
  if (element) bringIntoView(element, "center")
  return element !== null
}

export const formFunctions = [fieldState, selectOptions, holdsText, holdsSecret, markWords, focusOn, scrollTo]

declare const getSelection: PageWindow["getSelection"]
declare const Event: new (type: string, options: object) => object
