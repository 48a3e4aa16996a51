// Where the elements of a snapshot are in the tab's view, for whoever shows them over its picture.
import { AppError } from "../../../kernel/index.ts"
import { callAgent, type Frame } from "../frames.ts"
import type { Visible } from "../inject/labels.ts"
import type { Tab } from "../tab.ts"
import type { Line } from "./line.ts"

/** More lines than a person looks through. */
const maxBoxes = 1_000

/** By ref, in the pixels of the view; what takes up no space, or is gone by now, is left out. */
export async function snapshotBoxes(
  tab: Tab,
  lines: readonly Line[],
  signal: AbortSignal,
): Promise<Record<string, Visible>> {
  const refs = lines.flatMap(({ ref }) => ref ?? []).slice(0, maxBoxes)
  const found: Record<string, Visible> = {}
  for (const [world, own] of Map.groupBy(refs, ({ entry }) => entry.world)) {
    const frame = tab.frames.all.find((each) => each.world === world)
    const place = frame && (await placeOf(tab, frame, signal))
    if (!place) continue
    const ids = own.map(({ entry }) => entry.id)
    const boxes = await callAgent<(Visible | null)[]>(world, "boxes", ids, signal).catch((error: unknown) => {
      // The frame has gone to another document meanwhile.
      if (error instanceof AppError && error.code === "stale-ref") return []
      throw error
    })
    boxes.forEach((box, index) => {
      const key = own[index]?.key
      if (!box || key === undefined) return
      const { scale } = place
      found[key] = {
        x: Math.round(place.x + box.x * scale),
        y: Math.round(place.y + box.y * scale),
        width: Math.round(box.width * scale),
        height: Math.round(box.height * scale),
      }
    })
  }
  return found
}

interface Place {
  x: number
  y: number
  scale: number
}

/** Where a frame's document begins in the tab's view. */
async function placeOf(tab: Tab, frame: Frame, signal: AbortSignal): Promise<Place | undefined> {
  if (frame.parentId === undefined) return { x: 0, y: 0, scale: 1 }
  const owner = await tab.frames.ownerOf(frame, signal)
  const box =
    owner && (await callAgent<(Visible & { scale: number }) | null>(owner.world, "frameBox", owner.id, signal))
  const outside = box && (await placeOf(tab, owner.frame, signal))
  if (!outside) return undefined
  return {
    x: outside.x + box.x * outside.scale,
    y: outside.y + box.y * outside.scale,
    scale: box.scale * outside.scale,
  }
}
