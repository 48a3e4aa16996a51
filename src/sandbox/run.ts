// One command in a box from its start to its end, within its time and output. What is over the limit ends it.
import type { BoxSpec } from "./contract.ts"
import type { BackendSettings, Sandbox } from "./sandbox.ts"

export interface RunOptions {
  timeoutMs: number
  /** Of the output that is kept: its beginning and its end. */
  maxOutputBytes: number
  stdin?: string | Buffer
  signal?: AbortSignal | undefined
}

export type RunEnd =
  | { kind: "ended"; code: number }
  /** By a signal: of its own, or because it took too much memory. */
  | { kind: "killed"; signal: string }
  | { kind: "timeout" }
  | { kind: "output" }

export interface RunResult {
  end: RunEnd
  output: Buffer
  /** Bytes that were left out between the beginning and the end. */
  leftOut: number
  ms: number
}

/** A command that writes without end is ended long before it fills a disk or a log. */
const endlessFactor = 256

/** Rejects with `sandbox-unavailable`, and with the signal's reason. */
export async function runInBox(
  sandbox: Sandbox,
  spec: BoxSpec,
  settings: BackendSettings,
  options: RunOptions,
): Promise<RunResult> {
  const { timeoutMs, maxOutputBytes, stdin, signal } = options
  signal?.throwIfAborted()
  const began = performance.now()
  const box = await sandbox.start(spec, settings)
  const { child } = box
  const kept = new KeptOutput(maxOutputBytes)
  let cut: RunEnd | undefined
  const end = (why: RunEnd) => {
    cut ??= why
    box.stop()
  }
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      kept.add(chunk)
      if (kept.total > maxOutputBytes * endlessFactor) end({ kind: "output" })
    })
  }
  const timer = setTimeout(() => end({ kind: "timeout" }), timeoutMs)
  const abort = () => box.stop()
  signal?.addEventListener("abort", abort, { once: true })
  // While it was started, which takes a look at what the machine can do.
  if (signal?.aborted) abort()
  try {
    // A command that reads nothing closes its input first.
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(stdin ?? "")
    const closed = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code, ending) => resolve({ code, signal: ending }))
    })
    await box.ended
    signal?.throwIfAborted()
    return { end: cut ?? endOf(closed), ...kept.result(), ms: Math.round(performance.now() - began) }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", abort)
  }
}

/** Shells and bubblewrap tell of a signal by a code above 128. */
function endOf({ code, signal }: { code: number | null; signal: string | null }): RunEnd {
  if (signal !== null) return { kind: "killed", signal }
  if (code === 137) return { kind: "killed", signal: "SIGKILL" }
  return { kind: "ended", code: code ?? 1 }
}

class KeptOutput {
  readonly #max: number
  readonly #head: Buffer[] = []
  #headBytes = 0
  #tail: Buffer = Buffer.alloc(0)
  total = 0

  constructor(max: number) {
    this.#max = max
  }

  add(chunk: Buffer): void {
    this.total += chunk.length
    const half = Math.ceil(this.#max / 2)
    const room = half - this.#headBytes
    if (room > 0) {
      const part = chunk.subarray(0, room)
      this.#head.push(part)
      this.#headBytes += part.length
    }
    if (chunk.length <= Math.max(0, room)) return
    const rest = Buffer.concat([this.#tail, chunk.subarray(Math.max(0, room))])
    this.#tail = rest.subarray(Math.max(0, rest.length - (this.#max - half)))
  }

  result(): { output: Buffer; leftOut: number } {
    const leftOut = this.total - this.#headBytes - this.#tail.length
    const gap = leftOut > 0 ? [Buffer.from(`\n[... ${leftOut} bytes left out ...]\n`)] : []
    return { output: Buffer.concat([...this.#head, ...gap, this.#tail]), leftOut }
  }
}
