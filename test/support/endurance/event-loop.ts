// What `GET /metrics` of a gateway says of its event loop and its heap.

export interface LoopFigures {
  /** The longest stretch since the start. */
  maxMs: number
  /** Stretches of more than 50 ms since the start. */
  over50: number
  /** The same of what the thread itself computed in them: the rest is a processor that others had, or a disk. */
  work: { maxMs: number; over50: number }
  /** Of the JavaScript heap, in use, garbage included. */
  heapMb: number
}

/** Undefined where nothing of it is told. */
export async function readLoop(url: string, token: string): Promise<LoopFigures | undefined> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(10_000) }).catch(
    () => undefined,
  )
  return response?.ok ? parseLoop(await response.text()) : undefined
}

export function parseLoop(text: string): LoopFigures | undefined {
  const value = (name: string) => {
    const line = text.split("\n").find((each) => each.startsWith(`${name} `))
    return line === undefined ? undefined : Number(line.slice(name.length + 1))
  }
  const stretches = (name: string) => {
    const [max, count] = [value(`${name}_max_seconds`), value(`${name}_seconds_count`)]
    const within = value(`${name}_seconds_bucket{le="0.05"}`)
    if (max === undefined || count === undefined || within === undefined) return undefined
    return { maxMs: max * 1000, over50: count - within }
  }
  const delays = stretches("svc_event_loop_delay")
  const heapMb = (value("svc_heap_used_bytes") ?? 0) / 1024 / 1024
  return delays && { ...delays, work: stretches("svc_event_loop_work") ?? delays, heapMb }
}
