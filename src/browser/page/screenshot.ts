// A picture of the view, the whole page or one element, within what models and chats take.
import { AppError } from "../../kernel/index.ts"
import type { CdpSession } from "../cdp/index.ts"
import { callAgent } from "./frames.ts"
import { parseRef, staleRef } from "./refs.ts"
import type { Operation, Tab } from "./tab.ts"

export interface ScreenshotRequest {
  fullPage: boolean
  ref: string | undefined
  type: "png" | "jpeg"
}

export interface Picture {
  type: "png" | "jpeg"
  /** base64 */
  data: string
}

export const maxSide = 2000
export const maxPictureBytes = 5 * 1024 * 1024
const jpegQuality = 85

interface Clip {
  x: number
  y: number
  width: number
  height: number
}

interface LayoutMetrics {
  cssContentSize: Clip
  cssVisualViewport: { pageX: number; pageY: number; clientWidth: number; clientHeight: number }
  visualViewport: { clientWidth: number }
}

export async function takeScreenshot(tab: Tab, request: ScreenshotRequest, operation: Operation): Promise<Picture> {
  const { session } = tab
  const { signal } = operation
  await tab.frontIfHeadless(signal)
  const metrics = await session.send<LayoutMetrics>("Page.getLayoutMetrics", {}, { signal })
  const clip = await chooseClip(tab, request, metrics, signal)
  // Device pixels per CSS pixel: the limit is on the picture, not on the page.
  const density = metrics.visualViewport.clientWidth / Math.max(1, metrics.cssVisualViewport.clientWidth)
  let side = maxSide
  let picture = await capture(session, clip, { type: request.type, quality: jpegQuality, side, density }, signal)
  for (const quality of [85, 70, 55, 40, 40, 40]) {
    if (bytesOf(picture) <= maxPictureBytes) break
    if (quality === 40) side = Math.round(side * 0.7)
    picture = await capture(session, clip, { type: "jpeg", quality, side, density }, signal)
  }
  return picture
}

async function chooseClip(
  tab: Tab,
  request: ScreenshotRequest,
  metrics: LayoutMetrics,
  signal: AbortSignal,
): Promise<Clip> {
  const { cssContentSize, cssVisualViewport: view } = metrics
  if (request.ref !== undefined) return clipOf(tab, request.ref, signal)
  if (request.fullPage) return { ...cssContentSize, x: 0, y: 0 }
  return { x: view.pageX, y: view.pageY, width: view.clientWidth, height: view.clientHeight }
}

async function clipOf(tab: Tab, ref: string, signal: AbortSignal): Promise<Clip> {
  const entry = tab.refs.resolve(ref, tab)
  const box = await callAgent<{ kind: "gone" } | ({ kind: "box" } & Clip)>(entry.world, "box", { id: entry.id }, signal)
  if (box.kind === "gone") throw staleRef(parseRef(ref))
  let { x, y } = box
  for (let { frame } = entry; frame.parentId !== undefined;) {
    const owner = await tab.frames.ownerOf(frame, signal)
    if (!owner) throw staleRef(parseRef(ref))
    const place = await callAgent<{ x: number; y: number }>(owner.world, "inside", { id: owner.id, x, y }, signal)
    x = place.x
    y = place.y
    frame = owner.frame
  }
  // Clips count from the top of the page, boxes from the top of the view; scrolling just now may have moved both.
  const { cssVisualViewport: view } = await tab.session.send<LayoutMetrics>("Page.getLayoutMetrics", {}, { signal })
  return { x: x + view.pageX, y: y + view.pageY, width: Math.max(1, box.width), height: Math.max(1, box.height) }
}

/** A tab behind others sometimes gets no frame to be captured; the next request brings one. */
const captureTries = 5
const captureMs = 2_500

interface CaptureOptions {
  type: "png" | "jpeg"
  quality: number
  side: number
  density: number
}

async function capture(
  session: CdpSession,
  clip: Clip,
  options: CaptureOptions,
  signal: AbortSignal,
): Promise<Picture> {
  const scale = Math.min(1, options.side / (Math.max(clip.width, clip.height) * options.density))
  const parameters = {
    format: options.type,
    ...(options.type === "jpeg" ? { quality: options.quality } : {}),
    clip: { ...clip, scale },
    captureBeyondViewport: true,
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

function bytesOf(picture: Picture): number {
  return Math.floor((picture.data.length * 3) / 4)
}
