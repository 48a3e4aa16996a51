// act: drag. From one place to another with the mouse; where the page makes it a drag of the browser's own (draggable
// elements), that drag is carried on by its own events, with the data that the page has put into it.
import { withTimeout } from "../../../kernel/index.ts"
import type { DragRequest } from "../../requests/index.ts"
import { callAgent } from "../frames.ts"
import type { Tab } from "../tab.ts"
import { type Acting, sendMouse } from "./mouse.ts"
import { locate, type Place, type Point } from "./reach.ts"

/** Pages measure the way that the mouse has gone, and lists make room for what is over them: one jump would not count. */
const steps = 10
/** The first move is short: it is the one that begins the drag, and belongs to what is taken. */
const firstMove = 4
/** Where pages begin a drag only some pixels further, what lies there counts as its beginning. */
const nextMoves = [8, 12]
const interceptMs = 1_000
const letGoMs = 1_000
/** At the end, before the last move and the release: many pages follow a drag only so many times a second. */
const restMs = 50

export async function drag(acting: Acting, request: DragRequest): Promise<void> {
  const { tab, operation, progress } = acting
  const { signal } = operation
  const ends = await findEnds(acting, request)
  const { begin, end, findEndAgain } = ends
  if (tab.overrides.state.device?.touch) return await swipe(acting, ends)
  const start = request.startRef === undefined ? undefined : tab.refs.resolve(request.startRef, tab)
  const world = start?.world ?? (await tab.frames.world(tab.frames.main, signal))
  const native = interceptDrags(tab, signal)
  let isDown = false
  try {
    await native.start()
    await callAgent(world, "watchDrag", null, signal)
    progress.sent = true
    await sendMouse(tab, { type: "mouseMoved", point: begin }, signal)
    signal.throwIfAborted()
    isDown = true
    await sendMouse(tab, { type: "mousePressed", point: begin, clickCount: 1 }, signal)
    let [way, last] = [wayBetween(begin, end), end]
    if (findEndAgain) {
      // The first move takes hold; then the other place is brought into view, as a wheel does it under a held mouse.
      const taken = { x: begin.x + firstMove, y: begin.y }
      await sendMouse(tab, { type: "mouseMoved", point: taken, held: true }, signal)
      last = await findEndAgain()
      way = [taken, ...wayBetween(taken, last)]
    }
    for (const point of way.slice(0, -1)) await sendMouse(tab, { type: "mouseMoved", point, held: true }, signal)
    if (await callAgent<boolean>(world, "dragBegan", null, signal)) {
      await carry(tab, way, await native.data(), signal)
    } else {
      await tab.clock.sleep(restMs, signal)
      await sendMouse(tab, { type: "mouseMoved", point: last, held: true }, signal)
    }
    signal.throwIfAborted()
    isDown = false
    await sendMouse(tab, { type: "mouseReleased", point: last, clickCount: 1 }, signal)
  } catch (error) {
    if (isDown) await letGo(tab, begin, native.hasBegun)
    throw error
  } finally {
    await native.stop()
  }
}

/**
 * A button that stays down would drop the thing where the next click is. It is let go where it was taken, since the page
 * may put the thing down wherever that is. All of it is sent at once, ahead of what the next action sends.
 */
async function letGo(tab: Tab, point: Point, isNative: boolean): Promise<void> {
  const signal = AbortSignal.timeout(letGoMs)
  const cancel = { type: "dragCancel", ...point, data: { items: [], dragOperationsMask: 0 } }
  await Promise.allSettled([
    ...(isNative ? [tab.session.send("Input.dispatchDragEvent", cancel, { signal })] : []),
    sendMouse(tab, { type: "mouseMoved", point, held: true }, signal),
    sendMouse(tab, { type: "mouseReleased", point, clickCount: 1 }, signal),
  ])
}

/** On a device with a touch screen people drag with a finger, and pages listen for that alone. */
async function swipe({ tab, operation, progress }: Acting, { begin, end, findEndAgain }: Ends): Promise<void> {
  const { signal } = operation
  const send = (type: string, points: Point[], limits: { signal?: AbortSignal; timeoutMs: number }) =>
    tab.session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(({ x, y }) => ({ x, y })) }, limits)
  // The operation has the limit.
  const limits = { signal, timeoutMs: 0 }
  progress.sent = true
  try {
    await send("touchStart", [begin], limits)
    for (const point of wayBetween(begin, end)) await send("touchMove", [point], limits)
    for (const point of findEndAgain ? wayBetween(end, await findEndAgain()) : [])
      await send("touchMove", [point], limits)
    await send("touchEnd", [], limits)
  } catch (error) {
    // No finger stays on the page.
    await send("touchCancel", [], { timeoutMs: 1_000 }).catch(() => undefined)
    throw error
  }
}

interface Ends {
  begin: Point
  end: Point
  /** Set when no view has both: then `begin` is in view now, and this brings the end there. */
  findEndAgain?: () => Promise<Point>
}

/** Both places as they are when both are in view; the second look tells where the first one is then. */
async function findEnds({ tab, operation }: Acting, request: DragRequest): Promise<Ends> {
  const { startRef, startX, startY, endRef, endX, endY, place } = request
  const from: Place = { ref: startRef, x: startX, y: startY }
  const fromId = startRef === undefined ? 0 : tab.refs.resolve(startRef, tab).id
  const beside = place === "on" ? { middle: true, held: fromId } : { at: { beside: place, fromId } }
  const findStart = () => locate(tab, from, operation)
  const findEnd = () => locate(tab, { ref: endRef, x: endX, y: endY }, operation, beside)
  if (startRef !== undefined) await findStart()
  const end = await findEnd()
  const begin = await findStart()
  const again = await findEnd()
  if (again.scrolled !== true && !differs(end, again)) return { begin, end }
  return { begin: await findStart(), end, findEndAgain: findEnd }
}

function wayBetween(from: Point, to: Point): Point[] {
  const far = Math.hypot(to.x - from.x, to.y - from.y)
  const share = (part: number) => ({ x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part })
  const first = far > 0 ? [firstMove, ...nextMoves.filter((pixels) => pixels < far / steps)] : []
  // Twice at the end: lists that have made room meanwhile look again where the mouse is.
  const begun = first.map((pixels) => share(Math.min(1, pixels / far)))
  return [...begun, ...Array.from({ length: steps }, (_, index) => share((index + 1) / steps)), to]
}

function differs(one: Point, other: Point): boolean {
  return Math.abs(one.x - other.x) > 1 || Math.abs(one.y - other.y) > 1
}

function interceptDrags(tab: Tab, signal: AbortSignal) {
  const begun = Promise.withResolvers<unknown>()
  let hasBegun = false
  const unlisten = tab.session.on("Input.dragIntercepted", (event: { data: unknown }) => {
    hasBegun = true
    begun.resolve(event.data)
  })
  return {
    async start(): Promise<void> {
      await tab.session.send("Input.setInterceptDrags", { enabled: true }, { signal })
    },
    get hasBegun() {
      return hasBegun
    },
    async data(): Promise<unknown> {
      const limit = withTimeout(interceptMs, "The drag", signal)
      try {
        return await Promise.race([begun.promise, aborted(limit.signal)])
      } finally {
        limit.clear()
      }
    },
    async stop(): Promise<void> {
      unlisten()
      await tab.session.send("Input.setInterceptDrags", { enabled: false })
    },
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
  )
}

/** The drag's own way over the page, then the drop. */
async function carry(tab: Tab, way: readonly Point[], data: unknown, signal: AbortSignal): Promise<void> {
  const send = (type: string, { x, y }: Point) =>
    tab.session.send("Input.dispatchDragEvent", { type, x, y, data }, { signal, timeoutMs: 0 })
  const [first, ...others] = way as [Point, ...Point[]]
  await send("dragEnter", first)
  for (const point of others.slice(0, -1)) await send("dragOver", point)
  const last = others.at(-1) ?? first
  await tab.clock.sleep(restMs, signal)
  await send("dragOver", last)
  await send("drop", last)
}
