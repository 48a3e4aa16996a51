// What controls hold: the text of fields, the options of a select, the place of a slider. Runs in the page.
import { isCatcher } from "../catcher.ts"
import { isConcealed } from "../conceal.ts"
import type { PageElement } from "../dom.ts"
import { ariaOf } from "../internals.ts"
import { generatedWords, nameOf, textOf, tidy } from "../names.ts"
import { statesOf } from "../roles.ts"
import { plainWords, type Walk } from "./state.ts"

/** `text` cut at so many characters, with how many more there are. */
export function shortened(text: string, most: number): string {
  const whole = tidy(text, Infinity)
  if (whole.length <= most) return whole
  const start = tidy(whole, most)
  return `${start} (${whole.length - start.length + 1} more characters)`
}

/** Puts the value behind the line; true when there is nothing else inside to visit. */
export function addValue(walk: Walk, element: PageElement, role: string, inside: number, start: number): boolean {
  const tag = element.localName
  if (tag === "select") {
    addOptions(walk, element, inside)
    if (!walk.interactive && walk.lines.length > start + 1) walk.lines[start] += ":"
    return true
  }
  const most = 500
  if (tag === "input" || tag === "textarea") {
    if (role === "button") addChosen(walk, element, start)
    if (role === "checkbox" || role === "radio" || role === "button" || role === "switch") return true
    const hidden = isConcealed(walk.agent, element)
    // What a helper of an editor holds is a piece of its text, or what is selected.
    const held = isCatcher(element) ? "" : element.value
    const value = hidden ? "•".repeat(Math.min(8, held.length)) : shortened(held, most)
    if (value !== "") walk.lines[start] += `: ${plainWords(value)}`
    else addPlaceholder(walk, element.getAttribute("placeholder"), start)
    return true
  }
  if (role === "textbox" && (element.textContent ?? "").trim() === "") {
    addPlaceholder(walk, editorPlaceholder(element), start)
  }
  const place = rangeValue(element, role)
  if (place !== "") walk.lines[start] += `: ${plainWords(tidy(place, 100))}`
  else if (walk.interactive) addShownText(walk, element, role, start, most)
  return false
}

/** What stands beside the button of a field for files, and what the one of a field for colours is filled with. */
function addChosen(walk: Walk, element: PageElement, start: number): void {
  const most = 500
  const isOne = element.type === "file" || element.type === "color"
  if (!isOne) return
  const names = Array.from(element.files ?? [], ({ name }) => name).join(", ")
  const chosen = shortened(element.type === "color" ? element.value : names, most)
  if (chosen !== "") walk.lines[start] += `: ${plainWords(chosen)}`
}

/** Editors say it in an attribute, or draw it by their style sheet in front of the first block. */
function editorPlaceholder(element: PageElement): string {
  const attribute = (of: PageElement | null) => of?.getAttribute("data-placeholder") ?? ""
  const told = element.getAttribute("aria-placeholder") ?? attribute(element)
  const given = told || attribute(element.querySelector("[data-placeholder]"))
  if (given !== "") return given
  const deepest = 6
  let block: PageElement | null = element
  for (let depth = 0; block && depth < deepest; depth += 1, block = block.firstElementChild) {
    const { before, after } = generatedWords(block)
    if (/\p{L}/u.test(before + after)) return before + after
  }
  return ""
}

/** What stands in an empty field, where its name does not say the same. */
function addPlaceholder(walk: Walk, words: string | null | undefined, start: number): void {
  const most = 80
  const text = plainWords(tidy(words ?? "", most))
  const line = walk.lines[start] as string
  if (text === "" || line.includes(JSON.stringify(text))) return
  walk.lines[start] = `${line} [placeholder=${JSON.stringify(text)}]`
}

/** Where a slider, a meter or a divider stands. */
export function rangeValue(element: PageElement, role: string): string {
  if (!/^(slider|spinbutton|meter|progressbar|scrollbar|separator)$/.test(role)) return ""
  const text = ariaOf(element, "valuetext") ?? ariaOf(element, "valuenow")
  if (text !== null) return text
  if (element.localName === "meter") return String((element as unknown as { value: number }).value)
  return element.localName === "progress" ? (element.getAttribute("value") ?? "") : ""
}

/** In a list of controls: the words that a drawn box shows as its value, which are not its name. */
function addShownText(walk: Walk, element: PageElement, role: string, start: number, most: number): void {
  const isBox = /^(combobox|textbox|searchbox|spinbutton)$/.test(role) || element.hasAttribute("aria-haspopup")
  if (!isBox) return void addShownWords(walk, element, role, start)
  const shown = { left: 4 * most, withoutOpened: true, seenOnly: true }
  // What its own buttons are called is no part of the value, unless one of them shows it.
  const text =
    shortened(textOf(element, { ...shown, withoutButtons: true }), most) || shortened(textOf(element, shown), most)
  const line = walk.lines[start] as string
  if (text !== "" && !line.includes(JSON.stringify(text))) walk.lines[start] = `${line}: ${plainWords(text)}`
}

/** What a button shows that its makers have called otherwise: the month on "Choose month". Letters of an icon are none. */
function addShownWords(walk: Walk, element: PageElement, role: string, start: number): void {
  const most = 30
  if (role !== "button" || !element.hasAttribute("aria-label")) return
  const words = tidy(textOf(element, { left: 4 * most, seenOnly: true }), 2 * most)
  const name = (element.getAttribute("aria-label") ?? "").toLowerCase()
  const isIcon = /^[^\p{Lu}\d]*$/u.test(words)
  if (isIcon || words.length > most || name.includes(words.toLowerCase())) return
  walk.lines[start] += `: ${plainWords(words)}`
}

function addOptions(walk: Walk, element: PageElement, inside: number): void {
  const limit = walk.options.context ? 25 : 50
  const options = element.options
  if (!options) return
  const indent = walk.interactive ? "  " : "  ".repeat(inside)
  // Of many those around the chosen one: of two centuries of years the first are not what is looked for.
  const last = Math.max(0, options.length - limit)
  const first = Math.min(last, Math.max(0, element.selectedIndex - Math.floor(limit / 2)))
  let left = 0
  let group: PageElement | null = null
  for (let index = 0; index < options.length; index += 1) {
    const option = options[index] as PageElement
    if ((index >= first && index < first + limit) || option.selected) {
      const around = option.closest("optgroup")
      const label = around === group ? "" : tidy(around?.getAttribute("label") ?? "", 200)
      if (label !== "") walk.lines.push(`${indent}- group ${JSON.stringify(label)}:`)
      group = around
      const { name } = nameOf(walk.tables, option, "option")
      const place = around ? `${indent}  ` : indent
      walk.lines.push(`${place}- option ${JSON.stringify(name)}${statesOf(walk.tables, option, "option")}`)
    } else left += 1
  }
  if (left > 0) walk.lines.push(`${indent}- text: (${left} more options)`)
}

export const valuesFunctions = [
  shortened,
  addValue,
  addChosen,
  editorPlaceholder,
  addPlaceholder,
  rangeValue,
  addShownText,
  addShownWords,
  addOptions,
]
