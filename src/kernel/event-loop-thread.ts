// The thread beside the event loop. It becomes a program of its own as text (the gateway is shipped as bundles, where a
// thread has no file to start from), so the function uses nothing from outside but types.
import type { Debugger } from "node:inspector"
import type { Hang } from "./event-loop.ts"

/** In the state folder, while the event loop hangs. */
export const hangFileName = "hanging.json"

/** Data of the thread: `beats` grows while the main thread's loop turns. Messages in: `{begin: id}`, `{end: id}`. */
export function watchMainThread(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const fs = process.getBuiltinModule("node:fs")
  const inspector = process.getBuiltinModule("node:inspector")
  const { beats, bootId, file } = workerData as { beats: Int32Array; bootId: string; file: string }
  const tickMs = 50
  const hangMs = 250
  /** Shorter ones are no reason for anybody to kill the process. */
  const noteMs = 1_000
  const stackEveryMs = 5_000
  const open = new Map<string, number>()
  let seen = Atomics.load(beats, 0)
  let seenAt = performance.now()
  let tickedAt = seenAt
  let stackAt = -stackEveryMs
  let hang: Hang | undefined
  let isNoted = false
  let session: import("node:inspector").Session | undefined

  const disconnect = () => {
    session?.disconnect()
    session = undefined
  }
  /** Stops the main thread for the moment that it takes to read its stack. Inside native code it stops after that. */
  const askForStack = (into: Hang) => {
    // A person who debugs the process stops it on purpose.
    if (inspector.url() !== undefined || session !== undefined) return
    session = new inspector.Session()
    session.connectToMainThread()
    session.on("Debugger.paused", ({ params }: { params: Debugger.PausedEventDataType }) => {
      into.stack = params.callFrames
        .slice(0, 30)
        .map((frame) => `${frame.functionName || "(anonymous)"} (${frame.url}:${frame.location.lineNumber + 1})`)
      session?.post("Debugger.resume", disconnect)
      if (isNoted) note()
    })
    session.post("Debugger.enable", () => session?.post("Debugger.pause"))
  }
  const note = () => {
    isNoted = true
    const text = JSON.stringify(hang)
    try {
      const temporary = `${file}.tmp`
      const descriptor = fs.openSync(temporary, "w", 0o600)
      fs.writeSync(descriptor, text)
      fs.fsyncSync(descriptor)
      fs.closeSync(descriptor)
      fs.renameSync(temporary, file)
    } catch {
      // A full disk: the next start knows nothing of this hang.
    }
  }
  const end = (ms: number) => {
    disconnect()
    if (hang) parentPort?.postMessage({ ...hang, ms: Math.round(ms) })
    if (isNoted) fs.rmSync(file, { force: true })
    hang = undefined
    isNoted = false
  }
  const begin = (ms: number) => {
    hang = {
      bootId,
      since: new Date(Date.now() - ms).toISOString(),
      ms: Math.round(ms),
      work: [...open.keys()],
      stack: [],
    }
    if (performance.now() - stackAt < stackEveryMs) return
    stackAt = performance.now()
    askForStack(hang)
  }
  setInterval(() => {
    const now = performance.now()
    const present = Atomics.load(beats, 0)
    // The whole process was stopped, or the machine slept: that is no hang.
    const wasStopped = now - tickedAt > tickMs * 4 && !hang
    tickedAt = now
    if (present !== seen || wasStopped) {
      if (hang) end(now - seenAt)
      seen = present
      seenAt = now
      return
    }
    const ms = now - seenAt
    if (ms <= hangMs) return
    if (!hang) begin(ms)
    else if (ms > noteMs && !isNoted) {
      hang.ms = Math.round(ms)
      note()
    }
  }, tickMs)
  parentPort?.on("message", ({ begin: begun, end: ended }: { begin?: string; end?: string }) => {
    const id = begun ?? ended ?? ""
    const count = (open.get(id) ?? 0) + (begun === undefined ? -1 : 1)
    if (count > 0) open.set(id, count)
    else open.delete(id)
  })
}
