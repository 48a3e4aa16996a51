// Mouse events as a real mouse gives them, in the tab's own coordinates.
import type { Operation, Tab } from "../tab.ts"
import type { Point } from "./reach.ts"

export type Button = "left" | "right" | "middle"

const buttonBits = { left: 1, right: 2, middle: 4 }

export interface MouseEvent {
  type: "mouseMoved" | "mousePressed" | "mouseReleased" | "mouseWheel"
  point: Point
  button?: Button
  /** Whether the button is held while the mouse moves. */
  held?: boolean
  clickCount?: number
  modifiers?: number
  /** Of the wheel, in pixels. */
  by?: { x: number; y: number }
}

export async function sendMouse(tab: Tab, event: MouseEvent, signal: AbortSignal): Promise<void> {
  const { type, point, button = "left", held = false, clickCount = 0, modifiers = 0 } = event
  const down = type === "mousePressed" || held
  const wheel = event.by ? { deltaX: event.by.x, deltaY: event.by.y } : {}
  await tab.session.send(
    "Input.dispatchMouseEvent",
    {
      type,
      x: point.x,
      y: point.y,
      modifiers,
      ...wheel,
      button: (type === "mouseMoved" && !held) || event.by ? "none" : button,
      buttons: down ? buttonBits[button] : 0,
      clickCount,
    },
    // The operation that sends has the limit.
    { signal, timeoutMs: 0 },
  )
}

/** A quick finger. Widgets made by scripts begin to listen for the release only when they have drawn that they are held. */
const heldMs = 40
const releaseMs = 1_000

/** Pressed and released at a point; the events travel together, unless it is to be `held` for a moment. */
export async function clickAt(
  tab: Tab,
  point: Point,
  options: { button: Button; doubleClick: boolean; modifiers: number; held?: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { button, modifiers } = options
  signal.throwIfAborted()
  const events = [sendMouse(tab, { type: "mouseMoved", point, modifiers }, signal)]
  for (let clickCount = 1; clickCount <= (options.doubleClick ? 2 : 1); clickCount += 1) {
    for (const type of ["mousePressed", "mouseReleased"] as const) {
      const event = { type, point, button, modifiers, clickCount }
      if (options.held && type === "mouseReleased") {
        try {
          await Promise.all(events)
          await tab.clock.sleep(heldMs, signal)
        } catch (error) {
          // Whoever gives up has clicked all the same: a button that stays down would drag along whatever follows it.
          sendMouse(tab, event, AbortSignal.timeout(releaseMs)).catch(() => undefined)
          throw error
        }
      }
      events.push(sendMouse(tab, event, signal))
    }
  }
  await Promise.all(events)
}

/** What every action gets: where it works, how long, and where it notes that input has gone to the page. */
export interface Acting {
  tab: Tab
  operation: Operation
  progress: Progress
  /** Takes a kept secret for a page; without it there are none. */
  reveal?: Reveal | undefined
}

/** Throws `not-found`, `forbidden`, `secret-unavailable`. */
export type Reveal = (
  name: string,
  origin: string,
  signal: AbortSignal,
) => Promise<{ value: string; anyField: boolean }>

export interface Progress {
  /** Input has gone to the page: from then on a dialog is the action's result, not its failure. */
  sent: boolean
  /** The page has had its turn since the last input, and done what that had queued. */
  rested: boolean
  /** Of the tab's page, after that. */
  title?: string
}
