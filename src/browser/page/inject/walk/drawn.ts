// Native fields that components keep out of sight, and what they draw in their place: one line and one ref for both, with
// the field's role and name, since it is what takes keys and values. Runs in the page (see agent.ts).
import type { PageDocument, PageElement, PageRoot, PageStyle } from "../dom.ts"
import { isCutAway, nameOf, textOf, tidy } from "../names.ts"
import { roleOf, statesOf, takesInput } from "../roles.ts"
import { isTiny } from "./hints.ts"
import type { FieldBox, Inherited, Walk } from "./state.ts"
import { type Inside, lookInside, ownWords } from "./targets.ts"

/** The field takes the mouse and the keys, but nobody sees it: it is transparent, or next to nothing in size. */
export function isUndrawn(field: PageElement): boolean {
  if (isTiny(field)) return true
  let part: PageElement | null = field
  for (let steps = 0; part && steps < 3; steps += 1, part = part.parentElement)
    if (Number(getComputedStyle(part).opacity) < 0.01) return true
  return false
}

export function isTick(field: PageElement): boolean {
  const role = field.getAttribute("role") ?? ""
  return (
    /^(checkbox|radio|switch)$/.test(role) || (field.localName === "input" && /^(checkbox|radio)$/.test(field.type))
  )
}

/** A control that the list has a line of its own for. */
export function isListed(field: PageElement): boolean {
  if (!field.checkVisibility({ visibilityProperty: true }) || field.type === "hidden") return false
  return field.closest("[aria-hidden=true],[inert]") === null
}

export function takesFocus(element: PageElement): boolean {
  return element.hasAttribute("tabindex") && Number(element.getAttribute("tabindex")) >= 0
}

/** The one field that a plain box draws, with all that stands in it; null where the box is more than that. */
export function boxedField(walk: Walk, box: PageElement, { controls, own }: Inside): PageElement | null {
  if (box.hasAttribute("draggable")) return null
  const fields = controls.filter((control) => /^(input|select|textarea)$/.test(control.localName) && isListed(control))
  const [field, other] = fields.filter((each) => !isStandIn(each, fields))
  if (!field || other || isTick(field) || !takesWords(walk, field)) return null
  // A box that takes the focus gives it on to a field that does not take it by itself.
  const isGivenFocus = takesFocus(box)
  if (isGivenFocus && field.getAttribute("tabindex") !== "-1") return null
  if (isUndrawn(field) && !isFadedWith(field, own)) return field
  // The chosen value is drawn over a field that is there for searching.
  const isCombobox = isGivenFocus || roleOf(walk.tables, field) === "combobox"
  return isCombobox && own.some((item) => item.localName !== "svg" && overlaps(item, field)) ? field : null
}

/** A list that fades in, with the field for its search: what is as transparent as the field is not drawn for it. */
function isFadedWith(field: PageElement, words: readonly PageElement[]): boolean {
  let part: PageElement | null = field
  for (let steps = 0; part && steps < 3; steps += 1, part = part.parentElement)
    if (getComputedStyle(part).opacity === "0") return words.some((item) => part?.contains(item))
  return false
}

function takesWords(walk: Walk, field: PageElement): boolean {
  return /^(combobox|textbox|searchbox|listbox)$/.test(roleOf(walk.tables, field))
}

function overlaps(one: PageElement, other: PageElement): boolean {
  const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()]
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/** A select without choices of its own that only carries a value into a form, beside the field that takes the keys. */
export function isStandIn(field: PageElement, fields: readonly PageElement[]): boolean {
  const carries = field.localName === "select" && field.getAttribute("tabindex") === "-1"
  return carries && fields.length > 1 && (field.options?.length ?? 0) < 2 && isUndrawn(field)
}

/** A field that a component keeps for the form beside what it draws, which takes the focus and shows what is in it. */
export function isCarrier(field: PageElement): boolean {
  const isSelect = field.localName === "select"
  const isText = field.localName === "textarea" || (field.localName === "input" && field.type === "text")
  if ((!isSelect && !isText) || field.getAttribute("tabindex") !== "-1" || !isUndrawn(field)) return false
  const chosen = isSelect ? Array.from(field.options ?? []).filter((option) => option.selected) : []
  // Text of a form's own notation stands beside a field that takes the same text from people.
  const worked = isSelect
    ? "input:not([type=hidden]),button,[role=combobox],[tabindex='0']"
    : "input:not([type=hidden]),textarea,[contenteditable]:not([contenteditable=false]),[role=combobox],[role=textbox]"
  return [field.nextElementSibling, field.previousElementSibling].some((drawn) => {
    const control = drawn?.querySelector(worked)
    if (!drawn || !control || !isListed(control) || (!isSelect && isUndrawn(control))) return false
    const words = drawn.textContent ?? ""
    return chosen.every((option) => words.includes(option.text.trim()))
  })
}

/**
 * The one field inside an element that calls itself a combobox or a box to tick: it takes the keys, holds the state, and is
 * told of to screen readers.
 */
export function innerField(walk: Walk, element: PageElement, role: string): PageElement | null {
  const isBox = /^(checkbox|radio|switch)$/.test(role)
  if ((role !== "combobox" && !isBox) || !element.firstElementChild) return null
  const found = Array.from(element.querySelectorAll("input,textarea,select")).filter(isListed)
  const [field] = found
  // One that takes the focus for its field, which calls itself the same and stands in no order of tabs.
  const isTwin = field?.getAttribute("tabindex") === "-1" && field.getAttribute("role") === role
  if (takesFocus(element) && !isTwin) return null
  return field && found.length === 1 && (isBox ? isTick(field) : takesWords(walk, field)) ? field : null
}

export function boxOfField(walk: Walk, element: PageElement, field: PageElement, role: string): FieldBox {
  const states = role === "" ? "" : statesOf(walk.tables, element, role)
  const opened = / \[(?:expanded|collapsed)\]/.exec(states)?.[0] ?? ""
  const { name } = role === "" ? { name: "" } : nameOf(walk.tables, element, role)
  const labels = Array.from(field.labels ?? []).map((label) => tidy(textOf(label, { left: 200 }), 200))
  const { name: own } = nameOf(walk.tables, field, roleOf(walk.tables, field))
  // Labels may be drawn twice, once for each place that they move between.
  const inside = lookInside(walk, element)
  // Names of icons are drawn as icons: `arrow_drop_down`. Nobody sees what is told to screen readers alone.
  const read = inside.own.filter((item) => item.closest("[aria-hidden=true]") === null && !isCutAway(item))
  let words = ownWords({ ...inside, own: read, hasControls: true })
  for (const label of [own, ...labels])
    while (label !== "" && startsWith(words, label)) words = words.slice(label.length).trim()
  return { field, words, name, states: opened }
}

function startsWith(words: string, label: string): boolean {
  return words === label || words.startsWith(`${label} `)
}

/** Behind the line of a field in a box: what the box tells of it. */
export function tellBox(walk: Walk, { words }: FieldBox, element: PageElement, start: number): void {
  // What is drawn in the box is what is chosen there, and no guess.
  const line = (walk.lines[start] as string).replace(` [hint=${JSON.stringify(words)}]`, "")
  if (words === "" || element.localName === "select" || element.value !== "" || line.includes(JSON.stringify(words)))
    return
  walk.lines[start] = `${line}: ${words.replaceAll("[ref=", "(ref=")}`
}

/** The control that a label, or an element beside it without words, is drawn for. */
export function drawnFor(element: PageElement, of: PageElement | undefined): PageElement | null {
  if (element.localName === "label") return labelled(element)
  if (of) return isTick(of) && isUndrawn(of) ? of : null
  let place: PageElement | PageRoot | null = element.parentElement ?? element.getRootNode()
  for (let steps = 0; place && place !== document.body && steps < 3; steps += 1, place = place.parentElement) {
    const found = place.querySelectorAll("input,select,textarea,button,a[href],[role=switch],[role=button]")
    const [field] = Array.from(found)
    if (!field) continue
    return found.length === 1 && isTick(field) && isListed(field) && isUndrawn(field) ? field : null
  }
  return null
}

/** What a label names, also where only the control says so. */
export function labelled(label: PageElement): PageElement | null {
  const { control, id } = label
  if (control && isListed(control)) return control
  const found = id === "" ? [] : label.getRootNode().querySelectorAll(`[aria-labelledby~="${CSS.escape(id)}"]`)
  return Array.from(found).find(isListed) ?? null
}

/** Words that a control has for its name, which takes the focus when they are clicked. */
export function isLabelOf(walk: Walk, { id }: PageElement, { words, isWhole, hasControls }: Inside): boolean {
  if (id === "" || words === "" || !isWhole || hasControls) return false
  walk.labelled ??= labelledControls(walk)
  return walk.labelled.get(id)?.includes(words) === true
}

/** The names of the controls that are named by other elements, by the ids of those. */
function labelledControls(walk: Walk): Map<string, string> {
  const names = new Map<string, string>()
  const found = document.querySelectorAll("[aria-labelledby]")
  for (let index = 0; index < found.length; index += 1) {
    const control = found[index] as PageElement
    const role = roleOf(walk.tables, control)
    if (!takesInput(walk.tables, control, role) || !isListed(control)) continue
    const { name } = nameOf(walk.tables, control, role)
    for (const id of (control.getAttribute("aria-labelledby") ?? "").split(/\s+/)) names.set(id, name)
  }
  return names
}

/** Whether the element says nothing that its control does not say, and a click on it is one on the control. */
export function isSaidBy(walk: Walk, control: PageElement, element: PageElement, words: string): boolean {
  if (control === element || (takesFocus(element) && element.localName !== "label")) return false
  if (element.contains(control) && element.localName !== "label") return false
  // Signs that draw the box or its tick are no words.
  const read = words.replaceAll(/[^\p{L}\p{N}\p{P}\p{Sc}\p{Sm}\s]/gu, "").trim()
  return read === "" || nameOf(walk.tables, control, roleOf(walk.tables, control)).name.includes(read)
}

/**
 * A second control for the same thing: the button that draws a box to tick, the field for files inside or beside the button
 * that opens it, a button that fills another of its name.
 */
export function isSecond(walk: Walk, element: PageElement, role: string, around: Inherited): boolean {
  const { of, control } = around
  if (control && isTick(element) && isTickOf(walk, element, control)) return true
  if (control && isLinkOf(walk, element, control)) return true
  if (role !== "button" || (!of && !control && element.type !== "file")) return false
  const before = walk.elements.at(-1)
  const nameFor = (control: PageElement) => nameOf(walk.tables, control, roleOf(walk.tables, control)).name
  if (element.type === "file" && element.localName === "input" && before && roleOf(walk.tables, before) === "button") {
    const isBeside = before.contains(element) || before.parentElement?.contains(element) === true
    if (isBeside && isUndrawn(element) && ["", nameFor(before)].includes(nameFor(element))) return true
  }
  if (of && of !== element && isTick(of)) return isUndrawn(of) && nameFor(of).includes(nameFor(element))
  if (!control || roleOf(walk.tables, control) !== role) return false
  return nameFor(control) === nameFor(element) && isAtMiddle(element, control)
}

/** The box that an entry to choose shows its own state with. */
function isTickOf(walk: Walk, box: PageElement, entry: PageElement): boolean {
  if (entry.getAttribute("role") !== "option" || !entry.hasAttribute("aria-selected")) return false
  const { name } = nameOf(walk.tables, box, roleOf(walk.tables, box))
  return nameOf(walk.tables, entry, "option").name.includes(name)
}

/** The link, out of the tab order, that an entry of a menu is drawn as. */
function isLinkOf(walk: Walk, link: PageElement, entry: PageElement): boolean {
  if (link.localName !== "a" || link.getAttribute("tabindex") !== "-1") return false
  const role = roleOf(walk.tables, entry)
  if (!/^(menuitem\w*|option|tab|treeitem)$/.test(role)) return false
  const { name } = nameOf(walk.tables, link, "link")
  return nameOf(walk.tables, entry, role).name === name && isAtMiddle(link, entry)
}

/** Clicks on the one land on the other. */
export function isAtMiddle(element: PageElement, outer: PageElement): boolean {
  const [inside, box] = [element.getBoundingClientRect(), outer.getBoundingClientRect()]
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  return inside.x <= x && x <= inside.x + inside.width && inside.y <= y && y <= inside.y + inside.height
}

/** A native field that only carries the value of the control that is drawn: neither people nor screen readers meet it. */
export function isHiddenField(element: PageElement): boolean {
  return /^(input|select|textarea)$/.test(element.localName) && isUndrawn(element)
}

export const drawnFunctions = [
  isUndrawn,
  isFadedWith,
  isTick,
  isListed,
  takesFocus,
  boxedField,
  takesWords,
  overlaps,
  isStandIn,
  isCarrier,
  innerField,
  boxOfField,
  startsWith,
  tellBox,
  drawnFor,
  labelled,
  isLabelOf,
  labelledControls,
  isSaidBy,
  isSecond,
  isTickOf,
  isLinkOf,
  isAtMiddle,
  isHiddenField,
]

declare const getComputedStyle: (element: PageElement) => PageStyle
declare const CSS: { escape(text: string): string }
declare const document: PageDocument
