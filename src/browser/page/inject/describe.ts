// What an element is, for somebody who is asked about an action on it: as the page has it at this moment. Runs in the page
// (see agent.ts).
import { elementOf, type PageAgent } from "./agent.ts"
import type { PageElement } from "./dom.ts"
import { nameOf } from "./names.ts"
import { roleOf, roleTables } from "./roles.ts"

export interface ElementWords {
  role: string
  name: string
  /** Where a link leads. */
  leads?: string
  /** Which of those on the page that look the same, counted from 1; not there when it is the only one. */
  nth?: number
}

export function describeElement(agent: PageAgent, id: number): ElementWords | null {
  const element = elementOf(agent, id)
  if (!element) return null
  agent.labels = new Map()
  const tables = roleTables()
  const role = roleOf(tables, element) || element.localName
  const { name } = nameOf(tables, element, role)
  agent.labels = new Map()
  const leads = element.localName === "a" ? String((element as unknown as { href: unknown }).href) : ""
  const nth = placeAmongLike(element)
  return { role, name, ...(leads === "" ? {} : { leads }), ...(nth === 0 ? {} : { nth }) }
}

/** 0 for the only one of its kind, in its document or shadow tree. */
function placeAmongLike(element: PageElement): number {
  const looks = (each: PageElement) =>
    ["aria-label", "title", "placeholder", "name", "type", "href"].map((name) => each.getAttribute(name)).join() +
    (each.textContent ?? "")
  const own = looks(element)
  const found = element.getRootNode().querySelectorAll(element.localName)
  let count = 0
  let place = 0
  for (let index = 0; index < found.length; index += 1) {
    const each = found[index] as PageElement
    if (each !== element && looks(each) !== own) continue
    count += 1
    if (each === element) place = count
  }
  return count > 1 ? place : 0
}

export const describeFunctions = [describeElement, placeAmongLike]
