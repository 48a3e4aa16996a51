// Fields whose content is nobody's business but the page's: secrets that were filled in, and what a person has typed who
// had taken the tab over. Snapshots show dots for them, and so do pictures, whatever the page makes of the field later.
// Runs in the page (see agent.ts).
import { elementOf, type PageAgent } from "./agent.ts"
import type { PageDocument, PageElement } from "./dom.ts"
import { watchPickers } from "./pickers.ts"

export type SecretState =
  /** `elsewhere`: the document is of another origin; `shown`: the field shows what it holds, and may not have it. */
  { kind: "gone" | "not-editable" | "shown" | "refused" | "filled" } | { kind: "elsewhere"; origin: string }

/** Checked and filled in one go, so that neither the document nor the field can be another one in between. */
export function fillSecret(
  agent: PageAgent,
  id: number,
  { origin, value, anyField }: { origin: string; value: string; anyField: boolean },
): SecretState {
  if (self.origin !== origin) return { kind: "elsewhere", origin: self.origin }
  const element = elementOf(agent, id)
  if (!element) return { kind: "gone" }
  const isField = element.localName === "input" || element.localName === "textarea"
  if (!isField || element.matches(":disabled, :read-only")) return { kind: "not-editable" }
  const purpose = element.getAttribute("autocomplete") ?? ""
  const isMeant = element.type === "password" || /(?:^|\s)(?:one-time-code|(?:current|new)-password)$/i.test(purpose)
  if (!isMeant && !anyField) return { kind: "shown" }
  concealElement(agent, element)
  element.focus({ preventScroll: true })
  element.value = value
  if (element.value !== value) return { kind: "refused" }
  element.dispatchEvent(new Event("input", { bubbles: true, composed: true }))
  element.dispatchEvent(new Event("change", { bubbles: true }))
  return { kind: "filled" }
}

export function concealElement(agent: PageAgent, element: PageElement): void {
  agent.concealed.add(element)
  const { style } = element as unknown as { style?: { setProperty(name: string, value: string, how: string): void } }
  style?.setProperty("-webkit-text-security", "disc", "important")
}

/** Nobody but its person and its page may know what stands in it: also not by guessing, or by what is said of it. */
export function isConcealed(agent: PageAgent, element: PageElement): boolean {
  return element.type === "password" || agent.concealed.has(element)
}

/** How many fields still hold what must not be seen. */
export function concealedFields(agent: PageAgent): number {
  let count = 0
  for (const element of agent.concealed) {
    if (!element.isConnected) agent.concealed.delete(element)
    else if ((element.value ?? element.textContent ?? "") !== "") count += 1
  }
  return count
}

/** Where a page shows one of the values by itself, dots stand there from now on. */
export function concealWords(agent: PageAgent, values: string[]): void {
  const holds = (text: string | null | undefined) => values.some((value) => (text ?? "").includes(value))
  for (const root of [document, ...agent.roots]) {
    const texts = document.createTreeWalker(root, 4)
    while (texts.nextNode()) {
      const { nodeValue, parentElement } = texts.currentNode
      if (parentElement && holds(nodeValue)) concealElement(agent, parentElement)
    }
    const fields = root.querySelectorAll("input, textarea")
    for (let index = 0; index < fields.length; index += 1) {
      const field = fields[index] as PageElement
      if (holds(field.value)) concealElement(agent, field)
    }
  }
}

/** From now on, what is typed is concealed; the answer of the one before ends with its document. */
export function watchPerson(agent: PageAgent): void {
  if (agent.stopPerson) return
  const onInput = (event: { composedPath(): unknown[] }) => {
    const element = event.composedPath()[0] as PageElement | undefined
    const isChoice = element?.localName === "input" && /^(checkbox|radio|range|color|file)$/.test(element.type)
    if (element?.localName && element.localName !== "select" && !isChoice) concealElement(agent, element)
  }
  addEventListener("input", onInput, true)
  const leavePickers = watchPickers(agent)
  agent.stopPerson = () => {
    removeEventListener("input", onInput, true)
    leavePickers()
  }
}

export function leavePerson(agent: PageAgent): void {
  agent.stopPerson?.()
  agent.stopPerson = null
}

export const concealFunctions = [
  fillSecret,
  concealElement,
  isConcealed,
  concealedFields,
  concealWords,
  watchPerson,
  leavePerson,
]

declare const self: { origin: string }
declare const document: PageDocument & {
  createTreeWalker(
    root: unknown,
    what: number,
  ): { nextNode(): unknown; currentNode: { nodeValue: string | null; parentElement: PageElement | null } }
}
declare const Event: new (type: string, options: object) => object
declare const addEventListener: (type: string, handler: unknown, capture: boolean) => void
declare const removeEventListener: (type: string, handler: unknown, capture: boolean) => void
