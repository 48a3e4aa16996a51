// Waits until a gateway that was started is ready: its file, then `/readyz`, with a word about what it waits for. A process
// that ends and is started again and again is told from one that takes its time.
import { readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { AppError } from "../kernel/index.ts"
import { isProcessAlive } from "../kernel/process-alive.ts"

/** What the gateway writes into the state folder when it is ready to be asked. */
export interface RunningGateway {
  pid: number
  host: string
  port: number
  tokenFile: string
  version: string
}

export interface Readiness {
  ok: boolean
  parts: Record<string, string>
  problems?: { part: string; problem: string; next?: string }[]
}

export interface WaitOptions {
  readGateway: () => RunningGateway | undefined
  /** Of whoever runs it; rejects as soon as waiting has become pointless. */
  watch: () => Promise<void>
  /** When given, only this process is waited for. */
  isMeant?: (gateway: RunningGateway) => boolean
  timeoutMs: number
  progress: (line: string) => void
  signal: AbortSignal
}

const lookEveryMs = 150
const askTimeoutMs = 3_000

export interface Ready {
  gateway: RunningGateway
  readiness: Readiness
}

/** Throws `not-ready` with what it waited for last, or what `watch` throws. */
export async function waitUntilReady(options: WaitOptions): Promise<Ready> {
  const end = performance.now() + options.timeoutMs
  let told = ""
  let last: Readiness | undefined
  for (;;) {
    const found = await look(options)
    if (found?.readiness.ok) return found
    last = found?.readiness ?? last
    const line = found ? describeWaiting(found.readiness) : "starting"
    if (line !== told) options.progress(line)
    told = line
    if (performance.now() > end) throw notReady(last, options.timeoutMs)
    await options.watch()
    await delay(lookEveryMs, undefined, { signal: options.signal }).catch(() => {
      throw new AppError("aborted", "Stopped waiting; the gateway goes on starting")
    })
  }
}

async function look({ readGateway, isMeant }: WaitOptions): Promise<Ready | undefined> {
  const gateway = readGateway()
  if (!gateway || !isProcessAlive(gateway.pid) || isMeant?.(gateway) === false) return undefined
  const readiness = await askReadiness(gateway)
  return readiness && { gateway, readiness }
}

/** Undefined when nobody answers. */
export async function askReadiness(gateway: RunningGateway): Promise<Readiness | undefined> {
  const host = reachableHost(gateway.host)
  try {
    const token = readFileSync(gateway.tokenFile, "utf8").trim()
    const response = await fetch(`http://${host}:${gateway.port}/readyz`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(askTimeoutMs),
    })
    return (await response.json()) as Readiness
  } catch {
    // It is only starting, or ending: whoever waits asks again.
    return undefined
  }
}

/** Listening on all interfaces includes loopback, and 0.0.0.0 is no address to call. */
function reachableHost(host: string): string {
  if (host === "::") return "[::1]"
  if (host === "0.0.0.0" || host === "") return "127.0.0.1"
  return host.includes(":") ? `[${host}]` : host
}

function describeWaiting({ parts, problems }: Readiness): string {
  const open = Object.entries(parts ?? {}).filter(([, state]) => state !== "ready" && state !== "off")
  const reasons = open.map(
    ([part, state]) => problems?.find((each) => each.part === part)?.problem ?? `${part} ${state}`,
  )
  return `waiting for: ${reasons.join("; ") || "its answer"}`
}

function notReady(last: Readiness | undefined, timeoutMs: number): AppError {
  const what = last ? describeWaiting(last) : "it has not answered yet"
  const next = last?.problems?.find(({ next: step }) => step !== undefined)?.next
  return new AppError("not-ready", `The gateway is not ready after ${timeoutMs / 1000} s (${what})`, {
    hint: next ?? "it goes on trying: svc status says how it does",
  })
}
