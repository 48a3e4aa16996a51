// From a ref to a point that can be clicked, in the tab's own coordinates: the element's checks are repeated until they
// hold or the time is up; only a stale ref fails at once.
import { AppError } from "../../../kernel/index.ts"
import { callAgent, type Frame, type World } from "../frames.ts"
import type { Reach, Spot } from "../inject/reach.ts"
import { parseRef, type RefEntry, staleRef } from "../refs.ts"
import type { Operation, Tab } from "../tab.ts"

export interface ReachNeeds {
  editable: boolean
  point: boolean
  arm: boolean
  settle: boolean
  /** Default true. */
  enabled?: boolean
  /** A point of the element's box instead of where people click it. */
  at?: Spot
  /** The middle of its box, and not its words. */
  middle?: boolean
  /** With middle: the number of what is put there. */
  held?: number
}

/** What an action names: an element, a point of its box, or a point of the view. */
export interface Place {
  ref?: string | undefined
  x?: number | undefined
  y?: number | undefined
}

export interface Point {
  x: number
  y: number
}

export interface Reached extends Point {
  /** The page was scrolled to show it: what was found before lies elsewhere now. */
  scrolled?: boolean
  /** What is there was made by a script alone. */
  plain?: boolean
}

/** Pauses between tries; the last one repeats. */
const pausesMs = [0, 20, 50, 100]
/** The last word must come before the operation's own limit. */
const marginMs = 60
/** What lies over an element for so long does not go by itself. */
const coveredMs = 1_000
/** What a snapshot has shown and is not there to be clicked is mostly there for screen readers alone. */
const hiddenMs = 3_000

export async function reach(
  tab: Tab,
  entry: RefEntry,
  number: number,
  needs: ReachNeeds,
  operation: Operation,
): Promise<Reached> {
  let { settle } = needs
  let last: Failure | undefined
  let coveredSince: number | undefined
  const began = tab.clock.monotonic()
  const explain = (found: Failure) => failure(found, number, refOfCover(tab, found))
  // Counts the failures; a try after scrolling is none.
  for (let attempt = 0, scrolled = false; ;) {
    const options = { ...needs, attempt: scrolled ? 0 : attempt, settle }
    const found = await tryInTime(tab, entry, options, operation, last)
    scrolled = false
    if (found.kind === "ready") {
      if (!found.scrolled || entry.frame.parentId === undefined) return found
      // Input finds frames of other processes by the last picture, so it must be one from after the scrolling.
      for (let count = 0; count < 2; count += 1) await nextFrame(tab, operation.signal)
      scrolled = true
      if (tab.clock.monotonic() > operation.deadline - marginMs) throw explain({ kind: "not-stable" })
      continue
    }
    if (found.kind === "gone") throw staleRef(number)
    last = found
    if (found.kind !== "covered") coveredSince = undefined
    else coveredSince ??= tab.clock.monotonic()
    if (coveredSince !== undefined && tab.clock.monotonic() - coveredSince > coveredMs) throw explain(found)
    if (found.kind === "not-visible" && tab.clock.monotonic() - began > hiddenMs) throw explain(found)
    // What was in the way may have been an animation's doing.
    settle = true
    const pause = pausesMs[Math.min(attempt, pausesMs.length - 1)] as number
    if (tab.clock.monotonic() + pause > operation.deadline - marginMs) throw explain(found)
    attempt += 1
    await tab.clock.sleep(pause, operation.signal)
  }
}

/** The point of a place that needs no element to be proven: for the mouse that hovers, turns its wheel or drags. */
export async function locate(
  tab: Tab,
  place: Place,
  operation: Operation,
  needs: Partial<ReachNeeds> = {},
): Promise<Reached> {
  if (place.ref === undefined) return viewPoint(tab, place, operation.signal)
  const entry = tab.refs.resolve(place.ref, tab)
  const all = { editable: false, point: true, arm: false, settle: false, ...spotOf(place), ...needs }
  return reach(tab, entry, parseRef(place.ref), all, operation)
}

export function spotOf({ x, y }: Place): { at?: Spot } {
  return x === undefined || y === undefined ? {} : { at: { x, y } }
}

/** A point of the view, which pictures of the view show at the same place. */
export async function viewPoint(tab: Tab, { x = 0, y = 0 }: Place, signal: AbortSignal): Promise<Point> {
  const { cssLayoutViewport: view } = await tab.session.send<{
    cssLayoutViewport: { clientWidth: number; clientHeight: number }
  }>("Page.getLayoutMetrics", {}, { signal })
  if (x >= 0 && y >= 0 && x < view.clientWidth && y < view.clientHeight) return { x, y }
  throw new AppError(
    "bad-request",
    `The point ${x}, ${y} is outside the view of ${view.clientWidth}x${view.clientHeight}`,
    {
      hint: "Scroll first; x and y count from the top left corner of what a screenshot of the view shows",
    },
  )
}

/** A try that the time limit cuts short answers what the last one has found: that says more than that time is up. */
async function tryInTime(
  tab: Tab,
  entry: RefEntry,
  options: ReachNeeds & { attempt: number },
  operation: Operation,
  last: Failure | undefined,
): Promise<Found> {
  if (last === undefined) return tryReach(tab, entry, options, operation.signal)
  const limit = AbortSignal.timeout(Math.max(1, Math.floor(operation.deadline - marginMs - tab.clock.monotonic())))
  try {
    return await tryReach(tab, entry, options, AbortSignal.any([operation.signal, limit]))
  } catch (error) {
    if (!limit.aborted || operation.signal.aborted) throw error
    return last
  }
}

async function nextFrame(tab: Tab, signal: AbortSignal): Promise<void> {
  const { world } = tab.frames.main
  if (world) await callAgent(world, "frame", null, signal)
}

async function tryReach(
  tab: Tab,
  entry: RefEntry,
  options: ReachNeeds & { attempt: number },
  signal: AbortSignal,
): Promise<Found> {
  const inFrame = await callAgent<Reach>(entry.world, "reach", { id: entry.id, ...options }, signal)
  if (inFrame.kind !== "ready") return { ...inFrame, in: entry }
  if (!options.point) return inFrame
  let point: Point = { x: inFrame.x, y: inFrame.y }
  let { scrolled } = inFrame
  for (let { frame } = entry; frame.parentId !== undefined;) {
    const owner = await tab.frames.ownerOf(frame, signal)
    if (!owner) return { kind: "gone" }
    const outside = await callAgent<Reach>(owner.world, "through", { id: owner.id, ...point, arm: options.arm }, signal)
    if (outside.kind !== "ready") return { ...outside, in: owner }
    point = { x: outside.x, y: outside.y }
    scrolled ||= outside.scrolled
    frame = owner.frame
  }
  return { kind: "ready", ...point, scrolled, plain: inFrame.plain === true }
}

type Found = Extract<Reach, { kind: "ready" }> | Failure

/** `in`: the frame in whose document the element, or what lies over it, is. */
type Failure = Exclude<Reach, { kind: "ready" }> & { in?: { frame: Frame; world: World } }

/** What lies over an element gets a ref, so that it can be looked at or clicked. */
function refOfCover(tab: Tab, found: Failure): number | undefined {
  if (found.kind !== "covered" || found.byId === 0 || !found.in) return undefined
  return tab.refs.entryOf({ tab, ...found.in, id: found.byId }).number
}

export function failure(found: Failure, number: number, cover?: number): AppError {
  const element = `The element of ref ${number}`
  switch (found.kind) {
    case "gone":
      return staleRef(number)
    case "not-visible":
      return new AppError("not-visible", `${element} is not visible`, {
        hint: "It may be in a closed menu or another step; take a new snapshot",
      })
    case "disabled":
      return new AppError("disabled", `${element} is disabled`, {
        hint: "Something else must be filled in or chosen first; take a new snapshot",
      })
    case "not-editable":
      return new AppError("not-editable", `${element} does not take text`, {
        hint: "Type into a textbox, or a number into a slider; click buttons and links",
      })
    case "not-stable":
      return new AppError("not-stable", `${element} keeps moving`, {
        hint: "Wait for the animation to end and try again",
      })
    case "covered":
      if (found.isOff)
        return new AppError("covered", `${element} takes no clicks now: the page has turned them off there`, {
          hint: "Mostly a menu, a list or a dialog is open: choose in it, or close it (Escape); then take a new snapshot",
        })
      return new AppError(
        "covered",
        `${element} is covered by ${found.by}${cover === undefined ? "" : ` (ref ${cover})`}`,
        {
          hint: "Close what lies over it (a dialog, a banner), act on that instead, or scroll; then take a new snapshot",
        },
      )
  }
}
