// Whether anything has changed since the last walk: mutations of the document and its shadow roots, what is written in
// its fields, and the view. It costs a page nothing until it changes, and then one callback. What shows without a mutation
// is looked at besides: popovers, rules that scripts put into style sheets, components that are defined late. Runs in the page.
import type { ChangeWatch, Observer, PageAgent } from "./agent.ts"
import type { PageDocument, PageElement, PageRoot } from "./dom.ts"

export function watchChanges(agent: PageAgent): void {
  agent.watch?.stop()
  const roots = [document, ...agent.roots]
  // What shows without a mutation: popovers, and fields that the browser refuses to send.
  const traceless = ["beforetoggle", "invalid"]
  const stop = () => {
    observer.disconnect()
    for (const root of roots) for (const type of traceless) root.removeEventListener(type, note, true)
  }
  const note = () => {
    watch.changed = true
    stop()
  }
  const observer = new MutationObserver(note)
  const watch: ChangeWatch = { observer, changed: false, state: stateOf(agent), undefined: undefinedIn(roots), stop }
  const options = { subtree: true, childList: true, attributes: true, characterData: true }
  for (const root of roots) {
    observer.observe(root, options)
    for (const type of traceless) root.addEventListener(type, note, true)
  }
  agent.watch = watch
}

/** One of each kind of component that is not defined: when that comes, all of them may get a shadow root. */
function undefinedIn(roots: readonly PageRoot[]): PageElement[] {
  const kinds = new Map<string, PageElement>()
  for (const root of roots) {
    const found = root.querySelectorAll(":not(:defined)")
    for (let index = 0; index < found.length; index += 1) {
      const element = found[index] as PageElement
      kinds.set(element.localName, element)
    }
  }
  return [...kinds.values()]
}

/** Whether anything at all is otherwise than at the last walk: not only what that walk showed. */
export function hasChanged(agent: PageAgent): boolean {
  const { watch } = agent
  if (!watch) return false
  return isMarked(watch) || watch.state !== stateOf(agent)
}

function isMarked({ changed, observer, undefined: kinds }: ChangeWatch): boolean {
  return changed || observer.takeRecords().length > 0 || kinds.some((element) => element.matches(":defined"))
}

/** True when a walk would surely give the same as the last one. */
export function isUnchanged(agent: PageAgent): boolean {
  const { watch } = agent
  if (!watch || isMarked(watch)) return false
  return document.getAnimations().length === 0 && watch.state === stateOf(agent)
}

function stateOf(agent: PageAgent): string {
  let state = `${innerWidth} ${innerHeight} ${sheetsState()} ${document.readyState}`
  const add = (fields: ArrayLike<PageElement>) => {
    for (let index = 0; index < fields.length; index += 1) {
      const field = fields[index] as PageElement
      state += `\0${field.value}${field.indeterminate ? 2 : field.checked ? 1 : 0}${chosenIn(field)}`
    }
  }
  // The document keeps such lists between calls; a selector would search all of a large page each time.
  for (const tag of ["input", "textarea", "select"]) add(document.getElementsByTagName(tag))
  for (const root of agent.roots) add(root.querySelectorAll("input,textarea,select"))
  return state
}

/** Of a list of which several can be chosen, each of them. */
function chosenIn(field: PageElement): string {
  if (field.localName !== "select") return ""
  if (!field.multiple) return String(field.selectedIndex)
  return Array.from(field.options ?? [], ({ selected }) => (selected ? 1 : 0)).join("")
}

/** Scripts put rules into sheets that are there, and switch whole sheets on and off. */
function sheetsState(): string {
  const sheets = [...Array.from(document.styleSheets), ...Array.from(document.adoptedStyleSheets)]
  const states = sheets.map((sheet) => {
    try {
      return sheet.disabled ? "off" : sheet.cssRules.length
    } catch {
      // The rules of another site's sheet are not told.
      return ""
    }
  })
  return states.join()
}

export const changesFunctions = [
  watchChanges,
  undefinedIn,
  hasChanged,
  isMarked,
  isUnchanged,
  stateOf,
  chosenIn,
  sheetsState,
]

interface Sheet {
  disabled: boolean
  cssRules: { length: number }
}

declare const document: Omit<PageDocument, "styleSheets"> & {
  readyState: string
  styleSheets: ArrayLike<Sheet>
  adoptedStyleSheets: ArrayLike<Sheet>
}
declare const innerWidth: number
declare const innerHeight: number
declare const MutationObserver: new (callback: () => void) => Observer
