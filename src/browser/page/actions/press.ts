// act: press. A key for whatever has the focus in the tab.
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
}
