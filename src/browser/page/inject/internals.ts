// What custom elements tell the browser alone of themselves (`ElementInternals`): no script can read it from outside, so the
// gateway asks the browser and hands it in. Runs in the page (see agent.ts).
import { type Internals, internalsOf, type PageAgent } from "./agent.ts"
import type { PageElement } from "./dom.ts"

/** The elements to ask the browser about now: those that are known to tell it something, and entries of their lists. */
export function selfNamed(agent: PageAgent, most: number): PageElement[] {
  agent.selfNamed = agent.selfNamed.filter((element) => element.isConnected)
  const found = agent.selfNamed.filter((element) => element.checkVisibility())
  // Entries take no focus of their own, so nothing else tells that they are more than words.
  for (const list of found.filter((element) => /^(listbox|menu|radiogroup|tablist|tree)$/.test(roleToldBy(element)))) {
    for (let entry = list.firstElementChild; entry; entry = entry.nextElementSibling)
      if (entry.localName.includes("-") && !entry.hasAttribute("role") && !agent.internals.has(entry)) found.push(entry)
  }
  return found.slice(0, most)
}

function roleToldBy(element: PageElement): string {
  return element.getAttribute("role") ?? internalsOf(element)?.role ?? ""
}

/** `told`: in the order of the elements; a role of "" where the browser tells nothing. True when anything is new. */
export function takeInternals(agent: PageAgent, elements: readonly PageElement[], told: readonly Internals[]): boolean {
  let isNew = false
  elements.forEach((element, index) => {
    const now = told[index] as Internals
    const before = agent.internals.get(element)
    // Of what is out of sight nothing is told.
    if (now.role === "" && before) return
    agent.internals.set(element, now)
    if (now.role === "" || (before && JSON.stringify(before) === JSON.stringify(now))) return
    isNew = true
    if (!agent.selfNamed.includes(element)) agent.selfNamed.push(element)
  })
  // Such a state leaves no trace in the document.
  if (isNew && agent.watch) agent.watch.changed = true
  return isNew
}

/** A state of an element: what its attribute says, else what it tells the browser alone. */
export function ariaOf(element: PageElement, name: string): string | null {
  return element.getAttribute(`aria-${name}`) ?? internalsOf(element)?.aria[name] ?? null
}

export const internalsFunctions = [selfNamed, roleToldBy, takeInternals, ariaOf]
