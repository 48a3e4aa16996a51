// Whether anything has changed since the last walk: mutations of the document and its shadow roots, what is written in
// its fields, and the view. It costs a page nothing until it changes, and then one callback. Runs in the page.
import type { ChangeWatch, Observer, PageAgent } from "./agent.ts"
import type { PageDocument, PageElement } from "./dom.ts"

export function watchChanges(agent: PageAgent): void {
  agent.watch?.observer.disconnect()
  const observer = new MutationObserver(() => {
    watch.changed = true
    observer.disconnect()
  })
  const watch: ChangeWatch = { observer, changed: false, state: fieldsState(agent) }
  const options = { subtree: true, childList: true, attributes: true, characterData: true }
  for (const root of [document, ...agent.roots]) observer.observe(root, options)
  agent.watch = watch
}

/** Whether anything at all is otherwise than at the last walk: not only what that walk showed. */
export function hasChanged(agent: PageAgent): boolean {
  const { watch } = agent
  if (!watch) return false
  return watch.changed || watch.observer.takeRecords().length > 0 || watch.state !== fieldsState(agent)
}

/** True when a walk would surely give the same as the last one. */
export function isUnchanged(agent: PageAgent): boolean {
  const { watch } = agent
  if (!watch || watch.changed || watch.observer.takeRecords().length > 0) return false
  return document.getAnimations().length === 0 && watch.state === fieldsState(agent)
}

function fieldsState(agent: PageAgent): string {
  let state = `${innerWidth} ${innerHeight} ${document.styleSheets.length} ${document.readyState}`
  const add = (fields: ArrayLike<PageElement>) => {
    for (let index = 0; index < fields.length; index += 1) {
      const field = fields[index] as unknown as { value: string; checked?: boolean; selectedIndex?: number }
      state += `\0${field.value}${field.checked ? 1 : 0}${field.selectedIndex ?? ""}`
    }
  }
  // The document keeps such lists between calls; a selector would search all of a large page each time.
  for (const tag of ["input", "textarea", "select"]) add(document.getElementsByTagName(tag))
  for (const root of agent.roots) add(root.querySelectorAll("input,textarea,select"))
  return state
}

export const changesFunctions = [watchChanges, hasChanged, isUnchanged, fieldsState]

declare const document: PageDocument & { readyState: string }
declare const innerWidth: number
declare const innerHeight: number
declare const MutationObserver: new (callback: () => void) => Observer
