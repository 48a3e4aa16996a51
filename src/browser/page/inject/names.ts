// Accessible names and visible text. Runs in the page (see agent.ts).
import { internalsOf, type PageAgent, rootOf } from "./agent.ts"
import type { PageElement, PageNode, PageStyle } from "./dom.ts"
import { factsOf, isReplaced, type RoleTables } from "./roles.ts"

/** Whether neither the element nor anything in it is shown to people. */
export function isHidden(element: PageElement): boolean {
  return !element.checkVisibility() && !hasShownChildren(element)
}

/** Cut to next to nothing, with all that is in it: nobody sees it. */
export function isCutAway(element: PageElement): boolean {
  const { width, height } = element.getBoundingClientRect()
  if (width > 2 && height > 2) return false
  const { overflowX, clip, clipPath } = getComputedStyle(element)
  return /hidden|clip/.test(overflowX) || clip !== "auto" || clipPath !== "none"
}

/** A box of its own is missing also for `display: contents`, whose children may be shown all the same. */
export function hasShownChildren(element: PageElement): boolean {
  return element.localName === "slot" || getComputedStyle(element).display === "contents"
}

/** The attribute that hides an element from screen readers or from use, though people may see it; "" for none. */
export function hiddenBy(element: PageElement): "" | "aria-hidden" | "inert" {
  if (!element.hasAttributes()) return ""
  if (element.getAttribute("aria-hidden") === "true") return "aria-hidden"
  return element.hasAttribute("inert") ? "inert" : ""
}

/** What a reader or a screen reader meets inside the node: shadow content in place of its host's children. */
export function firstInside(element: PageElement): PageNode | null {
  const root = rootOf(element)
  return root ? root.firstChild : element.firstChild
}

/** One line, single spaces, no control characters, cut at `max` without tearing a surrogate pair. */
export function tidy(text: string, max: number): string {
  // As most words are: nothing to put right.
  if (text.length <= max && /^(?:[!-~\u00a1-\u167f]+(?: [!-~\u00a1-\u167f]+)*)?$/.test(text)) return text
  // Places where a line may break are no spaces: nobody sees them.
  const seen = text.replaceAll(/[\u200b\ufeff]/g, "")
  // oxlint-disable-next-line no-control-regex
  const line = seen.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim()
  if (line.length <= max) return line
  const end = /[\ud800-\udbff]/.test(line[max - 2] ?? "") ? max - 2 : max - 1
  return `${line.slice(0, end)}…`
}

/** `nesting` counts how deep the function has called itself: past 400 the text is taken as the browser has it. */
export interface TextBudget {
  left: number
  nesting?: number
  /** Set when something that people read was left out, or stands under another name. */
  differs?: boolean
  /** Lists, calendars and the like that have opened inside are no part of it. */
  withoutOpened?: boolean
  /** Nor are buttons inside. */
  withoutButtons?: boolean
  /** Nor is what is cut to nothing, for screen readers alone. */
  seenOnly?: boolean
  /** Of an entry of a tree: nor are the entries below it. */
  withoutBranches?: boolean
}

export function textOf(element: PageElement, budget: TextBudget): string {
  if (budget.left <= 0) return ""
  const nesting = budget.nesting ?? 0
  const isSlot = element.localName === "slot"
  if (nesting >= 400 || (!element.firstElementChild && !rootOf(element) && !isSlot)) {
    const text = element.textContent ?? ""
    budget.left -= text.length
    return text
  }
  budget.nesting = nesting + 1
  let text = ""
  const take = (node: PageNode) => {
    if (node.nodeType === 3) {
      text += node.nodeValue ?? ""
      budget.left -= node.nodeValue?.length ?? 0
    } else if (node.nodeType === 1) {
      const words = textOfChild(node as PageElement, budget)
      const isJoined = /\S$/.test(text) && /^\S/.test(words)
      text += isJoined && standsApart(node as PageElement) ? ` ${words}` : words
    }
  }
  const assigned = isSlot ? element.assignedNodes({ flatten: true }) : []
  if (assigned.length > 0) assigned.forEach(take)
  else for (let node = firstInside(element); node && budget.left > 0; node = node.nextSibling) take(node)
  budget.nesting = nesting
  return text
}

/** In a row of boxes (`display: flex`) what else flows within a line is a box of its own. */
function standsApart(element: PageElement): boolean {
  return /^(block|flex|grid|flow-root)/.test(getComputedStyle(element).display)
}

function textOfChild(child: PageElement, budget: TextBudget): string {
  const tag = child.localName
  if (tag === "script" || tag === "style" || tag === "noscript" || tag === "template") return ""
  if (!child.checkVisibility({ visibilityProperty: true })) {
    if (isHidden(child)) return ""
    // Its own words are not seen; a child may have made itself visible again.
    if (tag !== "slot" && child.checkVisibility()) return textOfSeen(child, budget)
  }
  if (budget.withoutOpened && isOpened(child)) return ""
  if (budget.withoutButtons && (tag === "button" || child.getAttribute("role") === "button")) return ""
  if (budget.withoutBranches && child.getAttribute("role") === "group") return ""
  if (budget.seenOnly && isCutAway(child)) return ""
  const label = child.getAttribute("aria-label")
  if (label || hiddenBy(child) !== "") budget.differs = true
  if (hiddenBy(child) !== "") return ""
  if (label) return ` ${label} `
  if (tag === "img") return ` ${child.getAttribute("alt") ?? ""} `
  if (tag === "svg") return ` ${child.querySelector("title")?.textContent ?? ""} `
  if (tag === "br") return " "
  if (isReplaced(tag)) return ""
  const text = textOf(child, budget)
  // Only what flows within a line continues a word.
  const flows =
    /^(a|abbr|b|bdi|bdo|cite|code|data|dfn|em|font|i|ins|kbd|mark|q|s|samp|slot|small|span|strong|sub|sup|time|u|var|wbr)$/
  return flows.test(tag) ? text : ` ${text} `
}

/** A list, a calendar, a menu that has opened inside what it belongs to. */
function isOpened(element: PageElement): boolean {
  return /^(listbox|menu|tree|grid|dialog)$/.test(element.getAttribute("role") ?? "")
}

function textOfSeen(element: PageElement, budget: TextBudget): string {
  let text = ""
  for (let node = firstInside(element); node && budget.left > 0; node = node.nextSibling)
    if (node.nodeType === 1) text += textOfChild(node as PageElement, budget)
  return text
}

export interface Name {
  name: string
  /** The name has all the words that are inside the element: they need not be said again. */
  said: boolean
}

export function nameOf(tables: RoleTables, element: PageElement, role: string): Name {
  const limit = 200
  const isBare = !element.hasAttributes()
  const attribute = (name: string) => (isBare ? "" : tidy(element.getAttribute(name) ?? "", limit))
  const { named } = factsOf(tables, element.localName)
  const given =
    (!isBare && (labelledText(element, limit) || attribute("aria-label"))) ||
    (named && (tidy(internalsOf(element)?.name ?? "", limit) || tidy(nativeName(element), limit))) ||
    ""
  const byContent = tables.namedByContent.has(role)
  const budget: TextBudget = { left: 1000, withoutBranches: role === "treeitem" }
  const around =
    byContent && given === "" && (tables.generates ??= hasGeneratedWords()) ? generatedWords(element) : null
  const inside = byContent ? textOf(element, budget) : ""
  const content = tidy(around ? `${around.before}${inside}${around.after}` : inside, Infinity)
  if (around && around.before + around.after !== "") budget.differs = true
  const isWhole = content.length <= limit && budget.left > 0 && !budget.differs
  if (given !== "") return { name: given, said: isWhole && content === given }
  if (content !== "") return { name: tidy(content, limit), said: isWhole }
  const title = attribute("title")
  // One that only repeats what stands inside is no name: those words are the value.
  const isRepeated = title !== "" && !byContent && tidy(textOf(element, { left: 400 }), limit) === title
  const other = hostName(element, limit) || (isRepeated ? "" : title) || attribute("placeholder")
  return { name: other, said: false }
}

/** The words of the elements that `aria-labelledby` names. */
function labelledText(element: PageElement, limit: number): string {
  const labelledBy = element.getAttribute("aria-labelledby")
  if (!labelledBy) return ""
  const root = element.getRootNode()
  const parts = labelledBy.split(/\s+/).map((id) => root.getElementById?.(id))
  return tidy(
    parts.map((part) => (part ? part.getAttribute("aria-label") || textOf(part, { left: 1000 }) : "")).join(" "),
    limit,
  )
}

/** A field inside a component has the name of the component: its label stands outside the shadow root. */
function hostName(element: PageElement, limit: number): string {
  const host = element.getRootNode().host
  if (!host || !/^(input|select|textarea|button)$/.test(element.localName)) return ""
  const own = host.getAttribute("aria-label") ?? host.getAttribute("label")
  if (own) return tidy(own, limit)
  const label =
    host.closest("label") ??
    (host.id === "" ? null : host.getRootNode().querySelector(`label[for="${CSS.escape(host.id)}"]`))
  return label ? tidy(textOf(label, { left: 1000 }), limit) : ""
}

/** Words that only the style sheet has, in front of or behind the content. Signs of icon fonts are no words. */
export function generatedWords(element: PageElement): { before: string; after: string } {
  const words = (part: string) => {
    const { content, display, visibility, opacity } = getComputedStyle(element, part)
    // A tip that shows under the mouse, say.
    if (!content.includes('"') || display === "none" || visibility !== "visible" || opacity === "0") return ""
    let text = ""
    let before = ""
    for (const { words: part, isQuoted } of contentParts(content)) {
      // Behind it stands what is told in place of a picture.
      if (!isQuoted && part.includes("/")) break
      // What stands between the numbers of a counter is none of its own words.
      if (isQuoted && before.lastIndexOf("(") <= before.lastIndexOf(")")) text += part
      if (!isQuoted) before = part
    }
    return text.replaceAll(/[\ue000-\uf8ff]|\\(.)/g, "$1")
  }
  return { before: words("::before"), after: words("::after") }
}

/** What stands in quotes and what does not, one after the other; backslashes stay. */
function contentParts(content: string): { words: string; isQuoted: boolean }[] {
  const parts: { words: string; isQuoted: boolean }[] = []
  let words = ""
  let isQuoted = false
  for (let at = 0; at < content.length; at += 1) {
    const sign = content[at] as string
    if (sign === '"') {
      parts.push({ words, isQuoted })
      words = ""
      isQuoted = !isQuoted
    } else if (sign === "\\") {
      words += sign + (content[at + 1] ?? "")
      at += 1
    } else words += sign
  }
  parts.push({ words, isQuoted })
  return parts
}

/** Whether a rule says `content: "..."` with a letter or a digit in it, or takes it from an attribute. */
function generatesWords(rule: string): boolean {
  const longest = 200
  for (let at = rule.indexOf("content:"); at >= 0; at = rule.indexOf("content:", at + 1)) {
    const value = rule.slice(at + "content:".length, at + longest)
    for (const { words, isQuoted } of contentParts(value)) {
      const end = isQuoted ? -1 : words.search(/[;}]/)
      if (!isQuoted && (end < 0 ? words : words.slice(0, end)).includes("attr(")) return true
      if (end >= 0) break
      if (isQuoted && /[\p{L}\p{N}]/u.test(words.replaceAll(/\\[\da-f]{1,6}/gi, ""))) return true
    }
  }
  return false
}

/** To ask each element costs too much: most pages generate no words, and their style sheets say so once. */
function hasGeneratedWords(): boolean {
  return generators().words
}

/** What is known of the rules that generate words: whether there are any, and for which elements, where that is told. */
function generators(): { words: boolean; selectors: string[] } {
  const sheets = document.styleSheets
  if (agent.generates?.sheets === sheets.length) return agent.generates
  const found = { sheets: sheets.length, words: false, selectors: [] }
  const budget = { left: 5_000 }
  for (let index = 0; index < sheets.length; index += 1) {
    try {
      lookThrough(sheets[index]?.cssRules ?? [], found, budget)
    } catch {
      // The rules of another site's sheet are not told: then each element is asked.
      found.words = true
    }
  }
  agent.generates = found
  return found
}

interface Rule {
  cssText: string
  selectorText?: string
  cssRules?: ArrayLike<Rule>
}

function lookThrough(
  rules: ArrayLike<Rule>,
  found: { words: boolean; selectors: string[] },
  budget: { left: number },
): void {
  for (let index = 0; index < rules.length && budget.left > 0; index += 1) {
    const { cssText, selectorText, cssRules } = rules[index] as Rule
    budget.left -= 1
    if (!generatesWords(cssText)) continue
    found.words = true
    if (selectorText === undefined) lookThrough(cssRules ?? [], found, budget)
    else found.selectors.push(selectorText.replaceAll(/::?(?:before|after)\b/g, ""))
  }
}

/** Elements of the document around whose content a style sheet may put words. */
export function generatingElements(): Set<PageElement> {
  const elements = new Set<PageElement>()
  for (const selector of generators().selectors) {
    try {
      for (const element of Array.from(document.querySelectorAll(selector))) elements.add(element)
    } catch {
      // Of a rule for all elements, or one inside another, nothing is left that could be looked for.
    }
  }
  return elements
}

function nativeName(element: PageElement): string {
  const tag = element.localName
  // Buttons and form controls of custom elements have labels too; the label goes before what is inside.
  let text = ""
  const mayHave = tag === "input" ? !/^(button|submit|reset|image)$/.test(element.type) : canBeLabelled(tag)
  for (const label of mayHave ? labelsOf(element) : []) text += ` ${labelText(label, element)}`
  if (text.trim() !== "") return text
  if (tag === "button") return ""
  if (tag === "input") {
    if (element.type === "image") return element.getAttribute("alt") ?? ""
    if (!/^(button|submit|reset)$/.test(element.type)) return ""
    return element.value || (element.type === "submit" ? "Submit" : element.type === "reset" ? "Reset" : "")
  }
  if (tag === "select" || tag === "textarea" || tag === "meter" || tag === "progress") return ""
  if (tag === "img" || tag === "area") return element.getAttribute("alt") ?? ""
  if (tag === "svg") return element.querySelector("title")?.textContent ?? ""
  if (tag === "option") return element.label || element.text
  const captions: Record<string, string> = { fieldset: "legend", table: "caption", figure: "figcaption" }
  return Object.hasOwn(captions, tag) ? (captionOf(element, captions[tag] as string)?.textContent ?? "") : ""
}

function canBeLabelled(tag: string): boolean {
  return /^(button|meter|output|progress|select|textarea)$/.test(tag) || tag.includes("-")
}

/** The browser's own list of an element's labels is a search of the whole document for each element that is asked. */
function labelsOf(element: PageElement): readonly PageElement[] {
  const root = element.getRootNode()
  let known = agent.labels.get(root)
  if (!known) {
    known = new Map()
    const labels = root.querySelectorAll?.("label") ?? []
    for (let index = 0; index < labels.length; index += 1) {
      const label = labels[index] as PageElement
      const { control } = label
      if (control) known.set(control, [...(known.get(control) ?? []), label])
    }
    agent.labels.set(root, known)
  }
  return known.get(element) ?? []
}

/** A caption is a child, near the start or at the end: a search of all that a large table holds would cost too much. */
function captionOf(element: PageElement, tag: string): PageElement | null {
  let child = element.firstElementChild
  for (let steps = 0; child && steps < 20; steps += 1, child = child.nextElementSibling)
    if (child.localName === tag) return child
  const last = element.lastElementChild
  return last?.localName === tag ? last : null
}

/** A label's words without those of the control that it may hold (the options of a select, say). */
function labelText(label: PageElement, control: PageElement): string {
  if (!label.contains(control)) return textOf(label, { left: 1000 })
  let text = ""
  for (let node = label.firstChild; node; node = node.nextSibling) {
    if (node.nodeType === 3) text += node.nodeValue ?? ""
    if (node.nodeType !== 1) continue
    const part = node as PageElement
    if (part !== control && !part.contains(control) && !isOpened(part))
      text += ` ${textOf(part, { left: 1000, withoutOpened: true })} `
  }
  return text
}

export const namesFunctions = [
  isHidden,
  isCutAway,
  hasShownChildren,
  hiddenBy,
  firstInside,
  tidy,
  textOf,
  standsApart,
  textOfChild,
  isOpened,
  textOfSeen,
  nameOf,
  labelledText,
  generatedWords,
  contentParts,
  generatesWords,
  hasGeneratedWords,
  generators,
  lookThrough,
  generatingElements,
  hostName,
  nativeName,
  canBeLabelled,
  labelsOf,
  captionOf,
  labelText,
]

declare const getComputedStyle: (element: PageElement, part?: string) => PageStyle
declare const CSS: { escape(text: string): string }
declare const agent: PageAgent
declare const document: {
  styleSheets: ArrayLike<{ cssRules: ArrayLike<Rule> }>
  querySelectorAll(selector: string): ArrayLike<PageElement>
}
