// What the routes of `/api/browser` are made of.
import type { z } from "zod"
import type { browserEndpoints } from "./endpoints/browser.ts"

type Replies = { [Name in keyof typeof browserEndpoints]: z.input<(typeof browserEndpoints)[Name]["reply"]> }

export interface BrowserActions {
  list(): Replies["GET /api/browser"]
  start(profile: string, signal: AbortSignal): Promise<unknown>
  stop(profile: string): Promise<{ stopped: boolean }>
  open(profile: string, url: string, signal: AbortSignal): Promise<{ targetId: string }>
  close(profile: string, targetId: string): Promise<void>
  snapshot(profile: string, targetId: string, signal: AbortSignal): Promise<Replies["GET /api/browser/snapshot"]>
  /** Lines of JSON, see `liveLine`. */
  watch(profile: string, targetId: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
}
