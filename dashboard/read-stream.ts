// An answer of the gateway that goes on: its text in parts, as they come. The gateway says on each that it lives, every
// twenty seconds; one on which nothing is heard any more was cut on its way, which a browser notices only after minutes.
import { CallError, send, silence } from "./api.ts"

const silenceMs = 45_000

interface StreamOptions {
  headers?: Record<string, string>
  signal: AbortSignal
  /** What stands behind each part. */
  end: string
  /** Whole parts that have come at once. */
  take: (parts: string[]) => void
}

/** Before it is begun anew: longer and longer, and not for all pages at once. */
export const pauseAfter = (tries: number) =>
  new Promise((resolve) => setTimeout(resolve, Math.min(5_000, 250 * 2 ** tries) * (0.5 + Math.random())))

/** Resolves when the gateway has said all; throws what `send` throws, and CallError when it is silent. */
export async function readStream(path: string, { headers = {}, signal, end, take }: StreamOptions): Promise<void> {
  const cut = new AbortController()
  const stop = () => cut.abort(new CallError(0, silence))
  let timer = setTimeout(stop, silenceMs)
  try {
    const response = await send(path, { headers, signal: AbortSignal.any([signal, cut.signal]) })
    const decoder = new TextDecoder()
    let rest = ""
    for (const reader = response.body?.getReader(); reader;) {
      const { value, done } = await reader.read()
      clearTimeout(timer)
      if (done) return
      timer = setTimeout(stop, silenceMs)
      const parts = (rest + decoder.decode(value, { stream: true })).split(end)
      rest = parts.pop() ?? ""
      take(parts)
    }
  } finally {
    clearTimeout(timer)
  }
}
