// What the doors of a takeover need of the rest. No runtime.
import type { z } from "zod"
import type { handEvents } from "../endpoints/takeovers.ts"

export type HandsEvents = z.output<typeof handEvents>["events"]

/** Around the picture; the shape is that of browser control. */
export type HandsState = object

export interface HandsView {
  /** Resolves when there is room for the next one. */
  frame(jpeg: Uint8Array): Promise<void>
  state(state: HandsState): void
}

/** A tab in somebody's hands. */
export interface LiveHands {
  watch(viewer: HandsView): Promise<() => void>
  input(events: HandsEvents): Promise<void>
  readonly ended: AbortSignal
}

export interface TakeoverDesk {
  /**
   * Whoever brings a link's token first gets the key, or the one they have made; undefined for everybody else. Throws `tab-gone`, `tab-not-found`; with
   * `again` the page of a tab that is gone is opened once more.
   */
  claim(
    token: string,
    again: boolean,
    key?: string,
  ): Promise<{ id: string; key: string; reason: string; expiresAt: number } | undefined>
  /** Undefined for a key that is for nothing any more. */
  find(key: string): Promise<{ id: string; reason: string; expiresAt: number; hands: LiveHands } | undefined>
  giveBack(id: string): Promise<void>
}
