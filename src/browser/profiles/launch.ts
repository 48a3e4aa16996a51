// Starts one browser process and waits until it can be spoken to: until it answers through its pipe, or names its WebSocket
// on stderr. Both are this process's own, so nothing else can be taken for it. Its end is raced with the wait, and its last
// words are kept.
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { AppError, raceAbort, withTimeout } from "../../kernel/index.ts"
import { CdpConnection, overPipe } from "../cdp/index.ts"
import { endGroup } from "./end-process.ts"
import { isStopped } from "./process-info.ts"

export interface LaunchOptions {
  path: string
  arguments: string[]
  environment: Record<string, string>
  timeoutMs: number
  signal: AbortSignal
}

export interface BrowserProcess {
  pid: number
  /** Resolves when the process has ended. */
  exited: Promise<void>
}

const tailChars = 2_000
const lastWordsMs = 1_000

/** For a browser that was told to use a pipe. The pipe is its only door, and the browser ends with it. */
export async function launchOnPipe(options: LaunchOptions): Promise<BrowserProcess & { connection: CdpConnection }> {
  const start = begin(options, ["pipe", "pipe"])
  const { stdio, pid } = start.child
  const looks = { isStopped: () => pid === undefined || isStopped(pid) }
  const connection = new CdpConnection(overPipe(stdio[3] as Writable, stdio[4] as Readable, looks))
  try {
    const asked = connection.root.send("Browser.getVersion", {}, { timeoutMs: 0 })
    // When the pipe is lost, the end of the process says why.
    await start.wait(asked.catch(() => start.ended))
    return { pid: start.child.pid as number, exited: start.exited, connection }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** For a browser that was told to listen on a port. */
export async function launchOnPort(options: LaunchOptions): Promise<BrowserProcess & { webSocketUrl: string }> {
  const start = begin(options, [])
  const webSocketUrl = await start.wait(Promise.race([start.announced, start.ended]))
  return { pid: start.child.pid as number, exited: start.exited, webSocketUrl }
}

function begin(options: LaunchOptions, pipes: "pipe"[]) {
  const child = spawn(options.path, options.arguments, {
    env: options.environment,
    stdio: ["ignore", "ignore", "pipe", ...pipes],
    // A process group of its own, so that all of its processes can be ended together.
    detached: true,
    windowsHide: true,
  })
  const exited = new Promise<void>((resolve) => {
    child.once("exit", () => resolve())
    child.once("error", () => resolve())
  })
  const { announced, ended, lastWords } = readWords(child)
  return {
    child,
    exited,
    announced,
    ended,
    /** Gives what comes of it within the time of a start; a browser of which nothing comes is ended. */
    async wait<Result>(outcome: Promise<Result>): Promise<Result> {
      const { signal, clear } = withTimeout(options.timeoutMs, "Starting the browser", options.signal)
      try {
        return await raceAbort(outcome, signal)
      } catch (error) {
        if (child.pid !== undefined) await endGroup(child.pid, { politeMs: 0, firmMs: 1_000 })
        if (error instanceof AppError && error.code === "timeout") {
          throw new BrowserSilent(options.timeoutMs, lastWords())
        }
        throw error
      } finally {
        clear()
      }
    },
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
function readWords(child: ChildProcess): { announced: Promise<string>; ended: Promise<never>; lastWords(): string } {
  let tail = ""
  const lastWords = () => {
    const lines = tail.trim().split("\n").slice(-5).join(" | ")
    return lines === "" ? "" : `: ${lines}`
  }
  const announced = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<never>()
  child.stderr?.setEncoding("utf8")
  child.stderr?.on("data", (text: string) => {
    tail = (tail + text).slice(-tailChars)
    const match = /DevTools listening on (ws:\/\/\S+)/.exec(tail)
    if (match) announced.resolve(match[1] as string)
    // It would run on without the port that it was started for.
    else if (/Cannot start http server for devtools/.test(tail)) announced.reject(portTaken())
  })
  child.stderr?.on("error", () => undefined)
  child.once("error", (error) =>
    ended.reject(
      new AppError("browser-start-failed", `The browser could not be started: ${error.message}`, {
        cause: error,
        hint: "Check browser.executablePath",
      }),
    ),
  )
  child.once("exit", (code, signal) => {
    const tell = () => ended.reject(endedEarly(code, signal, tail, lastWords()))
    // Its last words may still be on their way; a child of it may hold the pipe open for longer.
    if (child.stderr === null || child.stderr.closed) return tell()
    child.stderr.once("close", tell)
    setTimeout(tell, lastWordsMs).unref()
  })
  // Whoever gives up before does not look at them any more.
  for (const { promise } of [announced, ended]) promise.catch(() => undefined)
  return { announced: announced.promise, ended: ended.promise, lastWords }
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
