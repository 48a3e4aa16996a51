// act: press. A key for whatever has the focus in the tab.
import { AppError } from "../../../kernel/index.ts"
import { callAgent } from "../frames.ts"
import type { Operation, Tab } from "../tab.ts"
import { parseKey, sendKey } from "./keyboard.ts"

export interface PressRequest {
  key: string
  delayMs: number
}

export async function press(
  tab: Tab,
  request: PressRequest,
  operation: Operation,
  progress: { sent: boolean },
): Promise<void> {
  const key = parseKey(request.key)
  progress.sent = true
  const { signal } = operation
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

/** A page that went away does not scroll. */
async function rest(tab: Tab, direction: "down" | "up", signal: AbortSignal): Promise<void> {
  try {
    const world = await tab.frames.world(tab.frames.main, signal)
    await callAgent(world, "scrollRest", direction, signal)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "stale-ref") throw error
  }
}
