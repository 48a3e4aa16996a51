// What a wait looks for in a document, and whether a drag has begun. Runs in the page (see agent.ts).
import type { PageAgent } from "./agent.ts"
import type { PageDocument, PageElement, PageEvent, PageWindow } from "./dom.ts"
import { textOf, tidy } from "./names.ts"

/** Whether the visible text of the document holds these words; white space does not count. */
export function hasText(text: string): boolean {
  const { body } = document
  if (!body) return false
  const whole = 5_000_000
  return tidy(textOf(body, { left: whole }), whole).includes(tidy(text, whole))
}

/** Whether something that matches is visible; `bad` when it is no selector. */
export function hasVisible(selector: string): "yes" | "no" | "bad" {
  try {
    const matches = document.querySelectorAll(selector)
    for (let index = 0; index < matches.length; index += 1) {
      const element = matches[index] as PageElement
      if (element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0) return "yes"
    }
    return "no"
  } catch {
    return "bad"
  }
}

/** From now on notes whether the page lets the browser begin a drag of its own. */
export function watchDrag(agent: PageAgent): void {
  agent.dragBegan = false
  // A page that keeps the event to itself is seen by the first listener only.
  const onDrag = () => (agent.dragBegan = true)
  const onDragDone = (event: PageEvent) => {
    agent.dragBegan = !event.defaultPrevented
    removeEventListener("dragstart", onDrag, true)
    removeEventListener("dragstart", onDragDone, false)
  }
  addEventListener("dragstart", onDrag, true)
  addEventListener("dragstart", onDragDone, false)
}

export const conditionFunctions = [hasText, hasVisible, watchDrag]

declare const document: PageDocument
declare const addEventListener: PageWindow["addEventListener"]
declare const removeEventListener: PageWindow["removeEventListener"]
