// act: scroll. The page, or what an element stands in: by views, by pixels, all the way, or until words are in view.
import { AppError } from "../../../kernel/index.ts"
import type { ScrollRequest } from "../../requests/index.ts"
import { callAgent, type World } from "../frames.ts"
import type { Scrolled, ScrollOptions } from "../inject/scroll.ts"
import { parseRef, staleRef } from "../refs.ts"
import { type Acting, sendMouse } from "./mouse.ts"
import { locate } from "./reach.ts"

/** Views that are gone through for words that are not there yet. */
const maxViews = 200
/** How long a list is given to bring more when it seems to be at its end. */
const moreMs = 700

/** False when there was nothing left to scroll. */
export async function scroll(acting: Acting, request: ScrollRequest): Promise<boolean> {
  const { tab, operation, progress } = acting
  const { signal } = operation
  if (request.x !== undefined) return turnWheel(acting, request)
  const entry = request.ref === undefined ? undefined : tab.refs.resolve(request.ref, tab)
  const world = entry?.world ?? (await tab.frames.world(tab.frames.main, signal))
  const step = async (options: Partial<ScrollOptions>): Promise<Exclude<Scrolled, { kind: "gone" }>> => {
    const { direction } = request
    const all = { id: entry?.id ?? 0, direction, pages: null, pixels: null, to: null, ...options }
    const scrolled = await callAgent<Scrolled>(world, "scrollBox", all, signal)
    if (scrolled.kind === "gone") throw staleRef(parseRef(request.ref ?? "0"))
    progress.sent = true
    return scrolled
  }
  if (request.text !== undefined) return await scrollToWords(acting, world, request.text, () => step({}))
  const { moved } = await step({
    pages: request.pages ?? null,
    pixels: request.pixels ?? null,
    to: request.to ?? null,
  })
  return moved
}

/** At a point: what is there takes the wheel as it likes (a map comes nearer, a list scrolls). */
async function turnWheel({ tab, operation, progress }: Acting, request: ScrollRequest): Promise<boolean> {
  const { direction, pages = 0.8, pixels } = request
  const point = await locate(tab, request, operation, { enabled: false })
  const isAcross = direction === "left" || direction === "right"
  const { cssLayoutViewport: view } = await tab.session.send<{
    cssLayoutViewport: { clientWidth: number; clientHeight: number }
  }>("Page.getLayoutMetrics", {}, { signal: operation.signal })
  const far = pixels ?? Math.round((isAcross ? view.clientWidth : view.clientHeight) * pages)
  const signed = direction === "up" || direction === "left" ? -far : far
  progress.sent = true
  await sendMouse(tab, { type: "mouseMoved", point }, operation.signal)
  const by = isAcross ? { x: signed, y: 0 } : { x: 0, y: signed }
  await sendMouse(tab, { type: "mouseWheel", point, by }, operation.signal)
  return true
}

async function scrollToWords(
  { tab, operation }: Acting,
  world: World,
  words: string,
  step: () => Promise<{ moved: boolean }>,
): Promise<boolean> {
  const { signal } = operation
  const isThere = () => callAgent<boolean>(world, "showWords", words, signal)
  for (let views = 0; views < maxViews; views += 1) {
    if (await isThere()) return true
    const { moved } = await step()
    if (moved) continue
    const until = tab.clock.monotonic() + moreMs
    while (tab.clock.monotonic() < until && !(await isThere())) await tab.clock.sleep(50, signal)
    if (!(await step()).moved) break
  }
  if (await isThere()) return true
  throw new AppError("not-found", "These words are not on the page, as far as it scrolls", {
    hint: "Scroll something else (ref), or look for other words",
  })
}
