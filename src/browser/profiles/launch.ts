// Starts one browser process and waits until it names its WebSocket on stderr: that line is this process's own, so a
// foreign program on the port cannot be taken for it. Its end is raced with the wait, and its last words are kept.
import { type ChildProcess, spawn } from "node:child_process"
import { AppError, raceAbort, withTimeout } from "../../kernel/index.ts"
import { isProcessAlive } from "../../kernel/process-alive.ts"

export interface LaunchOptions {
  path: string
  arguments: string[]
  environment: Record<string, string>
  timeoutMs: number
  signal: AbortSignal
}

export interface BrowserProcess {
  pid: number
  webSocketUrl: string
  /** Resolves when the process has ended. */
  exited: Promise<void>
}

const tailChars = 2_000
const lastWordsMs = 1_000

export async function launchBrowser(options: LaunchOptions): Promise<BrowserProcess> {
  const child = spawn(options.path, options.arguments, {
    env: options.environment,
    stdio: ["ignore", "ignore", "pipe"],
    // A process group of its own, so that all of its processes can be ended together.
    detached: true,
    windowsHide: true,
  })
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve())
    child.once("error", () => resolve())
  })
  const announced = readAnnouncement(child)
  const { signal, clear } = withTimeout(options.timeoutMs, "Starting the browser", options.signal)
  try {
    const webSocketUrl = await raceAbort(announced.url, signal)
    return { pid: child.pid as number, webSocketUrl, exited }
  } catch (error) {
    if (child.pid !== undefined) await endGroup(child.pid, { politeMs: 0, firmMs: 1_000 })
    if (error instanceof AppError && error.code === "timeout") {
      throw new BrowserSilent(options.timeoutMs, announced.lastWords())
    }
    throw error
  } finally {
    clear()
  }
}

/** It runs and says nothing: another start may do better. */
export class BrowserSilent extends AppError {
  constructor(ms: number, words: string) {
    super("browser-start-failed", `The browser did not answer within ${ms} ms${words}`, {
      hint: "Start it by hand with the same arguments to see why; a machine that is very busy needs another try",
    })
  }
}

/** Reads stderr to its end, so that the browser never blocks on a full pipe. */
function readAnnouncement(child: ChildProcess): { url: Promise<string>; lastWords(): string } {
  let tail = ""
  const lastWords = () => {
    const lines = tail.trim().split("\n").slice(-5).join(" | ")
    return lines === "" ? "" : `: ${lines}`
  }
  const url = new Promise<string>((resolve, reject) => {
    child.stderr?.setEncoding("utf8")
    child.stderr?.on("data", (text: string) => {
      tail = (tail + text).slice(-tailChars)
      const match = /DevTools listening on (ws:\/\/\S+)/.exec(tail)
      if (match) resolve(match[1] as string)
      // It would run on without the port that it was started for.
      else if (/Cannot start http server for devtools/.test(tail)) reject(portTaken())
    })
    child.stderr?.on("error", () => undefined)
    child.once("error", (error) =>
      reject(
        new AppError("browser-start-failed", `The browser could not be started: ${error.message}`, {
          cause: error,
          hint: "Check browser.executablePath",
        }),
      ),
    )
    child.once("exit", (code, signal) => {
      const tell = () => reject(endedEarly(code, signal, tail, lastWords()))
      // Its last words may still be on their way; a child of it may hold the pipe open for longer.
      if (child.stderr === null || child.stderr.closed) return tell()
      child.stderr.once("close", tell)
      setTimeout(tell, lastWordsMs).unref()
    })
  })
  // Whoever gives up before does not look at it any more.
  url.catch(() => undefined)
  return { url, lastWords }
}

function portTaken(): AppError {
  return new AppError("browser-start-failed", "Cannot start http server for devtools: its port is taken", {
    hint: "Another program took the port at the same moment; try again",
  })
}

function endedEarly(code: number | null, signal: string | null, tail: string, words: string): AppError {
  const sandbox = /no-sandbox|sandbox/i.test(tail)
  return new AppError("browser-start-failed", `The browser ended at once (${signal ?? `exit code ${code}`})${words}`, {
    hint: sandbox
      ? "The system does not allow the browser's own sandbox (it never does for root): set browser.noSandbox to true"
      : "Start it by hand with the same arguments to see why",
  })
}

/**
 * Ends a process and its group: a polite signal, a wait, then a firm one. Resolves as soon as the process is gone, or was
 * given all the time there is.
 */
export async function endGroup(pid: number, waits: { politeMs: number; firmMs: number }): Promise<void> {
  if (waits.politeMs > 0) {
    signalGroup(pid, "SIGTERM")
    await isGoneWithin(pid, waits.politeMs)
  }
  // To what is left of the group also when its leader is gone.
  signalGroup(pid, "SIGKILL")
  await isGoneWithin(pid, waits.firmMs)
}

const lookMs = 20

/** Whether the process ends in time. It need not be a child of ours. */
export async function isGoneWithin(pid: number, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; isProcessAlive(pid); await pause(lookMs)) {
    if (performance.now() >= until) return false
  }
  return true
}

/** One that leads no group is meant alone. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  const isGroup = process.platform !== "win32" && send(-pid, signal)
  if (!isGroup) send(pid, signal)
}

function send(target: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    // ESRCH: nobody left, which is what we want. EPERM: a zombie's group on some systems.
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ESRCH" && code !== "EPERM") throw error
    return false
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
