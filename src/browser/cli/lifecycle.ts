// Commands about the state and life of a profile's browser.
import type { ProfileStatus } from "../contract.ts"
import { type CommandSpec, plain, type Run, startMs } from "./command.ts"

export const lifecycleCommands: CommandSpec[] = [
  {
    usage: "status",
    description: "Show whether the browser runs, and which one would",
    example: "svc browser status",
    json: "ProfileStatus",
    perform: async (run) => showStatus(run),
  },
  {
    usage: "start",
    description: "Start the browser",
    example: "svc browser start --browser-profile managed",
    json: "ProfileStatus",
    perform: async (run) => {
      await run.send("POST", "/start", { body: {}, timeoutMs: startMs })
      return showRunning(run)
    },
  },
  {
    usage: "stop",
    description: "Stop the browser",
    example: "svc browser stop",
    json: "ProfileStatus",
    perform: async (run) => {
      const { stopped } = await run.send<{ stopped: boolean }>("POST", "/stop", { body: {}, timeoutMs: startMs })
      return showStopped(run, stopped)
    },
  },
]

async function showStatus({ send, io }: Run) {
  const reply = await send<ProfileStatus>("GET", "/")
  const rows: [string, unknown][] = [
    ["profile", reply.profile],
    ["enabled", reply.enabled],
    ["running", reply.running],
    ["connected", reply.connected],
    ["pid", reply.pid],
    ["cdpPort", reply.cdpPort],
    ["cdpUrl", reply.cdpUrl],
    ["browser", reply.chosenBrowser],
    ["detectedBrowser", reply.detectedBrowser],
    ["detectedPath", reply.detectedExecutablePath],
    ["profileColor", reply.color],
    ["detectError", reply.detectError],
    ["lastError", reply.lastError],
  ]
  return {
    reply,
    show: () =>
      rows
        .filter(([, value]) => value !== null)
        .forEach(([name, value]) => io.print(`${name}: ${plain(String(value))}`)),
  }
}

async function showRunning({ send, io }: Run) {
  const reply = await send<ProfileStatus>("GET", "/")
  return { reply, show: () => io.print(`profile ${reply.profile}: ${reply.running ? "running" : "stopped"}`) }
}

/** A browser that is not ours runs on; what has stopped is our using it. */
async function showStopped({ send, io }: Run, stopped: boolean) {
  const reply = await send<ProfileStatus>("GET", "/")
  const state = stopped ? "disconnected; the browser itself runs on" : "was not connected"
  return { reply, show: () => io.print(`profile ${reply.profile}: ${reply.running ? state : "stopped"}`) }
}
