// The thread beside the event loop. Its functions become a program of their own as text (the gateway is shipped as
// bundles, where a thread has no file to start from), so they use nothing from outside but types and each other.
import type { Debugger } from "node:inspector"
import type { Hang } from "./hang.ts"

/** In the state folder, while the event loop hangs. */
export const hangFileName = "hanging.json"

/** What is worked on, one id a slot: its length in the first byte, 0 for none, and its characters behind it. */
export const slotBytes = 64
export const slots = 1_024

/** Data of the thread: `beats` grows while the main thread's loop turns, `work` has the slots. */
export interface WatchData {
  beats: Int32Array
  work: Uint8Array
  slotBytes: number
  bootId: string
  file: string
}

export function watchProgram(): string {
  return [takeStack, writeNote, readWork, watchMainThread, `${watchMainThread.name}()`].join("\n")
}

/** Stops the main thread for the moment that reading its stack takes; inside native code it stops after that. */
function takeStack(onStack: (stack: string[]) => void): () => void {
  const inspector = process.getBuiltinModule("node:inspector")
  // A person who debugs the process stops it on purpose.
  if (inspector.url() !== undefined) return () => undefined
  const session = new inspector.Session()
  session.connectToMainThread()
  const files = new Map<string, string>()
  session.on("Debugger.scriptParsed", ({ params }: { params: Debugger.ScriptParsedEventDataType }) => {
    files.set(params.scriptId, params.url)
  })
  session.on("Debugger.paused", ({ params }: { params: Debugger.PausedEventDataType }) => {
    const frames = params.callFrames.slice(0, 30).map(({ functionName, location }) => {
      const place = `${files.get(location.scriptId) ?? ""}:${location.lineNumber + 1}`
      return `${functionName || "(anonymous)"} (${place})`
    })
    session.post("Debugger.resume", () => session.disconnect())
    onStack(frames)
  })
  session.post("Debugger.enable", () => session.post("Debugger.pause"))
  return () => session.disconnect()
}

function writeNote(file: string, hang: Hang): void {
  const fs = process.getBuiltinModule("node:fs")
  try {
    const descriptor = fs.openSync(`${file}.tmp`, "w", 0o600)
    fs.writeSync(descriptor, JSON.stringify(hang))
    fs.fsyncSync(descriptor)
    fs.closeSync(descriptor)
    fs.renameSync(`${file}.tmp`, file)
  } catch {
    // A full disk: the next start knows nothing of this hang.
  }
}

/** Read while the main thread stands still, so that it need not tell anybody what it begins and ends. */
function readWork({ work, slotBytes: width }: { work: Uint8Array; slotBytes: number }): string[] {
  const ids = new Set<string>()
  for (let at = 0; at < work.length; at += width) {
    const length = work[at] ?? 0
    if (length > 0) ids.add(String.fromCharCode(...work.subarray(at + 1, at + 1 + length)))
  }
  return [...ids]
}

function watchMainThread(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads")
  const { rmSync } = process.getBuiltinModule("node:fs")
  const data = workerData as WatchData
  const { beats, bootId, file } = data
  const tickMs = 50
  const hangMs = 250
  /** Shorter ones are no reason for anybody to kill the process. */
  const noteMs = 1_000
  /** A process that got less than this of a processor meanwhile has only waited, for it or for a disk: nobody is to blame. */
  const notedWorkMs = 500
  const stackWorkMs = 100
  const stackEveryMs = 5_000
  let seen = Atomics.load(beats, 0)
  let seenAt = performance.now()
  let usedAtSeen = process.cpuUsage()
  let tickedAt = seenAt
  let stackAt = -stackEveryMs
  let hang: Hang | undefined
  let isNoted = false
  let isAsked = false
  let leave = () => {}

  const workedMs = () => {
    const { user, system } = process.cpuUsage(usedAtSeen)
    return (user + system) / 1_000
  }
  const note = () => {
    isNoted = true
    if (hang) writeNote(file, hang)
  }
  const end = (ms: number) => {
    leave()
    leave = () => {}
    if (hang) parentPort?.postMessage({ ...hang, ms: Math.round(ms) })
    if (isNoted) rmSync(file, { force: true })
    hang = undefined
    isNoted = false
  }
  const begin = (ms: number) => {
    const since = new Date(Date.now() - ms).toISOString()
    hang = { bootId, since, ms: Math.round(ms), work: readWork(data), stack: [] }
    isAsked = performance.now() - stackAt < stackEveryMs
    askForStack()
  }
  /** It costs the main thread more than a tenth of a second, and says nothing of what keeps a processor from it. */
  const askForStack = () => {
    const begun = hang
    if (!begun || isAsked || workedMs() < stackWorkMs) return
    isAsked = true
    stackAt = performance.now()
    leave = takeStack((stack) => {
      begun.stack = stack
      if (isNoted) note()
    })
  }
  setInterval(() => {
    const now = performance.now()
    const present = Atomics.load(beats, 0)
    // The whole process was stopped, or the machine slept: that is no hang.
    const wasStopped = now - tickedAt > tickMs * 4 && !hang
    tickedAt = now
    const ms = now - seenAt
    if (present !== seen || wasStopped) {
      if (hang) end(ms)
      seen = present
      seenAt = now
      usedAtSeen = process.cpuUsage()
    } else if (hang && ms > noteMs && !isNoted && workedMs() > notedWorkMs) {
      hang.ms = Math.round(ms)
      note()
    } else if (!hang && ms > hangMs) begin(ms)
    else askForStack()
  }, tickMs)
}
