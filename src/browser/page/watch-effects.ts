// Notices what an action sets off in its page and waits for it, but never for anything else: the next page when the
// tab leaves this one, else the requests of its scripts and the frame that shows their result.
import { AppError, raceAbort } from "../../kernel/index.ts"
import { callAgent } from "./frames.ts"
import type { Tab } from "./tab.ts"

export interface EffectWatch {
  /**
   * Resolves at once, with true, when nothing was set off. `rested`: the page has done by now what the input has queued.
   */
  settle(signal: AbortSignal, rested: boolean): Promise<boolean>
  stop(): void
}

/** A slow site must not hold up the answer to a click; the caller sees by the url how far it has come. */
const navigationMs = 5_000
/** Requests that stay open (long polls) are none that the page's look depends on. */
const requestsMs = 700
/** How long after its head the body of an answer is waited for: a body that the page never reads never ends. */
const bodyMs = 60

export function watchEffects(tab: Tab): EffectWatch {
  let leaving = false
  const arrived = Promise.withResolvers<void>()
  const open = new Set<string>()
  let began = false
  let onIdle: (() => void) | undefined
  const stopNavigation = tab.onNavigation((event) => {
    if (event === "file") return
    if (event === "started") leaving = true
    else if (leaving) arrived.resolve()
    if (leaving) onIdle?.()
  })
  const bodies: NodeJS.Timeout[] = []
  const end = (id: string) => {
    if (open.delete(id) && open.size === 0) onIdle?.()
  }
  const stopRequests = tab.onRequest((event) => {
    if (event.kind === "began") {
      began = true
      open.add(event.id)
    } else if (event.kind === "answered") bodies.push(setTimeout(() => end(event.id), bodyMs))
    else end(event.id)
  })
  const idle = () =>
    new Promise<void>((resolve) => {
      if (open.size === 0 || leaving) resolve()
      else onIdle = resolve
    })
  return {
    async settle(signal, rested) {
      if (!leaving && !rested) await inMain(tab, "task", signal)
      if (began && !leaving) {
        await atMost(tab, requestsMs, signal, async () => {
          // An answer may make the page ask again.
          do {
            await idle()
            await inMain(tab, "frame", signal)
          } while (open.size > 0 && !leaving)
        })
      }
      if (leaving) await atMost(tab, navigationMs, signal, () => arrived.promise)
      return !began && !leaving
    },
    stop() {
      stopNavigation()
      stopRequests()
      for (const timer of bodies) clearTimeout(timer)
    },
  }
}

async function atMost(tab: Tab, ms: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const timeout = new AbortController()
  const limit = tab.clock.sleep(ms, timeout.signal).catch(() => undefined)
  try {
    await raceAbort(Promise.race([work(), limit]), signal)
  } finally {
    timeout.abort()
  }
}

/** Lets the page do what is queued, or show what it has got. A page that is on its way out has nothing to do. */
export async function inMain(tab: Tab, call: "task" | "frame", signal: AbortSignal): Promise<void> {
  const { world } = tab.frames.main
  if (!world) return
  try {
    await callAgent(world, call, null, signal)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "stale-ref") throw error
  }
}
