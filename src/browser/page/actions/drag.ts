// act: drag. From the middle of one element to the middle of another, with the mouse; where the page makes it a drag of
// the browser's own (draggable elements), that drag is carried on by its own events.
import { AppError, withTimeout } from "../../../kernel/index.ts"
import type { DragRequest } from "../../requests/index.ts"
import { callAgent } from "../frames.ts"
import { parseRef } from "../refs.ts"
import type { Tab } from "../tab.ts"
import { type Acting, sendMouse } from "./mouse.ts"
import { type Point, reach } from "./reach.ts"

/** Pages measure the way that the mouse has gone: one jump would not count as a drag. */
const steps = 5
const interceptMs = 1_000

export async function drag(acting: Acting, request: DragRequest): Promise<void> {
  const { tab, operation, progress } = acting
  const { signal } = operation
  const start = tab.refs.resolve(request.startRef, tab)
  const find = (ref: string) =>
    reach(
      tab,
      tab.refs.resolve(ref, tab),
      parseRef(ref),
      { editable: false, point: true, arm: false, settle: false },
      operation,
    )
  // Both are brought into view; the second look tells where the first one is then.
  await find(request.startRef)
  const end = await find(request.endRef)
  const begin = await find(request.startRef)
  if (differs(end, await find(request.endRef))) {
    throw new AppError("not-visible", "The two elements do not fit into the view together", {
      hint: "Resize the view (act resize) so that both are visible",
    })
  }
  const native = await interceptDrags(tab, signal)
  try {
    await callAgent(start.world, "watchDrag", null, signal)
    progress.sent = true
    await sendMouse(tab, { type: "mouseMoved", point: begin }, signal)
    await sendMouse(tab, { type: "mousePressed", point: begin, clickCount: 1 }, signal)
    const way = Array.from({ length: steps }, (_, index) => between(begin, end, (index + 1) / steps))
    for (const point of way) await sendMouse(tab, { type: "mouseMoved", point, held: true }, signal)
    if (await callAgent<boolean>(start.world, "dragBegan", null, signal))
      await dropAt(tab, end, await native.data(), signal)
    await sendMouse(tab, { type: "mouseReleased", point: end, clickCount: 1 }, signal)
  } finally {
    await native.stop()
  }
}

function between(from: Point, to: Point, share: number): Point {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}

function differs(one: Point, other: Point): boolean {
  return Math.abs(one.x - other.x) > 1 || Math.abs(one.y - other.y) > 1
}

async function interceptDrags(tab: Tab, signal: AbortSignal) {
  const begun = Promise.withResolvers<unknown>()
  const unlisten = tab.session.on("Input.dragIntercepted", (event: { data: unknown }) => begun.resolve(event.data))
  await tab.session.send("Input.setInterceptDrags", { enabled: true }, { signal })
  return {
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

async function dropAt(tab: Tab, point: Point, data: unknown, signal: AbortSignal): Promise<void> {
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await tab.session.send("Input.dispatchDragEvent", { type, x: point.x, y: point.y, data }, { signal, timeoutMs: 0 })
  }
}
