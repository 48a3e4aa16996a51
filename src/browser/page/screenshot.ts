// A picture of the view, the whole page or one element, within what models and chats take.
import { AppError } from "../../kernel/index.ts"
import type { CdpSession } from "../cdp/index.ts"
import { concealWords } from "./concealment.ts"
import { callAgent, type Frame, type World } from "./frames.ts"
import { parseRef, staleRef } from "./refs.ts"
import type { Operation, Tab } from "./tab.ts"

export interface ScreenshotRequest {
  fullPage: boolean
  ref: string | undefined
  /** CSS, in the main frame. */
  element: string | undefined
  type: "png" | "jpeg"
}

export interface Picture {
  type: "png" | "jpeg"
  /** base64 */
  data: string
  /** Pixels. */
  width: number
  height: number
  /** What it shows, in the coordinates of the view, which actions take: pixels of the page, from the view's corner. */
  area: Clip
  /** True when the page is longer or wider than what is shown. */
  truncated: boolean
}

export const maxSide = 2000
/** Models count the 5 MB that they take in base64. */
export const maxPictureBytes = 3.75 * 1024 * 1024
/** Smaller than a quarter nobody can read a page: longer pages are cut instead. */
const maxPageSide = maxSide * 4
const jpegQuality = 85

interface Clip {
  x: number
  y: number
  width: number
  height: number
}

interface View {
  pageX: number
  pageY: number
  clientWidth: number
  clientHeight: number
}

interface LayoutMetrics {
  cssContentSize: Clip
  cssVisualViewport: View
  visualViewport: { clientWidth: number }
}

export async function takeScreenshot(tab: Tab, request: ScreenshotRequest, operation: Operation): Promise<Picture> {
  const { session } = tab
  const { signal } = operation
  await tab.frontIfHeadless(signal)
  await concealWords(tab, signal)
  const metrics = await session.send<LayoutMetrics>("Page.getLayoutMetrics", {}, { signal })
  const { whole, view } = await chooseClip(tab, request, metrics, signal)
  const clip = { ...whole, width: Math.min(whole.width, maxPageSide), height: Math.min(whole.height, maxPageSide) }
  // Device pixels per CSS pixel: the limit is on the picture, not on the page.
  const density = metrics.visualViewport.clientWidth / Math.max(1, metrics.cssVisualViewport.clientWidth)
  const beyond = !isWithin(clip, view)
  let side = maxSide
  const first = { type: request.type, quality: jpegQuality, side, density, beyond }
  let image = await capture(session, clip, first, signal)
  for (const quality of [85, 70, 55, 40, 40, 40]) {
    if (bytesOf(image.data) <= maxPictureBytes) break
    if (quality === 40) side = Math.round(side * 0.7)
    image = await capture(session, clip, { type: "jpeg", quality, side, density, beyond }, signal)
  }
  const truncated = clip.width < whole.width || clip.height < whole.height
  const area = {
    x: Math.round(clip.x - view.pageX),
    y: Math.round(clip.y - view.pageY),
    width: Math.round(clip.width),
    height: Math.round(clip.height),
  }
  return { ...image, ...sizeOf(Buffer.from(image.data, "base64")), area, truncated }
}

function isWithin(clip: Clip, view: View): boolean {
  const [right, bottom] = [view.pageX + view.clientWidth, view.pageY + view.clientHeight]
  return clip.x >= view.pageX && clip.y >= view.pageY && clip.x + clip.width <= right && clip.y + clip.height <= bottom
}

async function chooseClip(
  tab: Tab,
  request: ScreenshotRequest,
  metrics: LayoutMetrics,
  signal: AbortSignal,
): Promise<{ whole: Clip; view: View }> {
  const { cssContentSize, cssVisualViewport: view } = metrics
  if (request.ref !== undefined) {
    const { frame, world, id } = tab.refs.resolve(request.ref, tab)
    return clipOf(tab, { frame, world, id, gone: staleRef(parseRef(request.ref)) }, signal)
  }
  if (request.element !== undefined) return clipOf(tab, await match(tab, request.element, signal), signal)
  if (request.fullPage) return { whole: { ...cssContentSize, x: 0, y: 0 }, view }
  return { whole: { x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight }, view }
}

interface Pictured {
  frame: Frame
  world: World
  id: number
  /** What to say when the element is not there any more. */
  gone: AppError
}

/** The one element of the main frame that the selector fits. */
async function match(tab: Tab, selector: string, signal: AbortSignal): Promise<Pictured> {
  const { main } = tab.frames
  const world = await tab.frames.world(main, signal)
  const found = await callAgent<number | "none" | "several" | "bad">(world, "match", selector, signal)
  const gone = new AppError("not-found", `Nothing in the page fits the selector ${selector}`)
  if (found === "none") throw gone
  if (found === "bad") throw new AppError("bad-request", "element: is not a CSS selector")
  if (found === "several") {
    throw new AppError("strict-mode", `Strict mode violation: several elements fit the selector ${selector}`, {
      hint: "Give a selector that fits one element, or the ref of the element",
    })
  }
  return { frame: main, world, id: found, gone }
}

async function clipOf(tab: Tab, element: Pictured, signal: AbortSignal): Promise<{ whole: Clip; view: View }> {
  const { world, id, gone } = element
  const box = await callAgent<{ kind: "gone" } | ({ kind: "box" } & Clip)>(world, "box", { id }, signal)
  if (box.kind === "gone") throw gone
  if (box.width === 0 || box.height === 0) {
    throw new AppError("not-visible", "The element takes up no space, so there is nothing to picture", {
      hint: "It may be in a closed menu or another step; take a new snapshot",
    })
  }
  let { x, y } = box
  for (let { frame } = element; frame.parentId !== undefined;) {
    const owner = await tab.frames.ownerOf(frame, signal)
    if (!owner) throw gone
    const place = await callAgent<{ x: number; y: number }>(owner.world, "inside", { id: owner.id, x, y }, signal)
    x = place.x
    y = place.y
    frame = owner.frame
  }
  // Clips count from the top of the page, boxes from the top of the view; scrolling just now may have moved both.
  const { cssVisualViewport: view } = await tab.session.send<LayoutMetrics>("Page.getLayoutMetrics", {}, { signal })
  const size = { width: Math.max(1, box.width), height: Math.max(1, box.height) }
  return { whole: { x: x + view.pageX, y: y + view.pageY, ...size }, view }
}

/** A tab behind others sometimes gets no frame to be captured; the next request brings one. */
const captureTries = 5
const captureMs = 2_500

interface CaptureOptions {
  type: "png" | "jpeg"
  quality: number
  side: number
  density: number
  /** For what is not in view the page gets another size for a moment, which it notices: lists close, tables are drawn anew. */
  beyond: boolean
}

async function capture(
  session: CdpSession,
  clip: Clip,
  options: CaptureOptions,
  signal: AbortSignal,
): Promise<{ type: "png" | "jpeg"; data: string }> {
  const scale = Math.min(1, options.side / (Math.max(clip.width, clip.height) * options.density))
  const parameters = {
    format: options.type,
    ...(options.type === "jpeg" ? { quality: options.quality } : {}),
    clip: { ...clip, scale },
    captureBeyondViewport: options.beyond,
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      const limit = attempt < captureTries ? captureMs * attempt : 0
      const { data } = await session.send<{ data: string }>("Page.captureScreenshot", parameters, {
        signal,
        timeoutMs: limit,
      })
      return { type: options.type, data }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "timeout" || signal.aborted || attempt >= captureTries)
        throw error
    }
  }
}

function bytesOf(data: string): number {
  return Math.floor((data.length * 3) / 4)
}

/** Width and height as the file itself has them. */
export function sizeOf(image: Buffer): { width: number; height: number } {
  if (image[0] === 0x89) return { width: image.readUInt32BE(16), height: image.readUInt32BE(20) }
  // JPEG: from segment to segment until the one that begins the frame (C0 to CF without C4, C8 and CC).
  for (let at = 2; at + 9 < image.length; at += 2 + image.readUInt16BE(at + 2)) {
    const marker = image[at + 1] as number
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: image.readUInt16BE(at + 7), height: image.readUInt16BE(at + 5) }
  }
  return { width: 0, height: 0 }
}
