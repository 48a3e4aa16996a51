// The one event stream: read by fetch, since it needs the page's key; goes on after the last entry that was read, so that
// a cut, a sleep or a restart loses and doubles nothing. Hidden tabs let go of it: browsers open few connections a host.
import { signal } from "./ui/signals.ts"
import { pauseAfter, readStream } from "./read-stream.ts"
import { who } from "./session.ts"

type Listener = (data: never) => void

/**
 * `reset` is told when what is shown must be read anew; `begun`, behind the first `ready`, to whatever was read before the
 * stream was there, which may have missed something.
 */
const listeners = new Map<string, Set<Listener>>()
export const isLive = signal(false)
/** Not for a moment: what is shown may be old. */
export const isLost = signal(false)

const hiddenMs = 20_000
let lastId: string | undefined
let control: AbortController | undefined
let hideTimer = 0
let tries = 0

/** Returns what ends it. */
export function on<Data>(topic: string, listener: (data: Data) => void): () => void {
  const all = listeners.get(topic) ?? new Set()
  listeners.set(topic, all.add(listener as Listener))
  return () => void all.delete(listener as Listener)
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(hideTimer)
  if (document.hidden) hideTimer = setTimeout(() => control?.abort(), hiddenMs)
  else startStream()
})
addEventListener("online", startStream)

export function startStream(): void {
  if (typeof who.current !== "object" || (control && !control.signal.aborted)) return
  tries = 0
  control = new AbortController()
  void run(control)
}

async function run(own: AbortController): Promise<void> {
  while (!own.signal.aborted) {
    try {
      const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId }
      const take = (blocks: string[]) => blocks.forEach(hear)
      await readStream("/api/stream", { headers, signal: own.signal, end: "\n\n", take })
    } catch {
      // Told by `isLive`; what the gateway says about it is told by the next call.
    }
    isLive.current = false
    // Who signs in again begins it again.
    if (who.current === "out") own.abort()
    if (own.signal.aborted) return
    isLost.current = tries > 1
    await pauseAfter(tries)
    tries += 1
  }
}

function hear(block: string): void {
  const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2) as [string, string]))
  const topic = fields.get("event")
  if (topic === undefined) return
  if (topic === "ready" || topic === "reset") {
    tries = 0
    isLive.current = true
    isLost.current = false
  }
  for (const name of topic === "ready" && lastId === undefined ? [topic, "begun"] : [topic]) {
    for (const listener of listeners.get(name) ?? []) listener(JSON.parse(fields.get("data") ?? "{}") as never)
  }
  // Behind the listeners: an entry that was not taken is asked for again.
  lastId = fields.get("id") ?? lastId
}
