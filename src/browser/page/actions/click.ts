// act: click. Checked point -> three input events -> proof that they reached the element.
import { callAgent, type World } from "../frames.ts"
import type { ClickReport } from "../inject/click-guard.ts"
import { AppError } from "../../../kernel/index.ts"
import { parseRef, type RefEntry } from "../refs.ts"
import type { Operation, Tab } from "../tab.ts"
import { modifierBits, type Modifier } from "./keyboard.ts"
import { clickAt, type Progress } from "./mouse.ts"
import { failure, type Place, type Point, reach, spotOf, viewPoint } from "./reach.ts"

export interface ClickRequest extends Place {
  doubleClick: boolean
  button: "left" | "right" | "middle"
  modifiers: Modifier[]
}

/** How long after the input was answered for the document may take to say that it has seen it. */
const landedMs = 50
/** Nobody waits for it: a page that is held up does it when it goes on. */
const disarmMs = 5_000

export async function click(tab: Tab, request: ClickRequest, operation: Operation, progress: Progress): Promise<void> {
  const options = { ...request, modifiers: modifierBits(request.modifiers) }
  if (request.ref === undefined) {
    const point = await viewPoint(tab, request, operation.signal)
    progress.sent = true
    return clickAt(tab, point, options, operation.signal)
  }
  const entry = tab.refs.resolve(request.ref, tab)
  try {
    await clickElement(tab, entry, { ...options, ref: request.ref }, operation, progress)
  } catch (error) {
    // Left in the documents, the guards would keep from them whatever is clicked or dragged there next, by a person too.
    disarm(tab, entry, AbortSignal.timeout(disarmMs)).catch(() => undefined)
    throw error
  }
}

async function clickElement(
  tab: Tab,
  entry: RefEntry,
  request: Omit<ClickRequest, "modifiers"> & { ref: string; modifiers: number },
  operation: Operation,
  progress: Progress,
): Promise<void> {
  const number = parseRef(request.ref)
  const needs = { editable: false, point: true, arm: true, ...spotOf(request) }
  for (let settle = false; ; settle = true) {
    const point = await reach(tab, entry, number, { ...needs, settle }, operation)
    progress.sent = true
    const { alerts } = tab
    const at = { ...request, point, held: point.plain === true }
    const report = await clickAndSee(tab, entry, at, operation.signal)
    if (report.hits > 0 && report.missedBy === "") {
      progress.rested = true
      if (entry.frame.parentId === undefined) progress.title = report.title
      if (report.givesFile) tab.expectFile()
      return
    }
    const by = report.missedBy || "something that took the click"
    // Nothing seen where it should have been: in a frame, its document did not get the input (and those around it
    // were guarded); under an alert, no document did. In the page itself it may have been done, so it is not done again.
    const again = report.hits > 0 || entry.frame.parentId !== undefined || tab.alerts !== alerts
    if (!again || tab.clock.monotonic() > operation.deadline - 500)
      throw failure({ kind: "covered", by, byId: 0 }, number)
  }
}

interface ClickAt {
  point: Point
  doubleClick: boolean
  button: ClickRequest["button"]
  modifiers: number
  held: boolean
}

/** The page's own document is asked while the input is still on its way; documents in frames afterwards. */
async function clickAndSee(tab: Tab, entry: RefEntry, at: ClickAt, signal: AbortSignal): Promise<ClickReport> {
  const clicking = clickAt(tab, at.point, at, signal)
  if (entry.frame.parentId !== undefined) {
    await clicking
    return disarm(tab, entry, signal)
  }
  const releases = at.doubleClick ? 2 : 1
  // What goes wrong with it goes wrong again below, where it is told.
  const landed = callAgent<ClickReport>(entry.world, "landed", releases, signal).catch(() => undefined)
  await clicking
  const report = await Promise.race([landed, tab.clock.sleep(landedMs, signal)])
  if (report) return report
  // Whoever of the two took the guard away has what it saw; taking it away also ends the wait.
  const late = await disarm(tab, entry, signal)
  return late.hits > 0 ? late : ((await landed) ?? late)
}

async function disarm(tab: Tab, entry: RefEntry, signal: AbortSignal): Promise<ClickReport> {
  const around: World[] = []
  for (let { frame } = entry; frame.parentId !== undefined;) {
    const parent = tab.frames.get(frame.parentId)
    if (!parent) break
    if (parent.world) around.push(parent.world)
    frame = parent
  }
  const [report] = await Promise.all([entry.world, ...around].map((world) => disarmWorld(world, signal)))
  return report as ClickReport
}

/** A document that went away answered the click by leaving. */
async function disarmWorld(world: World, signal: AbortSignal): Promise<ClickReport> {
  try {
    return await callAgent<ClickReport>(world, "disarm", null, signal)
  } catch (error) {
    if (error instanceof AppError && error.code === "stale-ref")
      return { hits: 1, missedBy: "", givesFile: false, title: "" }
    throw error
  }
}
