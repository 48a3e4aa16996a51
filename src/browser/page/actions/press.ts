// act: press. A key for whatever has the focus in the tab.
import { AppError } from "../../../kernel/index.ts"
import { callAgent } from "../frames.ts"
import type { Operation, Tab } from "../tab.ts"
import { inMain } from "../watch-effects.ts"
import { parseKey, sendKey } from "./keyboard.ts"

export interface PressRequest {
  key: string
  delayMs: number
}

/** By then a frame has come, if any comes. */
const frameMs = 50

export async function press(
  tab: Tab,
  request: PressRequest,
  operation: Operation,
  progress: { sent: boolean },
): Promise<void> {
  const key = parseKey(request.key)
  const { signal } = operation
  await focusMoved(tab, signal)
  progress.sent = true
  await sendKey(tab.session, key, {
    signal,
    ...(request.delayMs > 0 ? { hold: () => tab.clock.sleep(request.delayMs, signal) } : {}),
  })
  const direction = scrolling[key.key]
  if (direction) await rest(tab, direction, signal)
}

const scrolling: Record<string, "down" | "up"> = {
  End: "down",
  PageDown: "down",
  ArrowDown: "down",
  " ": "down",
  Home: "up",
  PageUp: "up",
  ArrowUp: "up",
}

/** What an input moves the focus with, widgets often call with the next frame: the key is meant for who has it then. */
async function focusMoved(tab: Tab, signal: AbortSignal): Promise<void> {
  const { inputAt } = tab.memory
  if (inputAt !== undefined && tab.clock.monotonic() - inputAt < frameMs) await inMain(tab, "frame", signal)
}

/** A page that went away does not scroll. */
async function rest(tab: Tab, direction: "down" | "up", signal: AbortSignal): Promise<void> {
  try {
    const world = await tab.frames.world(tab.frames.main, signal)
    await callAgent(world, "scrollRest", direction, signal)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "stale-ref") throw error
  }
}
