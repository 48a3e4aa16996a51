// Lists and calendars of the browser itself, for a person who has the tab: what its pages would have opened is asked of them
// after each press, offered beside the picture, and answered where it was.
import { callAgent, unlessGone, type World } from "../page/frames.ts"
import type { PagePicker } from "../page/inject/pickers.ts"
import type { Tab } from "../page/tab.ts"

export interface OpenPicker {
  world: World
  picker: PagePicker
}

/** What the documents of the tab would have opened since they were asked last. */
export async function findPicker(tab: Tab, signal: AbortSignal): Promise<OpenPicker | undefined> {
  const worlds = tab.frames.all.flatMap(({ world }) => (world && tab.concealment.watched.has(world) ? [world] : []))
  const found = await Promise.all(
    worlds.map(async (world) => {
      const picker = await unlessGone(callAgent<PagePicker | null>(world, "openPicker", null, signal))
      return picker ? { world, picker } : undefined
    }),
  )
  return found.find((each) => each !== undefined)
}

export async function answerPicker(
  { world }: OpenPicker,
  answer: { option?: number | undefined; value?: string | undefined },
  signal: AbortSignal,
): Promise<void> {
  await unlessGone(callAgent(world, "answerPicker", answer, signal))
}
