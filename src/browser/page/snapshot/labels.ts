// A picture of the view with the refs of a snapshot drawn over it.
import { AppError } from "../../../kernel/index.ts"
import { callAgent, type Frame, type World } from "../frames.ts"
import type { LabelRequest, Visible } from "../inject/labels.ts"
import { type Picture, takeScreenshot } from "../screenshot.ts"
import type { Operation, Tab } from "../tab.ts"
import type { Line, LineRef } from "./line.ts"

export interface LabelledPicture {
  picture: Picture
  shown: number
  skipped: number
}

/** More would hide the page. */
const maxLabels = 150
const unlabelMs = 2_000

export async function takeLabelled(
  tab: Tab,
  lines: Line[],
  type: "png" | "jpeg",
  operation: Operation,
): Promise<LabelledPicture> {
  const { signal } = operation
  const refs = lines.flatMap(({ ref }) => (ref && ref.role !== "text" ? [ref] : []))
  const worlds = Map.groupBy(refs, (ref) => ref.entry.world)
  let shown = 0
  try {
    for (const [world, own] of worlds) {
      const within = await visiblePart(tab, frameOf(tab, world), signal)
      if (within === "nothing") continue
      shown += await draw(world, { items: own.map(toItem), most: maxLabels - shown, within }, signal)
    }
    const picture = await takeScreenshot(tab, { fullPage: false, ref: undefined, element: undefined, type }, operation)
    return { picture, shown, skipped: refs.length - shown }
  } finally {
    await Promise.all([...worlds.keys()].map(unlabel))
  }
}

/** A thick frame around one element, and around no other any more. False when there is nothing to see of it. */
export async function highlight(tab: Tab, world: World, id: number, signal: AbortSignal): Promise<boolean> {
  const others = tab.frames.all.flatMap(({ world: other }) => (other && other !== world ? [other] : []))
  await Promise.all(others.map(unlabel))
  return (await draw(world, { items: [[id, ""]], most: 1 }, signal)) === 1
}

function draw(world: World, request: LabelRequest, signal: AbortSignal): Promise<number> {
  return callAgent<number>(world, "label", request, signal)
}

function toItem({ entry, key }: LineRef): [number, string] {
  return [entry.id, key]
}

function frameOf(tab: Tab, world: World): Frame | undefined {
  return tab.frames.all.find((frame) => frame.world === world)
}

/** What can be seen of a frame's document in the tab's view, in the frame's own pixels; undefined for the main one. */
async function visiblePart(
  tab: Tab,
  frame: Frame | undefined,
  signal: AbortSignal,
): Promise<Visible | "nothing" | undefined> {
  if (frame === undefined) return "nothing"
  if (frame.parentId === undefined) return undefined
  const owner = await tab.frames.ownerOf(frame, signal)
  const box =
    owner && (await callAgent<(Visible & { scale: number }) | null>(owner.world, "frameBox", owner.id, signal))
  if (!box) return "nothing"
  const outside = await visiblePart(tab, owner.frame, signal)
  if (outside === "nothing") return outside
  const left = Math.max(box.x, outside?.x ?? 0)
  const top = Math.max(box.y, outside?.y ?? 0)
  const right = Math.min(box.x + box.width, outside ? outside.x + outside.width : Number.MAX_SAFE_INTEGER)
  const bottom = Math.min(box.y + box.height, outside ? outside.y + outside.height : Number.MAX_SAFE_INTEGER)
  if (right <= left || bottom <= top) return "nothing"
  const { x, y, scale } = box
  return { x: (left - x) / scale, y: (top - y) / scale, width: (right - left) / scale, height: (bottom - top) / scale }
}

async function unlabel(world: World): Promise<void> {
  const limit = AbortSignal.timeout(unlabelMs)
  try {
    await callAgent(world, "unlabel", null, limit)
  } catch (error) {
    // A frame that does not answer has been told, and does it when it comes to itself.
    if (limit.aborted && error === limit.reason) return
    // Labels go with their document.
    if (!(error instanceof AppError) || error.code !== "stale-ref") throw error
  }
}
