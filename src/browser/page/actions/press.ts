// act: press. A key for an element that is given the focus, or for whatever has it in the tab.
import { AppError } from "../../../kernel/index.ts"
import { callAgent } from "../frames.ts"
import { parseRef, staleRef } from "../refs.ts"
import type { Operation, Tab } from "../tab.ts"
import { inMain } from "../watch-effects.ts"
import { parseKey, sendKey } from "./keyboard.ts"
import { reach } from "./reach.ts"

export interface PressRequest {
  ref?: string | undefined
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
  if (request.ref === undefined) await focusMoved(tab, signal)
  else await focusOn(tab, request.ref, operation)
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

async function focusOn(tab: Tab, ref: string, operation: Operation): Promise<void> {
  const entry = tab.refs.resolve(ref, tab)
  const number = parseRef(ref)
  await reach(tab, entry, number, { editable: false, point: false, arm: false, settle: false }, operation)
  const focused = await callAgent<"gone" | boolean>(entry.world, "focus", { id: entry.id }, operation.signal)
  if (focused === "gone") throw staleRef(number)
  if (focused) return
  throw new AppError("bad-request", `The element of ref ${number} does not take the focus, so no key goes to it`, {
    hint: "Click it first, then press the key without a ref",
  })
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
