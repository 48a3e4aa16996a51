// Puts the text cursor where typing must go, sets values that cannot be typed, and tells what a field holds after it.
// Runs in the page (see agent.ts).
import { elementOf, type PageAgent, numberOf } from "./agent.ts"
import { fieldFor, isCatcher, isEditable, isHelper } from "./catcher.ts"
import { isConcealed } from "./conceal.ts"
import { isDial } from "./dial.ts"
import type { PageDocument, PageElement, PageEvent, PageRoot, PageWindow } from "./dom.ts"
import { bringIntoView, firstBox } from "./boxes.ts"
import { focusedElement } from "./walk/walk.ts"

/** Where the text goes: over all that is there, behind it, or where the text cursor is. */
export type EditMode = "replace" | "append" | "caret"

export type EditState =
  | { kind: "gone" | "not-editable" | "bad-value" }
  /**
   * `id`: the field that has the focus now, or has been `written` into; `before`: what it held, null where that cannot be read.
   * `isHelper`: it only catches keys for something else, which may look at nothing but the keys; `opens`: a list opens below it.
   */
  | {
      kind: "focused" | "keys" | "set" | "dial" | "written"
      id: number
      before: string | null
      isHelper?: boolean
      opens?: boolean
    }

/**
 * Focuses the element and puts the text cursor where the text has to go.
 * Dates, colours and ranges have no text to type over: `value` is set at once, with the events that typing would give.
 */
export function editElement(
  agent: PageAgent,
  id: number,
  options: { mode: EditMode; value: string; atOnce: boolean },
): EditState {
  const given = elementOf(agent, id)
  if (!given) return { kind: "gone" }
  const known = isEditable(given) || isDial(given) ? given : (fieldFor(given) ?? given)
  if (!isEditable(known) && isDial(known)) {
    known.focus({ preventScroll: true })
    return { kind: "dial", id, before: null }
  }
  if (options.mode !== "caret" || !hasFocus(known)) known.focus({ preventScroll: true })
  const element = hasFocus(known) ? known : swappedFor(known)
  if (!element) return { kind: "not-editable" }
  const before = readField(element)
  const found = { id: numberOf(agent, element), before, isHelper: isHelper(element), opens: opensList(element) }
  if (isSetAtOnce(element)) return setValue(element, options.value) ? { kind: "set", ...found } : { kind: "bad-value" }
  watchTyping(agent, element, options.value)
  const isWritten = () => options.atOnce && writeInto(element, options)
  if (options.mode === "caret") return { kind: isWritten() ? "written" : "focused", ...found }
  // Its text is not in the field: only the editor itself can select it.
  if (element.editContext || isCatcher(element)) return { kind: "keys", ...found }
  placeCaret(element, options.mode)
  return { kind: isWritten() ? "written" : "focused", ...found }
}

function opensList(element: PageElement): boolean {
  return element.getAttribute("role") === "combobox" || element.hasAttribute("aria-autocomplete")
}

/** What is typed goes to whatever has the focus when it arrives; this goes to the field of this document. */
function writeInto(element: PageElement, { mode, value }: { mode: EditMode; value: string }): boolean {
  const isField = element.localName === "input" || element.localName === "textarea"
  if (!isField && (!element.isContentEditable || element.editContext)) return false
  if (value === "") return mode !== "replace" || document.execCommand("delete")
  return document.execCommand("insertText", false, value)
}

/** Whether keys go to this document, and to no frame in it or beside it. */
export function holdsFocus(): boolean {
  const { localName = "" } = focusedElement() ?? {}
  return !/^(?:i?frame|object|embed)$/.test(localName) && (window.parent === window || document.hasFocus())
}

/** Some fields show another one as soon as they are entered, which then has the focus. */
function swappedFor(element: PageElement): PageElement | null {
  const focused = focusedElement()
  if (!focused || !isEditable(focused)) return null
  let around: PageElement | null = element.parentElement
  for (let steps = 0; around && around.localName !== "body" && steps < 4; steps += 1, around = around.parentElement)
    if (around.contains(focused)) return focused
  return null
}

function placeCaret(element: PageElement, mode: "replace" | "append"): void {
  if (element.localName === "input" || element.localName === "textarea") {
    element.select()
    const field = element as unknown as { setSelectionRange(start: number, end: number): void }
    // Fields for mail addresses and numbers have no place that could be set: there the text cursor stands at the end.
    if (mode === "append" && !/^(email|number)$/.test(element.type))
      field.setSelectionRange(element.value.length, element.value.length)
    return
  }
  // Editors map what is selected to their own text, from words to words, as the keyboard selects it.
  if (element.isContentEditable && element.parentElement?.isContentEditable === false) {
    if (document.execCommand("selectAll") && mode === "replace") return
    return getSelection()?.collapseToEnd()
  }
  const range = element.ownerDocument.createRange()
  range.selectNodeContents(element)
  if (mode === "append") range.collapse(false)
  const selection = getSelection()
  selection?.removeAllRanges()
  selection?.addRange(range)
}

/** What people would say is in the field; null for editors that keep their text to themselves. */
function readField(element: PageElement): string | null {
  if (element.localName === "input" || element.localName === "textarea") return element.value
  if (element.editContext) return null
  return (element as unknown as { innerText?: string }).innerText ?? element.textContent ?? ""
}

/** Notes whether the field has held the text at all: pages may take it out again at once (a terminal, a row of tags). */
function watchTyping(agent: PageAgent, element: PageElement, text: string): void {
  const plain = (words: string | null) => (words ?? "").replace(/\s+/g, "")
  const onInput = () => {
    const held = plain(readField(element))
    // A helper may be emptied after each key.
    if (text !== "" && (held.includes(plain(text)) || (held !== "" && isHelper(element)))) typing.seen = true
  }
  // A terminal takes most keys before they become text.
  const keys: PageEvent[] = []
  const enough = 100
  const onKey = (event: PageEvent) => {
    if (keys.length < enough) keys.push(event)
  }
  const typing = {
    seen: false,
    areKeysTaken: () => keys.some(({ defaultPrevented }) => defaultPrevented),
    stop() {
      removeEventListener("input", onInput, true)
      removeEventListener("keydown", onKey, true)
      removeEventListener("keypress", onKey, true)
    },
  }
  agent.typing?.stop()
  agent.typing = typing
  addEventListener("input", onInput, true)
  if (!isHelper(element)) return
  addEventListener("keydown", onKey, true)
  addEventListener("keypress", onKey, true)
}

export type Held =
  | { kind: "gone" }
  /** `taken`: the page has put the text elsewhere, where it can be read, or spread it over a row of fields. */
  | { kind: "held"; id: number; text: string | null; taken: boolean; secret: boolean }

/** What the field holds now, or the field that is shown in its place. */
export function heldText(agent: PageAgent, id: number, typed: string): Held {
  const typing = agent.typing
  const known = elementOf(agent, id)
  const isShown = known?.checkVisibility({ visibilityProperty: true }) === true
  const focused = focusedElement()
  const element = isShown ? known : focused && isEditable(focused) ? focused : known
  if (!element) return { kind: "gone" }
  const text = readField(element)
  const rest = text?.trim() ?? typed
  const isOnItsWay = isHelper(element) ? typed !== rest && typed.endsWith(rest) : rest === "" && showsWords(typed)
  const isAway = isOnItsWay && (typing?.seen === true || typing?.areKeysTaken() === true)
  const taken = isAway || isSplit(element, typed)
  return {
    kind: "held",
    id: numberOf(agent, element),
    text,
    taken,
    secret: isConcealed(agent, element),
  }
}

/** Codes are often typed into a row of fields for a sign each: every field hands on what it does not hold. */
function isSplit(element: PageElement, typed: string): boolean {
  const plain = (text: string) => text.replace(/[\s-]+/g, "")
  if (element.localName !== "input" || element.value === "" || element.value.length >= plain(typed).length) return false
  let around: PageElement | null = element.parentElement
  for (let steps = 0; around && around.localName !== "body" && steps < 4; steps += 1, around = around.parentElement) {
    let held = ""
    let isReached = false
    for (const field of Array.from(around.querySelectorAll("input"))) {
      isReached ||= field === element
      if (isReached && isEditable(field) && held.length < plain(typed).length) held += plain(field.value)
    }
    if (held === plain(typed)) return true
  }
  return false
}

function showsWords(words: string): boolean {
  const plain = (text: string) => text.replace(/[\s,;]+/g, "")
  const page = (document.body as unknown as { innerText?: string } | null)?.innerText ?? ""
  return plain(words) !== "" && plain(page).includes(plain(words))
}

/** The element, or something in it. */
export function hasFocus(element: PageElement): boolean {
  const root: PageRoot = element.getRootNode()
  return root.activeElement === element || element.matches(":focus-within") || document.activeElement === element
}

function isSetAtOnce(element: PageElement): boolean {
  return element.localName === "input" && /^(color|date|datetime-local|month|range|time|week)$/.test(element.type)
}

/** Asked of another field: one that is given what it does not take forgets what it had. */
export function takesValue(element: PageElement, value: string): boolean {
  if (!isSetAtOnce(element)) return true
  const text = value.trim()
  const other = document.createElement("input")
  for (const name of ["type", "min", "max", "step"]) {
    const given = element.getAttribute(name)
    if (given !== null) other.setAttribute(name, given)
  }
  other.value = text
  if (element.type !== "color") return other.value === text
  // What is no colour is black.
  return other.value !== "#000000" || /^(?:|black|#000(?:000)?)$/i.test(text)
}

function setValue(element: PageElement, value: string): boolean {
  if (!takesValue(element, value)) return false
  element.value = value.trim()
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }))
  element.dispatchEvent(new Event("change", { bubbles: true }))
  return true
}

/** The element's box in its own document, scrolled into view; for pictures of it. */
export function boxOf(
  agent: PageAgent,
  id: number,
): { kind: "gone" } | { kind: "box"; x: number; y: number; width: number; height: number } {
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  if (element.localName === "area") bringIntoView(element, "nearest")
  else element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" })
  const { x, y, width, height } = (element.localName === "area" && firstBox(element)) || element.getBoundingClientRect()
  return { kind: "box", x, y, width, height }
}

/** The number of the one element that a selector fits; elements that were shown keep theirs. */
export function matchOf(agent: PageAgent, selector: string): number | "none" | "several" | "bad" {
  try {
    const found = document.querySelectorAll(selector)
    if (found.length !== 1) return found.length === 0 ? "none" : "several"
    const element = found[0] as PageElement
    return numberOf(agent, element)
  } catch {
    return "bad"
  }
}

export const editFunctions = [
  editElement,
  opensList,
  swappedFor,
  placeCaret,
  writeInto,
  holdsFocus,
  readField,
  watchTyping,
  heldText,
  isSplit,
  showsWords,
  hasFocus,
  isSetAtOnce,
  takesValue,
  setValue,
  boxOf,
  matchOf,
]

declare const document: PageDocument & {
  execCommand(command: string, shows?: boolean, value?: string): boolean
  hasFocus(): boolean
}
declare const window: { parent: unknown }
type Listening = (type: string, handler: (event: PageEvent) => void, capture: boolean) => void
declare const addEventListener: Listening
declare const removeEventListener: Listening
declare const getSelection: PageWindow["getSelection"]
declare const Event: new (type: string, options: object) => object
