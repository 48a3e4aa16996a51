// Makes sure that a click lands on the element it was meant for: things move between the check and the click.
// What would land elsewhere is stopped before the page sees it. Runs in the page (see agent.ts).
import type { ArmedClick, PageAgent } from "./agent.ts"
import type { PageElement, PageEvent, PageWindow } from "./dom.ts"
import { describe, elementAt, isHit, titleOf } from "./hit.ts"

export interface ClickReport {
  /** Events that reached the document at all. */
  hits: number
  /** What the click would have hit instead; "" when it hit its element. */
  missedBy: string
  /** It hit a link that gives a file. */
  givesFile: boolean
  /** Of the document; "" where it has none. */
  title: string
}

export function guardedEvents(): string[] {
  return ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "auxclick", "contextmenu"]
}

/** `element` null: the click is for a frame inside this document, so nothing of it may be seen here. */
export function armClick(agent: PageAgent, element: PageElement | null): void {
  disarmClick(agent)
  const armed: ArmedClick = {
    missed: false,
    hits: 0,
    missedBy: "",
    givesFile: false,
    releases: 0,
    onRelease: undefined,
    handler: (event: PageEvent) => {
      if (!event.isTrusted) return
      armed.hits += 1
      if (event.type === "mouseup") {
        armed.releases += 1
        armed.onRelease?.()
      }
      let hit = event.composedPath()[0] as PageElement | undefined
      // Events from inside a closed shadow root show only its host.
      if (hit && agent.closedRoots.has(hit)) hit = elementAt(event.clientX, event.clientY) ?? hit
      // Only the first event decides: the page may well move things in answer to it.
      if (armed.hits === 1 && hit?.nodeType === 1 && (element === null || !isHit(element, hit))) {
        armed.missed = true
        armed.missedBy = describe(hit)
      }
      if (armed.hits === 1 && hit?.nodeType === 1) armed.givesFile = hit.closest("a[download],area[download]") !== null
      if (!armed.missed) return
      event.preventDefault()
      event.stopImmediatePropagation()
    },
  }
  for (const type of guardedEvents()) addEventListener(type, armed.handler, true)
  agent.armed = armed
}

/** Resolves when the mouse was let go so often: a click is then part of the same task. Else when the guard is taken away. */
export function clickLanded(agent: PageAgent, releases: number): Promise<void> {
  const { armed } = agent
  if (!armed || armed.releases >= releases) return Promise.resolve()
  return new Promise((resolve) => {
    armed.onRelease = () => {
      if (armed.releases >= releases || agent.armed !== armed) resolve()
    }
  })
}

export function disarmClick(agent: PageAgent): ClickReport {
  const armed = agent.armed
  agent.armed = null
  if (!armed) return { hits: 0, missedBy: "", givesFile: false, title: "" }
  armed.onRelease?.()
  for (const type of guardedEvents()) removeEventListener(type, armed.handler, true)
  return {
    hits: armed.hits,
    missedBy: armed.missed ? armed.missedBy : "",
    givesFile: armed.givesFile,
    title: titleOf(),
  }
}

export const clickGuardFunctions = [guardedEvents, armClick, clickLanded, disarmClick]

declare const addEventListener: PageWindow["addEventListener"]
declare const removeEventListener: PageWindow["removeEventListener"]
