// A picture of the view with the refs of a snapshot drawn over it.
import { AppError } from "../../../kernel/index.ts"
import { callAgent, type World } from "../frames.ts"
import type { LabelCount } from "../inject/labels.ts"
import { type Picture, takeScreenshot } from "../screenshot.ts"
import type { Operation, Tab } from "../tab.ts"
import type { Line } from "./compose.ts"

export interface LabelledPicture {
  picture: Picture
  shown: number
  skipped: number
}

/** More would hide the page. */
const maxLabels = 150

export async function takeLabelled(tab: Tab, lines: Line[], operation: Operation): Promise<LabelledPicture> {
  const { signal } = operation
  const items = new Map<World, [number, string][]>()
  const refs = lines.flatMap(({ ref }) => (ref ? [ref] : []))
  for (const ref of refs.slice(0, maxLabels)) {
    const inWorld = items.get(ref.entry.world) ?? []
    items.set(ref.entry.world, inWorld)
    inWorld.push([ref.entry.id, ref.key])
  }
  let shown = 0
  try {
    for (const [world, labels] of items) shown += (await callAgent<LabelCount>(world, "label", labels, signal)).shown
    const picture = await takeScreenshot(tab, { fullPage: false, ref: undefined, type: "png" }, operation)
    return { picture, shown, skipped: refs.length - shown }
  } finally {
    for (const world of items.keys()) await unlabel(world)
  }
}

async function unlabel(world: World): Promise<void> {
  try {
    await callAgent(world, "unlabel", null, AbortSignal.timeout(2_000))
  } catch (error) {
    // Labels go with their document.
    if (!(error instanceof AppError) || error.code !== "stale-ref") throw error
  }
}
