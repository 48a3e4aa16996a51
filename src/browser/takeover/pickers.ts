// Lists and calendars of the browser itself, for a person who has the tab: what its pages would have opened is asked of them
// after each press, offered beside the picture, and answered where it was.
import { untilHeard } from "../page/concealment.ts"
import { callAgent, type Frame, unlessGone, type World } from "../page/frames.ts"
import type { PagePicker } from "../page/inject/pickers.ts"
import type { Tab } from "../page/tab.ts"

export interface OpenPicker {
  world: World
  picker: PagePicker
}

/** What the documents of the tab would have opened since they were asked last. */
export async function findPicker(tab: Tab, signal: AbortSignal): Promise<OpenPicker | undefined> {
  let found: OpenPicker | undefined
  const ask = async (world: World) => {
    const picker = await unlessGone(callAgent<PagePicker | null>(world, "openPicker", null, signal))
    if (picker) found ??= { world, picker }
  }
  const asked = new Map<Frame, Promise<void>>()
  for (const frame of tab.frames.all) {
    const { world } = frame
    if (world && tab.concealment.watched.has(world)) asked.set(frame, ask(world))
  }
  await untilHeard(tab, asked)
  return found
}

export async function answerPicker(
  { world }: OpenPicker,
  answer: { option?: number | undefined; value?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  await unlessGone(callAgent(world, "answerPicker", answer, signal))
}
