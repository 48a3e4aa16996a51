// A browser that somebody else has started: a real Chromium with a CDP port and a folder of its own, which nothing of
// the product knows of. It can be frozen and killed.
import { spawn } from "node:child_process"
import { once } from "node:events"
import type { Readable } from "node:stream"
import { quietArguments } from "./chromium.ts"
import { temporaryFolder } from "./temporary.ts"

export interface RemoteBrowser {
  pid: number
  port: number
  /** Path of the browser's WebSocket. */
  path: string
  isAlive(): boolean
  freeze(): void
  thaw(): void
  kill(): void
  /** Targets of type page, as the browser tells them. */
  pages(): Promise<{ id: string; url: string }[]>
  stop(): Promise<void>
}

export async function startRemoteBrowser(options: { port?: number; more?: string[] } = {}): Promise<RemoteBrowser> {
  const folder = temporaryFolder()
  const child = spawn(
    process.env["SVC_TEST_BROWSER"] ?? "chromium",
    [
      `--remote-debugging-port=${options.port ?? 0}`,
      `--user-data-dir=${folder}`,
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      ...quietArguments,
      "--disable-dev-shm-usage",
      ...(options.more ?? []),
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true },
  )
  const { port, path } = await announced(child.stderr)
  const pid = child.pid as number
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
  const isAlive = () => child.exitCode === null && child.signalCode === null
  return {
    pid,
    port,
    path,
    isAlive,
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    kill: () => signal("SIGKILL"),
    async pages() {
      const list = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Record<string, string>[]
      return list.filter(({ type }) => type === "page").map(({ id = "", url = "" }) => ({ id, url }))
    },
    async stop() {
      const gone = isAlive() ? once(child, "exit") : undefined
      signal("SIGKILL")
      await gone
    },
  }
}

/** Goes on reading afterwards, so that the browser never blocks on a full pipe. */
function announced(stderr: Readable): Promise<{ port: number; path: string }> {
  return new Promise((resolve, reject) => {
    let text = ""
    stderr.setEncoding("utf8").on("data", (chunk: string) => {
      text = (text + chunk).slice(-10_000)
      const match = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)(\S+)/.exec(text)
      if (match) resolve({ port: Number(match[1]), path: match[2] as string })
    })
    stderr.once("close", () => reject(new Error(`the remote browser did not start:\n${text}`)))
  })
}
