// What tells a control that has no name: of a field the words that stand beside it, of a picture what its makers call it
// (`[hint="trash"]`). A hint is a guess beside the name, never the name. Runs in the page (see agent.ts).
import { rootOf } from "../agent.ts"
import type { PageElement, PageNode, PageRoot, PageStyle } from "../dom.ts"
import { hiddenBy, textOf, tidy } from "../names.ts"

/** ` [hint="..."]`, or "" where there is nothing to tell or the line says enough. `isList`: in a flat list of controls. */
export function hintOf(element: PageElement, role: string, isList: boolean): string {
  const isField = /^(textbox|searchbox|combobox|listbox|spinbutton|slider|switch|checkbox|radio)$/.test(role)
  // In the full snapshot the words beside a field stand beside it.
  if (isField) return isList ? asHint(wordsBeside(element, role)) : ""
  if (/^(gridcell|cell)$/.test(role))
    return asHint(headOf(element) || (element.firstElementChild ? signsInCell(element) : ""))
  if (!/^(generic|button|link|tab|img|option|menuitem\w*|treeitem|listitem)$/.test(role)) return ""
  if (element.querySelector("input,select,textarea,button,a,canvas,video,iframe,[role=button]")) return ""
  return tidy(textOf(element, { left: 200 }), 20) === "" ? asHint(signsOf(element)) : ""
}

/** Of a control that is called by a sign alone, such as `+`: what it shows under the mouse. */
export function hintOfSign(element: PageElement, role: string, name: string): string {
  if (!/^(button|link)$/.test(role) || name.length > 2 || /[\p{L}\p{N}]/u.test(name)) return ""
  const tip = tidy(element.getAttribute("title") ?? "", 60)
  return tip === name ? "" : asHint(tip)
}

function asHint(words: string): string {
  return inBrackets("hint", words)
}

/** ` [hint="..."]` of words of the page, which must not look like more than that. */
export function inBrackets(name: string, words: string): string {
  const plain = words.replaceAll("[", "(").replaceAll("]", ")").replaceAll(/["\\]/g, "'")
  return plain === "" ? "" : ` [${name}="${plain}"]`
}

function wordsBeside(element: PageElement, role: string): string {
  const most = 40
  const root = element.getRootNode()
  const described = (element.getAttribute("aria-describedby") ?? "").split(/\s+/)
  const part = described.map((id) => root.getElementById?.(id)).find(Boolean)
  const description = part ? tidy(textOf(part, { left: 300 }), most) : ""
  const tip = Array.from(element.labels ?? []).map((label) => label.getAttribute("title") ?? "")
  const told = description || tidy(tip.find((words) => words !== "") ?? "", most)
  if (told !== "") return told
  // Of a box to tick the words come behind, of all others before.
  const isTick = role === "checkbox" || role === "radio"
  const sides = isTick ? (["nextSibling", "previousSibling"] as const) : (["previousSibling", "nextSibling"] as const)
  const isEditor = element.localName === "textarea" || element.isContentEditable
  let place: PageElement | null = element
  for (let steps = 0; place && place.localName !== "body" && steps < 4; steps += 1) {
    // Behind a group of choices stands what comes next.
    const isGroup = role === "radio" && place.getAttribute("role") === "radiogroup"
    for (const side of isGroup ? (["previousSibling"] as const) : sides) {
      const words = wordsOnSide(place, side, most)
      // The numbers along a slider are its scale.
      if (role === "slider" && !/\p{L}/u.test(words.text)) continue
      if (isEditor && words.node && isBarOf(element, words.node, side)) continue
      if (words.text !== "" && !(side === "nextSibling" && isLabelOfNext(words.node, isTick))) return words.text
    }
    place = place.parentElement
    if (place && hasOtherFields(place, element)) break
  }
  // One of several pictures to choose from: what the form is told of it.
  return role === "radio" && element.localName === "input" && element.hasAttribute("value")
    ? tidy(element.value, most)
    : ""
}

/** What is drawn around an editor tells nothing of it: the tools over it, the state below it. Words drawn on it do. */
function isBarOf(editor: PageElement, words: PageNode, side: "previousSibling" | "nextSibling"): boolean {
  if (words.nodeType !== 1) return false
  const bar = words as PageElement
  const { y, height } = editor.getBoundingClientRect()
  if (side === "nextSibling") return bar.getBoundingClientRect().y >= y + height - 1
  const most = 20
  const parts = Array.from(bar.querySelectorAll("*")).slice(0, most)
  return parts.some((part) => getComputedStyle(part).cursor === "pointer")
}

/** Components keep fields that nobody sees beside the one that is drawn: these do not count. */
function hasOtherFields(place: PageElement, element: PageElement): boolean {
  const fields = place.querySelectorAll(fieldsSelector())
  for (let index = 0; index < fields.length; index += 1) {
    const field = fields[index] as PageElement
    if (field !== element && !isTiny(field) && !field.contains(element) && !isOnTrack(field, element)) return true
  }
  return false
}

/** What a page marks as wrong beside a field of text, for people alone; "" where nothing is. */
export function errorBeside(element: PageElement, role: string, marked: Map<PageRoot, boolean>): string {
  if (!/^(textbox|searchbox|combobox|listbox|spinbutton)$/.test(role)) return ""
  const [most, highest] = [120, 6]
  const marks = "[class*=error],[class*=invalid],[class*=danger]"
  const root = element.getRootNode()
  // One question for a page without such words, which most pages are.
  if (!marked.has(root)) marked.set(root, root.querySelector(marks) !== null)
  if (!marked.get(root)) return ""
  // What is told of elsewhere, or is red because it deletes something.
  const others = "[role=alert],[role=status],button,a,label,[role=button]"
  const isOther = (part: PageElement) => part.closest(others) !== null || part.querySelector("button,a,input") !== null
  const wordsOf = (part: PageElement) =>
    part.contains(element) || isOther(part) || !part.checkVisibility()
      ? ""
      : tidy(textOf(part, { left: 2 * most }), most)
  let words = ""
  let place = element.parentElement
  for (let steps = 0; words === "" && place && place.localName !== "body" && steps < highest; steps += 1) {
    if (hasOtherFields(place, element)) break
    words = Array.from(place.querySelectorAll(marks)).slice(0, 5).map(wordsOf).find(Boolean) ?? ""
    place = place.parentElement
  }
  return words
}

/** The other handle of a slider for a range: both have the words beside them in common. */
function isOnTrack(one: PageElement, other: PageElement): boolean {
  const isHandle = (element: PageElement) => element.getAttribute("role") === "slider" || element.type === "range"
  if (!isHandle(one) || !isHandle(other)) return false
  const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()]
  return a.width === b.width && a.height === b.height && (a.y === b.y || a.x === b.x)
}

/** Drawn so small, itself or what it stands in, that it is there for screen readers and scripts alone. */
export function isTiny(element: PageElement): boolean {
  let part: PageElement | null = element
  for (let steps = 0; part && steps < 3; steps += 1, part = part.parentElement) {
    const { width, height } = part.getBoundingClientRect()
    if (width <= 2 || height <= 2) return true
  }
  return false
}

function fieldsSelector(): string {
  return "input:not([type=hidden]),select,textarea,[contenteditable=true],[role=combobox],[role=switch],[role=slider]"
}

/** Words behind one field that stand in front of another are that one's, unless it is one more box to tick. */
function isLabelOfNext(node: PageNode | null, isTick: boolean): boolean {
  let next = node?.nextSibling ?? null
  while (next && (next.nodeType !== 1 || !(next as PageElement).checkVisibility())) next = next.nextSibling
  if (!next) return false
  const element = next as PageElement
  const field = element.matches(fieldsSelector()) ? element : element.querySelector(fieldsSelector())
  return field !== null && !(isTick && /^(checkbox|radio)$/.test(field.type ?? ""))
}

/** The nearest words on one side among the siblings, up to the next field. */
function wordsOnSide(
  element: PageElement,
  side: "previousSibling" | "nextSibling",
  most: number,
): { text: string; node: PageNode | null } {
  const none = { text: "", node: null }
  let node: PageNode | null = element[side]
  for (let steps = 0; node && steps < 4; steps += 1, node = node[side]) {
    if (node.nodeType === 3) {
      const text = tidy(node.nodeValue ?? "", most)
      if (text !== "") return { text, node }
    }
    if (node.nodeType !== 1) continue
    const sibling = node as PageElement
    if (/^(script|style|template)$/.test(sibling.localName) || !sibling.checkVisibility()) continue
    const others = `${fieldsSelector()},button,[role=button],[tabindex]`
    if (sibling.matches(others) || holds(sibling, others)) return none
    const text = tidy(textOf(sibling, { left: 300 }), most)
    if (text !== "") return { text, node }
  }
  return none
}

/** Also in the shadow roots of the components that stand there. */
function holds(element: PageElement, selector: string): boolean {
  if (element.querySelector(selector) || rootOf(element)?.querySelector(selector)) return true
  const most = 20
  const inside = element.querySelectorAll("*")
  for (let index = 0; index < Math.min(inside.length, most); index += 1)
    if (rootOf(inside[index] as PageElement)?.querySelector(selector)) return true
  return false
}

/** Of a cell that shows no words: its mark, tick or flag, and not how it is laid out. */
function signsInCell(cell: PageElement): string {
  const most = 8
  if (tidy(textOf(cell, { left: 200 }), 20) !== "") return ""
  const parts = Array.from(cell.querySelectorAll("*")).slice(0, most)
  const sign = parts.find((part) => !part.firstElementChild && !isTiny(part))
  return sign ? signsOf(sign) : ""
}

/** Of a column that is one cell, such as a day with its hours: the header that stands over it. */
function headOf(cell: PageElement): string {
  const [tall, most] = [200, 50]
  const box = cell.getBoundingClientRect()
  if (box.height < tall || box.height < box.width) return ""
  const middle = box.x + box.width / 2
  const heads = cell.closest("[role=grid],[role=treegrid],table")?.querySelectorAll("[role=columnheader],th") ?? []
  const head = Array.from(heads)
    .slice(0, most)
    .find((each) => {
      const { x, width } = each.getBoundingClientRect()
      return x <= middle && middle <= x + width && !each.contains(cell)
    })
  return head ? tidy(head.getAttribute("aria-label") ?? textOf(head, { left: 200 }), 40) : ""
}

/** What pages show in a box of their own over a thing under the mouse; often a box around it has it. */
function tipOf(element: PageElement): string {
  const highest = 3
  let place: PageElement | null = element
  let size: { width: number; height: number } | undefined
  for (
    let steps = 0;
    place && place.localName !== "body" && steps <= highest;
    steps += 1, place = place.parentElement
  ) {
    let tip = ""
    for (const name of ["data-tooltip", "data-tip", "data-title", "data-original-title", "title", "aria-label"])
      tip ||= tidy(place.getAttribute(name) ?? "", 60)
    if (!/\p{L}/u.test(tip)) continue
    if (place === element) return tip
    // A larger box has its words for more than this.
    size ??= element.getBoundingClientRect()
    const { width, height } = place.getBoundingClientRect()
    return width <= 2 * size.width && height <= 2 * size.height ? tip : ""
  }
  return ""
}

/** Names that the makers of the page have given to the element or to the icon in it. */
function signsOf(element: PageElement): string {
  const tip = tipOf(element)
  if (tip !== "") return tip
  const icon = element.querySelector("svg,i,img,use") ?? element.querySelector("[class*=icon]")
  const parts = icon ? [element, icon] : [element]
  const signs: string[] = []
  for (const part of parts) {
    for (const name of ["data-action", "data-direction", "data-icon", "data-command", "data-testid", "name", "icon"])
      signs.push(part.getAttribute(name) ?? "")
    const link = part.localName === "use" ? part : part.querySelector("use")
    signs.push((link?.getAttribute("href") ?? link?.getAttribute("xlink:href") ?? "").split("#")[1] ?? "")
    const style = getComputedStyle(part)
    signs.push(fileName(part.getAttribute("src") ?? ""), fileName(style.backgroundImage), fileName(style.content))
    // One of the handles around a thing: which way it is pulled, people see by the cursor alone.
    const isPulled = (each: PageElement | null) => each !== null && getComputedStyle(each).cursor.endsWith("-resize")
    const isOneOf = () => isPulled(part.nextElementSibling) || isPulled(part.previousElementSibling)
    if (style.cursor.endsWith("-resize") && isOneOf()) signs.push(style.cursor)
  }
  // The letters that a font draws as one sign are what its makers call the sign.
  const letters = icon && hiddenBy(icon) !== "" ? (icon.textContent ?? "").trim() : ""
  if (/^[a-z]\w{2,30}$/.test(letters)) return letters
  // What the makers say it does leaves nothing for the names of its looks to tell.
  const says = parts.some((part) => part.hasAttribute("data-direction") || part.hasAttribute("data-action"))
  // The sign tells more than the box around it.
  for (const part of says ? [] : parts.toReversed())
    // Its state is told beside it, and comes and goes.
    signs.push(...classesOf(part).slice(0, 4).map(unhashed))
  const told = [...new Set(signs.map((sign) => tidy(sign, 40)))].filter((sign) => sign.length > 2 || sign === "up")
  // One that only begins another says nothing more.
  const own = told.filter((sign) => !told.some((other) => other !== sign && other.startsWith(sign)))
  return tidy([...own.slice(0, 3), ...(icon || says ? [] : [looksOf(element)])].join(" "), 60)
}

/** Of a box or a part of a drawing that holds nothing: what people tell it from others by, `circle red` or `#1f5fae`. */
function looksOf(element: PageElement): string {
  const style = getComputedStyle(element)
  if (!element.ownerSVGElement) {
    const isPlain = element.childElementCount === 0 && style.backgroundImage === "none"
    const colour = isPlain ? colourOf(style.backgroundColor) : ""
    // Whitish boxes are what is left of a page where nothing is painted.
    return /^(white|#([ef].){3})$/.test(colour) ? "" : colour
  }
  const shape = /^(g|path|use|image|svg)$/.test(element.localName) ? "" : element.localName
  const colour = element.localName === "g" ? "" : colourOf(style.fill) || colourOf(style.stroke)
  return `${shape} ${colour}`.trim()
}

/** `rgb(255, 0, 0)` as `red`, others as `#1f5fae`; "" for what cannot be seen. */
function colourOf(computed: string): string {
  const parts = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/.exec(computed)
  if (!parts || Number(parts[4] ?? 1) < 0.2) return ""
  const hex = parts
    .slice(1, 4)
    .map((part) => Number(part).toString(16).padStart(2, "0"))
    .join("")
  const names: Record<string, string> = {
    "000000": "black",
    ffffff: "white",
    ff0000: "red",
    "00ff00": "lime",
    "008000": "green",
    "0000ff": "blue",
    ffff00: "yellow",
    "00ffff": "cyan",
    ff00ff: "magenta",
    "808080": "gray",
    ffa500: "orange",
    "800080": "purple",
    a52a2a: "brown",
    ffc0cb: "pink",
  }
  return names[hex] ?? `#${hex}`
}

/** `trash` of `/icons/trash.svg?v=2`, also where a style sheet wraps it in `url("...")`. */
function fileName(address: string): string {
  const longest = 2_000
  if (address.length > longest || address.includes("data:") || address.includes("gradient(")) return ""
  const path = address.split(/[?#"]/).find((part) => part.includes(".")) ?? ""
  return path.slice(path.lastIndexOf("/") + 1).split(".")[0] ?? ""
}

/**
 * The state that only a style sheet draws, where makers call it by its word: `tab--active`, `is-selected`, `rowChecked`. Also
 * of an entry around nothing but the control.
 */
export function drawnState(element: PageElement, role: string): string {
  if (!/^(generic|button|link|listitem|img|cell|row|text)$/.test(role)) return ""
  const around = element.parentElement
  const own = stateWords(element)
  const isAlone = own === "" && around?.childElementCount === 1 && around.localName !== "body"
  const drawn = isAlone ? stateWords(around, true) : own
  // What the page tells of it in words of the standard is all there is to tell.
  const told = ["selected", "checked", "current", "pressed", "expanded"]
  return drawn !== "" && told.some((name) => element.hasAttribute(`aria-${name}`)) ? "" : drawn
}

function classesOf(element: PageElement): string[] {
  const isPassing = (name: string) => /(enter|leave)-(active|from|to)$/.test(name)
  const names = (element.getAttribute("class") ?? "").split(/\s+/)
  return names.filter((name) => stateOfClass(name) === "" && !isPassing(name))
}

function stateWords(element: PageElement, isAround = false): string {
  const classes = element.getAttribute("class") ?? ""
  // Most have no such word, and are asked for each line.
  if (!/active|selected|current|checked|indeterminate|disabled|expanded|open/i.test(classes)) return ""
  const names = classes.split(/\s+/)
  // What another kind of thing is called by a word of its own may be anything: `tag-checked`.
  const read = isAround ? names.filter((name) => /^(is[-_]*)?[a-z]+$/.test(name)) : names
  const found = new Set(read.map(stateOfClass))
  return Array.from(found, (state) => (state === "" ? "" : ` [${state}]`)).join("")
}

function stateOfClass(name: string): string {
  const [word = "", before = ""] = name
    .replaceAll(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[-_]/)
    .toReversed()
  if (!/^(active|selected|current|checked|indeterminate|disabled|expanded|open|opened)$/.test(word)) return ""
  // What glides into place or lies under the mouse only for now; and what it is not.
  if (/^(enter|leave|appear|move|hover|focus|not|non|no|un)$/.test(before)) return ""
  const states: Record<string, string> = {
    active: "selected",
    open: "expanded",
    opened: "expanded",
    indeterminate: "checked=mixed",
  }
  return states[word] ?? word
}

/** A class without the parts that tools have put in: `_close_1a2b3` says "close", `css-1x2y3z` nothing. */
function unhashed(name: string): string {
  const parts = name.split(/[-_]+/).filter((part) => part !== "" && !(part.length > 3 && /\d/.test(part)))
  if (parts.length === 0 || /^(css|sc|jss|jsx|svelte|m)$/.test(parts.join("-"))) return ""
  return /\d/.test(name) ? parts.join("-") : name
}

export const hintsFunctions = [
  hintOf,
  hintOfSign,
  asHint,
  inBrackets,
  wordsBeside,
  isBarOf,
  isLabelOfNext,
  hasOtherFields,
  errorBeside,
  isOnTrack,
  isTiny,
  fieldsSelector,
  wordsOnSide,
  holds,
  signsInCell,
  headOf,
  tipOf,
  signsOf,
  looksOf,
  colourOf,
  fileName,
  drawnState,
  stateWords,
  stateOfClass,
  classesOf,
  unhashed,
]

declare const getComputedStyle: (element: PageElement) => PageStyle
