// The list of what can be acted on, flat, with the headings and messages that make it understood. Runs in the page.
import { rootOf } from "../agent.ts"
import type { PageElement, PageNode, PageStyle } from "../dom.ts"
import { drawnIn } from "../hit.ts"
import { hiddenBy, isHidden, nameOf, textOf, tidy } from "../names.ts"
import { factsOf, hasRole, roleOf, sizeOfList, statesOf, type TagFacts, takesInput } from "../roles.ts"
import { addSign, dropCell, isSaidAround, isShut, isTipOfControl, listPicture } from "./around.ts"
import { hasLetters, isHead, isInGrid, isToldInside } from "./cells.ts"
import { passBy, visitChildren } from "./children.ts"
import {
  boxedField,
  boxOfField,
  drawnFor,
  innerField,
  isAtMiddle,
  isCarrier,
  isLabelOf,
  isSaidBy,
  isSecond,
  isStandIn,
  isTick,
  labelled,
  takesFocus,
  tellBox,
} from "./drawn.ts"
import {
  addCanvas,
  addDrawnControl,
  addFrame,
  addPlayer,
  drawnControl,
  givenName,
  isCanvas,
  isChart,
  isPlayer,
  seenOf,
} from "./special.ts"
import { addBetween, listLabel } from "./beside.ts"
import { isItemsTick, isWorkedAnyway } from "./aria-hidden.ts"
import { drawsEntry, isLabelFor, isOnlyAround, isParked } from "./hosts.ts"
import { addLine, type FieldBox, type Inherited, plainWords, type Walk } from "./state.ts"
import {
  cursorOf,
  gatherItems,
  hasOwnHand,
  type Inside,
  isDrawnByStyle,
  isEmptyList,
  isPart,
  isTarget,
  lookInside,
  ownWords,
  plainRole,
} from "./targets.ts"
import { isBranch } from "./tree.ts"
import { addValue, rangeValue } from "./values.ts"

/** A list of controls has no words of its own. */
export function visitListText(): void {}

export function visitListElement(walk: Walk, element: PageElement, depth: number, inherited: Inherited): void {
  const tag = element.localName
  const facts = factsOf(walk.tables, tag)
  if (facts.skipped || depth > walk.maxDepth) return passBy(walk, element)
  const hidden = hiddenBy(element)
  if (hidden !== "" && !isWorkedAnyway(walk, element, hidden) && !isItemsTick(element, inherited))
    return passBy(walk, element)
  if (!inherited.parts && isProse(walk, element, facts)) return passBy(walk, element)
  if (isBareBox(walk, element, facts)) return visitChildren(walk, element, depth, inherited)
  const seen = seenOf(walk, element)
  if (seen === "nothing") return passBy(walk, element)
  const shown = seen === "shown"
  const role = shown ? roleOf(walk.tables, element) : ""
  if (role === "iframe") return addFrame(walk, element, depth)
  if (role !== "" && isParked(element, role)) return passBy(walk, element)
  if (role !== "" && takesInput(walk.tables, element, role)) return listControl(walk, element, role, depth, inherited)
  if (shown && isCanvas(element, role)) return addCanvas(walk, element, depth)
  if (shown && role === "" && isPlayer(walk, element)) return addPlayer(walk, element, depth)
  const control = tag === "label" && shown ? drawnControl(element) : null
  if (control) return addDrawnControl(walk, element, control, depth)
  const isIcon = tag === "svg" || (tag === "img" && inherited.hasIcons === true)
  if (isIcon && (!inherited.parts || inherited.hasIcons === true) && !isChart(element)) return
  listPlain(walk, element, { role, depth, shown, inherited })
}

/** Nothing but words, which no list of controls shows: seen or not, there is nothing more to ask of it. */
function isProse(walk: Walk, element: PageElement, { role, mayHide, custom, worked }: TagFacts): boolean {
  if (walk.cursors || role === undefined || custom || worked || element.firstElementChild) return false
  if (walk.options.context && (role === "" || isContext(role))) return false
  if (element.hasAttributes() || walk.tables.interactive.has(role) || !element.firstChild) return false
  return !walk.agent.listening.has(element) && !(mayHide && rootOf(element))
}

/**
 * A box with nothing of its own to tell: whether people see it, each of its children is asked anyway. A first child is
 * asked all the same, since a closed shadow root may be shown in place of it.
 */
function isBareBox(walk: Walk, element: PageElement, { role, custom, worked }: TagFacts): boolean {
  if (walk.cursors || walk.options.context || custom || worked || element.hasAttributes()) return false
  if (role !== "" && element.localName !== "section") return false
  if (!element.firstElementChild || !element.previousSibling || element.shadowRoot) return false
  return !walk.agent.listening.has(element) && element.localName !== "slot"
}

interface Plain {
  role: string
  depth: number
  shown: boolean
  inherited: Inherited
}

/** An element that no role makes a control. */
function listPlain(walk: Walk, element: PageElement, { role, depth, shown, inherited }: Plain): void {
  const cursor = shown ? cursorOf(walk, element, inherited) : inherited.cursor
  const of = shown && element.localName === "label" ? labelled(element) : null
  let inside: Inherited =
    cursor === inherited.cursor && !of ? inherited : { ...inherited, cursor, ...(of ? { of } : {}) }
  if (role === "group" && inherited.control && isBranch(element)) {
    const { within: _name, control: _entry, ...around } = inside
    inside = around
  }
  const below = role === "" ? depth : depth + 1
  const isOwn =
    shown && (isTarget(walk, element, hasOwnHand(cursor, inherited)) || (inherited.parts && isPart(walk, element)))
  if (walk.options.context && /^(alert)?dialog$/.test(role)) return listDialog(walk, element, role, depth, inside)
  if (walk.options.context && isContext(role)) return listContext(walk, element, role, { depth, isOwn, inside })
  if (isOwn) return listTarget(walk, element, role, depth, inside)
  if (
    walk.options.context &&
    (role === "gridcell" || role === "columnheader" || role === "rowheader") &&
    isInGrid(element)
  ) {
    return listCell(walk, element, role, depth, inside)
  }
  // Of a table or list that draws only some of its rows, the list of controls would otherwise not say so.
  if (walk.options.context && role !== "" && sizeOfList(element, role) !== "") {
    const { name } = nameOf(walk.tables, element, role)
    addLine(walk, { element, role, name, depth, states: statesOf(walk.tables, element, role), ref: true })
  }
  if (walk.options.context && shown && role === "") addBetween(walk, element)
  if (role === "img" && element.firstElementChild && element.localName !== "svg" && !element.ownerSVGElement)
    return listPicture(walk, element, depth, inside)
  if (walk.options.context && shown && element.localName === "label" && !of && !inherited.silent)
    return listLabel(walk, element, below, inside)
  visitChildren(walk, element, below, inside)
}

function listControl(walk: Walk, element: PageElement, role: string, depth: number, around: Inherited): void {
  if (drawsEntry(walk, element, role, around)) return
  if (isSecond(walk, element, role, around)) return visitChildren(walk, element, depth, { ...around, silent: true })
  if (around.box && around.box.field !== element && isStandIn(element, [around.box.field, element])) return
  if (isCarrier(element)) return
  const field = innerField(walk, element, role)
  if (field) return listBox(walk, boxOfField(walk, element, field, role), element, depth, around)
  const isLeaf = !element.firstElementChild && !element.shadowRoot
  const box = around.box?.field === element ? around.box : undefined
  const name = nameOf(walk.tables, element, role).name || (box?.name ?? "")
  const states = statesOf(walk.tables, element, role)
  const start = walk.lines.length
  const opened = box && !/\[(expanded|collapsed)\]/.test(states) ? box.states : ""
  addLine(walk, { element, role, name, depth, states: states + opened, ref: true })
  const isDone = addValue(walk, element, role, depth + 1, start)
  if (box) tellBox(walk, box, element, start)
  if (isDone || isLeaf) return
  listInside(walk, element, role, { name, depth, start, around })
}

function listInside(
  walk: Walk,
  element: PageElement,
  role: string,
  { name, depth, start, around }: { name: string; depth: number; start: number; around: Inherited },
): void {
  const inside: Inherited = { silent: true, unseen: false, cursor: cursorOf(walk, element, around), parts: false }
  // Fields and lists hold other things than what draws them.
  if (/^(button|link|checkbox|radio|switch|option|menuitem\w*|tab|treeitem|slider)$/.test(role)) {
    inside.within = name
    inside.control = element
  }
  visitChildren(walk, element, depth + 1, inside)
  // "Loading", "Nothing found": a list without entries says why.
  if (role !== "listbox" || walk.lines.length > start + 1) return
  const words = tidy(textOf(element, { left: 200 }), 100)
  if (words !== "" && words !== name) walk.lines[start] += `: ${plainWords(words)}`
}

/** Of a field and the box that is drawn for it only the field has a line, which says what the box says. */
function listBox(walk: Walk, box: FieldBox, element: PageElement, depth: number, around: Inherited): void {
  const { cursor } = around
  visitChildren(walk, element, depth, { silent: true, unseen: false, cursor, parts: false, within: box.words, box })
}

/** What tells a reader of a list of controls where they are and what has happened. */
function isContext(role: string): boolean {
  return role === "heading" || role === "alert" || role === "status" || role === "tooltip"
}

/** A dialog, with what it says or asks: its buttons alone do not tell. */
function listDialog(walk: Walk, element: PageElement, role: string, depth: number, inherited: Inherited): void {
  const { name } = nameOf(walk.tables, element, role)
  const start = walk.lines.length
  addLine(walk, { element, role, name, depth, states: "", ref: false })
  const words = proseOf(walk, element, name)
  if (words !== "") walk.lines[start] += `: ${plainWords(words)}`
  visitChildren(walk, element, depth + 1, inherited)
}

/** The words of the parts that are neither headings nor controls. */
function proseOf(walk: Walk, element: PageElement, name: string): string {
  const most = 200
  const items: PageElement[] = []
  gatherItems(walk, element, items, { left: 200, hasControls: false })
  const prose = items.filter(
    (item) => !isInPart(item, element, "h1,h2,h3,h4,h5,h6,label,[tabindex]") && !isWithin(walk, item, element),
  )
  // A calendar, a table: that is no question.
  const mostItems = 12
  if (prose.length > mostItems) return ""
  const words = prose
    .map((item) => tidy(textOf(item, { left: 400 }), most))
    .filter((text) => text !== "" && text !== name)
  return tidy(words.join(" "), most)
}

/** Dialogs take the focus themselves: what counts is what stands between. */
function isInPart(item: PageElement, container: PageElement, selector: string): boolean {
  const part = item.closest(selector)
  // A box that is given the focus by a script, around all that the dialog holds.
  const isRest = part?.getAttribute("tabindex") === "-1" && part.querySelector("button,input,a[href],[role=button]")
  const around = isRest ? part.parentElement : null
  if (around) return around !== container && container.contains(around) && isInPart(around, container, selector)
  return part !== null && part !== container && !part.contains(container)
}

function isWithin(walk: Walk, item: PageElement, container: PageElement): boolean {
  for (let part: PageNode | null = item; part && part !== container; part = drawnIn(part))
    if (part.nodeType === 1 && hasRole(walk.tables, part as PageElement, walk.tables.interactive)) return true
  return false
}

function listContext(
  walk: Walk,
  element: PageElement,
  role: string,
  { depth, isOwn, inside }: { depth: number; isOwn: boolean; inside: Inherited },
): void {
  const start = walk.lines.length
  // What a box to choose in shows as its value stands in its line.
  if (role === "alert" && element.closest("[role=combobox],[role=listbox]"))
    return visitChildren(walk, element, depth, { ...inside, silent: true })
  const { name } = nameOf(walk.tables, element, role)
  if (!isOwn && role === "heading" && isSaidAround(walk, name, inside))
    return visitChildren(walk, element, depth, inside)
  addLine(walk, { element, role, name, depth, states: statesOf(walk.tables, element, role), ref: isOwn })
  if (name === "") {
    const text = plainWords(tidy(textOf(element, { left: 1000 }), 200))
    if (text !== "") walk.lines[start] += `: ${text}`
    else if (!isOwn) walk.lines.length = start
  }
  visitChildren(walk, element, depth + 1, { ...inside, silent: true })
}

/** Something plain that takes clicks. Of a menu only its entries are shown: a click on the menu itself means nothing. */
function listTarget(walk: Walk, element: PageElement, role: string, depth: number, inherited: Inherited): void {
  const inside = lookInside(walk, element)
  if (inside.hasControls && isShut(element)) return passBy(walk, element)
  const { items, hasIcons, hasChart } = inside
  const isMenu = inside.isMenu && !isHead(role, inside)
  const label = role === "" ? tidy(givenName(element), 200) : nameOf(walk.tables, element, role).name
  const areMany = areManyWords(inside)
  if (role === "" && label === "" && isNothing(element, inside)) return visitChildren(walk, element, depth, inherited)
  if (role === "" && isLabelFor(walk, element, inside.words)) return passBy(walk, element)
  if (role === "" && label === "" && (isOnlyAround(walk, element, inside) || isLabelOf(walk, element, inside)))
    return visitChildren(walk, element, depth, inherited)
  // What is listed one by one is no name.
  const words = areMany && !isMenu ? "" : ownWords(inside)
  if (role === "" && isOnlyDrawn(walk, element, { label, words, hasControls: inside.hasControls }, inherited))
    return visitChildren(walk, element, depth, inherited)
  const field = role === "" && label === "" ? boxedField(walk, element, inside) : null
  if (field) return listBox(walk, boxOfField(walk, element, field, ""), element, depth, inherited)
  // What is nothing but the box around controls that have refs of their own.
  const isFrame =
    inside.hasControls && !areMany && isSaidByControls(walk, inside, words) && !element.hasAttribute("draggable")
  // A list without a role takes the focus with a click on any entry.
  const isFocused =
    role !== "" && (isMenu || !isFrame) ? element.hasAttribute("tabindex") : !isMenu && takesFocus(element)
  const isContainer =
    ((isMenu || isFrame) && (label === "" || isTipOfControl(walk, role, label, inside)) && !isFocused) ||
    isToldInside(walk, element, role, { label, inside })
  if (!isContainer) {
    // A box of many things is told by its beginning; what has a role by its name alone, if it is one for several things.
    const own = role === "" || ((items < 2 || inside.own.length < 2) && words.length <= 60) ? words : ""
    const name = label || (items > 3 || inside.hasControls ? tidy(own, 60) : own)
    const shownRole = role === "" ? plainRole(walk, element) : role
    addLine(walk, {
      element,
      role: shownRole,
      name,
      depth,
      states: statesOf(walk.tables, element, shownRole) + (isEmptyList(walk, element) ? " [empty]" : ""),
      ref: true,
    })
    const place = rangeValue(element, role)
    if (place !== "") walk.lines[walk.lines.length - 1] += `: ${plainWords(tidy(place, 100))}`
    // What is called "edit" shows what there is to edit.
    const isShort = items < 2 && words !== "" && words.length <= 60
    if (label !== "" && isShort && !label.includes(words) && !inside.hasControls)
      walk.lines[walk.lines.length - 1] += `: ${plainWords(words)}`
  }
  const parts = isMenu || hasChart || areMany
  // A day of a calendar draws its number in a box of its own.
  const isNamed = role !== "" && label !== ""
  const within = !isNamed ? {} : !parts && items === 1 ? { within: label, control: element } : { whole: label }
  const start = walk.lines.length
  visitChildren(walk, element, depth + 1, { ...inherited, silent: true, parts, hasIcons, ...within })
  if (walk.options.context && walk.lines.length === start) addSign(walk, element, role, depth + 1)
  if (!isContainer && label === "" && words === "") dropCell(walk, element, role, start)
}

/** A plain part of something that has a line of its own, which says what the part says: what draws a control. */
function isOnlyDrawn(
  walk: Walk,
  element: PageElement,
  { label, words, hasControls }: { label: string; words: string; hasControls: boolean },
  { within, whole, of, control }: Inherited,
): boolean {
  // Where the keys go in an entry to choose is the entry.
  const isChoice = /^(option|menuitem\w*)$/.test(control?.getAttribute("role") ?? "") && words === within
  if (takesFocus(element) && element.localName !== "label" && !isChoice) return isTickLabel(walk, element, words)
  if (whole !== undefined && label === "" && words === whole) return true
  if (label !== "") return label.includes(words) && isTip(walk, element, label)
  const listens = walk.agent.listening.has(element)
  // What stands before the words of an entry of a tree opens it, and something far above may listen for that.
  const isEntry = control?.getAttribute("role") === "treeitem"
  const isOpener = isEntry && !hasLetters(words)
  const isUnmarked = !listens && !element.hasAttribute("tabindex") && !isOpener
  if (within !== undefined && isUnmarked && within.includes(words)) return true
  // All words of a control, which is clicked on them; a sign over the middle of what is clicked there anyway.
  const isAll = words === within || (element.localName !== "a" && control !== undefined && isAllOf(control, words))
  const isWhole = control !== undefined && (isAll || isUnmarked)
  if (isWhole && (!hasControls || (isEntry && isAll)) && (isAtMiddle(element, control) || words !== "")) return true
  // Words of a label, wherever they stand in it.
  if (of && isUnmarked && words !== "" && isSaidBy(walk, of, element, words)) return true
  // A ripple, the thumb of a slider: clicked where the control is. One of several stands for a place of its own.
  if (hasControls || hasTwin(element)) return element.localName === "label" && isLabelOnly(walk, element, words)
  if (control && words === "") return listens && isAtMiddle(element, control)
  const drawn = drawnFor(element, of)
  // Words that listen for themselves do something else: they open the terms that one agrees to.
  const isOwn = listens && words !== "" && element.localName !== "label"
  return drawn !== null && !isOwn && isSaidBy(walk, drawn, element, words)
}

/** A label that takes the focus for the box that it draws, which does not. */
function isTickLabel(walk: Walk, element: PageElement, words: string): boolean {
  const control = element.localName === "label" ? labelled(element) : null
  if (!control || !isTick(control) || control.getAttribute("tabindex") !== "-1") return false
  return nameOf(walk.tables, control, roleOf(walk.tables, control)).name.includes(words)
}

function isAllOf(control: PageElement, words: string): boolean {
  return words !== "" && tidy(textOf(control, { left: 200 }), 200) === words
}

/** It listens, and has neither words nor a place where it could be clicked: an empty slot of a component. */
function isNothing(element: PageElement, { words, items, hasControls }: Inside): boolean {
  if (words !== "" || items > 0 || hasControls) return false
  // What has closed lies over the page unseen, and lets the mouse through.
  if (getComputedStyle(element).pointerEvents === "none") return true
  if (element.hasAttribute("tabindex")) return false
  const isFlat = (part: PageElement) => {
    const { width, height } = part.getBoundingClientRect()
    return width === 0 || height === 0
  }
  const { firstElementChild: only } = element
  if (only && element.childElementCount === 1 && isFlat(element) && isHidden(only)) return true
  const most = 10
  const parts = Array.from(element.querySelectorAll("*"))
  return isFlat(element) && parts.length <= most && parts.every(isFlat) && !isDrawnByStyle(element)
}

/** What a label around a control shows under the mouse: `Rectangle (R)` of "Rectangle". */
function isTip(walk: Walk, element: PageElement, tip: string): boolean {
  const control = element.localName === "label" ? labelled(element) : null
  if (!control) return false
  const { name } = nameOf(walk.tables, control, roleOf(walk.tables, control))
  return name !== "" && tip.includes(name)
}

function isLabelOnly(walk: Walk, label: PageElement, words: string): boolean {
  const control = labelled(label)
  return control !== null && isSaidBy(walk, control, label, words)
}

/** Beside a sister of the same kind: a star among stars. */
function hasTwin(element: PageElement): boolean {
  const isTwin = (other: PageElement | null) =>
    other !== null && other.localName === element.localName && other.className === element.className
  return isTwin(element.nextElementSibling) || isTwin(element.previousElementSibling)
}

/** A month of days, a palette, a board: only its script knows which of them it answers. */
function areManyWords({ hasControls, own }: Inside): boolean {
  const [many, longest] = [7, 40]
  return !hasControls && own.length >= many && own.every((item) => (item.textContent ?? "").trim().length <= longest)
}

/** There is nothing in a box but its controls, pictures without words, and words that the controls have for their names. */
function isSaidByControls(walk: Walk, { own, controls }: Inside, words: string): boolean {
  const names = () => controls.map((control) => nameOf(walk.tables, control, roleOf(walk.tables, control)).name)
  if (words === "") return own.length === 0 || (controls.length === 1 && isFieldTag(controls[0]))
  const known = names()
  if (known.length === 1 && known[0] === words) return true
  return own.map((item) => tidy(textOf(item, { left: 200 }), 200)).every((text) => text === "" || known.includes(text))
}

function isFieldTag(element: PageElement | undefined): boolean {
  return element !== undefined && /^(input|select|textarea)$/.test(element.localName)
}

/** A cell of a grid: it is chosen, opened, typed into, though nothing but its role says so. */
function listCell(walk: Walk, element: PageElement, role: string, depth: number, inherited: Inherited): void {
  const { name } = nameOf(walk.tables, element, role)
  const isOne = element.childElementCount === 1 && name !== ""
  const isRow = element.firstElementChild !== null && element.parentElement?.childElementCount === 1
  const inside = isOne || isRow ? lookInside(walk, element) : null
  // A box to tick and nothing else: one line for both.
  const isTold = inside !== null && isToldInside(walk, element, role, { label: name, inside })
  if (role === "columnheader" && name === "" && !element.firstElementChild) return
  if (!isTold) addLine(walk, { element, role, name, depth, states: statesOf(walk.tables, element, role), ref: true })
  // A day of a calendar, a word of a table: drawn in a box of its own, and nothing else.
  const within =
    name !== "" && element.firstElementChild && lookInside(walk, element).items <= 1
      ? { within: name, control: element }
      : {}
  const start = walk.lines.length
  visitChildren(walk, element, depth + 1, { ...inherited, silent: true, ...within })
  if (walk.lines.length === start) addSign(walk, element, role, depth + 1)
  if (name === "") dropCell(walk, element, role, start)
}

export const listFunctions = [
  visitListText,
  visitListElement,
  isProse,
  isBareBox,
  listPlain,
  listControl,
  listInside,
  isContext,
  listDialog,
  proseOf,
  isInPart,
  isWithin,
  listContext,
  listTarget,
  isSaidByControls,
  isFieldTag,
  isOnlyDrawn,
  isTickLabel,
  isAllOf,
  isNothing,
  isTip,
  isLabelOnly,
  hasTwin,
  listBox,
  areManyWords,
  listCell,
]

declare const getComputedStyle: (element: PageElement) => PageStyle
