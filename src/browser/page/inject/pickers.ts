// Lists and calendars that the browser itself would open, which no picture of the page shows: while a person has the tab they
// are not opened, and what they would offer is told instead. Runs in the page (see agent.ts).
import type { PageAgent } from "./agent.ts"
import type { PageElement } from "./dom.ts"

/** What a person is to choose; the form of an answer follows from it. */
export type PagePicker =
  | { type: "list"; name: string; options: PickerOption[]; left: number }
  | { type: "date" | "time" | "datetime-local" | "month" | "week" | "color"; name: string; value: string }
  /** Files come from the gateway's machine: there is nothing to choose. */
  | { type: "file"; name: string }

export interface PickerOption {
  label: string
  group: string
  disabled: boolean
  selected: boolean
}

interface Press {
  type: string
  button: number
  key: string
  altKey: boolean
  isTrusted: boolean
  composedPath(): PageElement[]
  preventDefault(): void
}

/** Returns the way to leave. */
export function watchPickers(agent: PageAgent): () => void {
  const isList = (element: PageElement | undefined): element is PageElement =>
    element?.localName === "select" && !element.multiple && Number(element.getAttribute("size") ?? 1) <= 1
  const offer = (event: Press, element: PageElement) => {
    event.preventDefault()
    if (element.matches(":disabled") || (element.localName === "input" && element.readOnly)) return
    element.focus({ preventScroll: true })
    agent.picking = element
  }
  const onPress = (event: Press) => {
    agent.picking = null
    const [element] = event.composedPath()
    if (isList(element) && event.isTrusted && event.button === 0) offer(event, element)
  }
  const onKey = (event: Press) => {
    const [element] = event.composedPath()
    if (event.key === "Escape") agent.picking = null
    const isOpening = event.key === " " || event.key === "F4" || (event.altKey && /^Arrow(Up|Down)$/.test(event.key))
    if (isList(element) && event.isTrusted && isOpening) offer(event, element)
  }
  const onClick = (event: Press) => {
    const [element] = event.composedPath()
    if (element?.localName !== "input") return
    // A page's own button for files clicks a hidden field by script.
    const isFile = element.type === "file"
    const isOther = event.isTrusted && /^(date|time|datetime-local|month|week|color)$/.test(element.type)
    if (isFile || isOther) offer(event, element)
  }
  addEventListener("mousedown", onPress, true)
  addEventListener("keydown", onKey, true)
  addEventListener("click", onClick, true)
  return () => {
    removeEventListener("mousedown", onPress, true)
    removeEventListener("keydown", onKey, true)
    removeEventListener("click", onClick, true)
    agent.picking = null
  }
}

/** What is to be chosen now; null when nothing is. */
export function openPicker(agent: PageAgent): PagePicker | null {
  const element = agent.picking
  if (!element?.isConnected) return null
  const most = 500
  const words = (text: string | null | undefined) => (text ?? "").replace(/\s+/g, " ").trim().slice(0, 200)
  const name = words(element.getAttribute("aria-label") ?? textBeside(element))
  if (element.localName !== "select") {
    const type = element.type as Exclude<PagePicker["type"], "list">
    // What was typed into it may be concealed; the person has it before their eyes.
    return type === "file" ? { type, name } : { type, name, value: element.value }
  }
  const all = element.options ?? []
  const options: PickerOption[] = []
  for (let index = 0; index < all.length && index < most; index += 1) {
    const option = all[index] as PageElement
    const { parentElement: parent } = option
    options.push({
      label: words(option.label || option.text),
      group: parent?.localName === "optgroup" ? words(parent.label) : "",
      disabled: option.matches(":disabled"),
      selected: option.selected,
    })
  }
  return { type: "list", name, options, left: all.length - options.length }
}

/** The words of a label without those of the list that stands in it. */
export function textBeside(element: PageElement): string {
  const label = element.labels?.[0]
  return label?.contains(element)
    ? (label.textContent ?? "").replace(element.textContent ?? "", "")
    : (label?.textContent ?? "")
}

/** The person has chosen, or wants nothing of it. False where there was nothing to choose any more. */
export function answerPicker(agent: PageAgent, { option, value }: { option?: number; value?: string }): boolean {
  const element = agent.picking
  agent.picking = null
  if (!element?.isConnected) return false
  if (element.localName === "select") {
    const chosen = option === undefined ? undefined : element.options?.[option]
    if (!chosen || chosen.matches(":disabled") || element.selectedIndex === option) return true
    element.selectedIndex = option as number
  } else {
    if (value === undefined || element.type === "file" || element.value === value) return true
    element.value = value
  }
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }))
  element.dispatchEvent(new Event("change", { bubbles: true }))
  return true
}

export const pickersFunctions = [watchPickers, openPicker, textBeside, answerPicker]

declare const Event: new (type: string, options: object) => object
declare const addEventListener: (type: string, handler: unknown, capture: boolean) => void
declare const removeEventListener: (type: string, handler: unknown, capture: boolean) => void
