// What we keep in a page: the elements that snapshots have shown, by number. It lives in an isolated world of one
// document, so it can be neither seen nor changed by the page, and it is gone when the document is.
// Every function in this folder runs in the page: it may use its parameters, page globals and its neighbours here,
// never an import's value or a constant outside a function.
import type { PageElement, PageEvent, PageNode, PageRoot } from "./dom.ts"

export interface ArmedClick {
  missed: boolean
  hits: number
  missedBy: string
  givesFile: boolean
  handler: (event: PageEvent) => void
  /** How often the mouse was let go here, and who waits for it. */
  releases: number
  onRelease: (() => void) | undefined
}

export interface Observer {
  observe(node: PageNode, options: object): void
  takeRecords(): ArrayLike<object>
  disconnect(): void
}

/** Of the document since the last walk. */
export interface ChangeWatch {
  observer: Observer
  changed: boolean
  state: string
  /** One element of each kind that was not defined. */
  undefined: PageElement[]
  stop(): void
}

/** What a custom element tells the browser alone. `aria`: states as the attribute of that name would tell them, `aria-` left out. */
export interface Internals {
  role: string
  name: string
  aria: Record<string, string>
}

export interface PageAgent {
  nextId: number
  /** How many elements may be known before it is worth looking for those that are gone. */
  forgetAt: number
  ids: WeakMap<PageElement, number>
  elements: Map<number, WeakRef<PageElement>>
  /** Roles, names and states that custom elements have given themselves without attributes; the gateway hands them in. */
  internals: WeakMap<PageElement, Internals>
  /** Those of them that have a role. */
  selfNamed: PageElement[]
  /** Whether style sheets of the document put words before or behind elements; undefined when not looked. */
  generates: { sheets: number; words: boolean; selectors: string[] } | undefined
  /** What is known of the page's cursors: how many rules were looked through, and whether one of them sets any. */
  cursors: { rules: number; set: boolean }
  /** Labels of the controls of each document or shadow root, as the walk that is under way has met them. */
  labels: Map<PageRoot, Map<PageElement, PageElement[]>>
  /** Elements with handlers of clicks that scripts have added; the gateway hands them in. */
  listening: WeakSet<PageElement>
  armed: ArmedClick | null
  /** Set while text is being typed into a field: whether the field has held it. */
  typing: { seen: boolean; areKeysTaken(): boolean; stop(): void } | null
  /** Whether the page has let the browser begin a drag since it was asked to watch. */
  dragBegan: boolean
  /** Closed shadow roots by their host; the gateway hands them in. */
  closedRoots: WeakMap<PageElement, PageRoot>
  /** Elements that may have a closed root and have not been looked at. */
  suspects: PageElement[]
  /** Those that were looked at, and whether each was defined by then: a component that was not may have a root since. */
  probed: WeakMap<PageElement, boolean>
  /** Shadow roots that the last walk went into. */
  roots: PageRoot[]
  watch: ChangeWatch | null
  /** Fields, and elements with words, whose content is not shown to anybody. */
  concealed: Set<PageElement>
  /** Set while a person has the tab. */
  stopPerson: (() => void) | null
  /** What the person is to choose from, instead of the browser's own list. */
  picking: PageElement | null
}

export function createAgent(): PageAgent {
  return {
    nextId: 1,
    forgetAt: 2_000,
    ids: new WeakMap(),
    elements: new Map(),
    internals: new WeakMap(),
    selfNamed: [],
    generates: undefined,
    cursors: { rules: -1, set: false },
    labels: new Map(),
    listening: new WeakSet(),
    armed: null,
    typing: null,
    dragBegan: false,
    closedRoots: new WeakMap(),
    suspects: [],
    probed: new WeakMap(),
    roots: [],
    watch: null,
    concealed: new Set(),
    stopPerson: null,
    picking: null,
  }
}

/** The element's number, for as long as it lives: a change of its name does not make it another element. */
export function numberOf(agent: PageAgent, element: PageElement): number {
  const known = agent.ids.get(element)
  if (known !== undefined) return known
  const id = agent.nextId
  agent.nextId += 1
  agent.ids.set(element, id)
  agent.elements.set(id, new WeakRef(element))
  return id
}

/** The shadow root of an element, open or closed. */
export function rootOf(element: PageElement): PageRoot | null {
  return element.shadowRoot ?? agent.closedRoots.get(element) ?? null
}

/** The element, or null when it has left its document. */
export function elementOf(agent: PageAgent, id: number): PageElement | null {
  const element = agent.elements.get(id)?.deref()
  if (!element || !element.isConnected) return null
  return element
}

/** Numbers of elements that are gone would pile up in a page that renders for days. */
export function forgetGone(agent: PageAgent): void {
  if (agent.elements.size < agent.forgetAt) return
  for (const [id, reference] of agent.elements) {
    if (reference.deref()?.isConnected) continue
    agent.elements.delete(id)
  }
  agent.forgetAt = 2_000 + agent.elements.size * 2
}

/** The next elements to look at for a closed root: components first, since of these most have one. */
export function nextSuspects(agent: PageAgent, most: number): PageElement[] {
  const isComponent = ({ localName }: PageElement) => localName.includes("-")
  const found = [...agent.suspects.filter(isComponent), ...agent.suspects.filter((each) => !isComponent(each))]
  agent.suspects = found.splice(most)
  for (const element of found) agent.probed.set(element, element.matches(":defined"))
  return found
}

export const agentFunctions = [createAgent, nextSuspects, rootOf, internalsOf, numberOf, elementOf, forgetGone]

/** What a custom element says of itself to screen readers alone. */
export function internalsOf(element: PageElement): Internals | undefined {
  return element.localName.includes("-") ? agent.internals.get(element) : undefined
}

/** The one agent of the world; the script that carries these functions makes it. */
declare const agent: PageAgent
