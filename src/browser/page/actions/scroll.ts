// act: scroll. The page, or what an element stands in: by views, by pixels, all the way, or until words are in view.
import { AppError } from "../../../kernel/index.ts"
import type { ScrollRequest } from "../../requests/index.ts"
import { callAgent, type World } from "../frames.ts"
import type { Scrolled, ScrollOptions } from "../inject/scroll.ts"
import { parseRef, staleRef } from "../refs.ts"
import type { Acting } from "./mouse.ts"

/** Views that are gone through for words that are not there yet. */
const maxViews = 200
/** How long a list is given to bring more when it seems to be at its end. */
const moreMs = 700

/** False when there was nothing left to scroll. */
export async function scroll(acting: Acting, request: ScrollRequest): Promise<boolean> {
  const { tab, operation, progress } = acting
  const { signal } = operation
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

async function scrollToWords(
  { tab, operation }: Acting,
  world: World,
  words: string,
  step: () => Promise<{ moved: boolean; atEnd: boolean }>,
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
