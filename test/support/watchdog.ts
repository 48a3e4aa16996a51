// Loaded into the process of every test file: says what a test waits for that has not ended, shortly before the runner
// ends it (`--test-timeout`), and ends a file whose tests are over and that something keeps alive.
import type { ChildProcess } from "node:child_process"
import { Server, Socket } from "node:net"

const testMs = 55_000
const fileMs = 600_000

/** One line for each thing that keeps the process alive. */
function whatIsAlive(): string[] {
  const known = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles().map(describeHandle)
  const kinds = process.getActiveResourcesInfo().filter((kind) => !/^(TCP|Pipe|Process|TTY)/.test(kind))
  return [...known.filter((line) => line !== undefined), ...countKinds(kinds)]
}

function describeHandle(handle: object): string | undefined {
  if (handle instanceof Server) return `a server on ${JSON.stringify(handle.address())}`
  if (handle instanceof Socket) {
    if (handle === process.stdout || handle === process.stderr || handle === process.stdin) return undefined
    const { localPort, remotePort, bytesRead, bytesWritten } = handle
    const ports = remotePort === undefined ? "a pipe" : `a connection ${localPort} -> ${remotePort}`
    return `${ports} (${bytesRead} bytes in, ${bytesWritten} out)`
  }
  if ("spawnargs" in handle) {
    const { pid, spawnargs } = handle as ChildProcess
    return `process ${pid}: ${spawnargs.join(" ").slice(0, 200)}`
  }
  return undefined
}

function countKinds(kinds: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => `${kind} x${count}`)
}

function tell(what: string): void {
  process.stderr.write(`${[what, ...whatIsAlive().map((line) => `  ${line}`)].join("\n")}\n`)
}

/** The runner and programs that a test starts load this file too, and have no tests. */
async function watchTests(): Promise<void> {
  const { afterEach, beforeEach } = await import("node:test")
  const running = new Map<string, NodeJS.Timeout>()
  beforeEach((test) => {
    const { fullName } = test as { fullName: string }
    const timer = setTimeout(() => tell(`"${fullName}" has not ended after ${testMs / 1000} s; alive:`), testMs)
    running.set(fullName, timer.unref())
  })
  afterEach((test) => {
    const { fullName } = test as { fullName: string }
    clearTimeout(running.get(fullName))
    running.delete(fullName)
  })
}

if (/\.test\.m?[jt]s$/.test(process.argv[1] ?? "") && !process.execArgv.includes("--test")) await watchTests()

setTimeout(() => {
  tell(`this test file has not ended after ${fileMs / 1000} s; alive:`)
  process.exit(1)
}, fileMs).unref()
