// Commands about the state and life of a profile's browser.
import type { ProfileInfo, ProfileStatus } from "../contract.ts"
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
      await run.send("POST", "/stop", { body: {}, timeoutMs: startMs })
      return showRunning(run)
    },
  },
  {
    usage: "profiles",
    description: "List the browser profiles",
    example: "svc browser profiles --json",
    json: "ProfileList",
    perform: async ({ send, io }) => {
      const reply = await send<{ profiles: ProfileInfo[] }>("GET", "/profiles")
      return { reply, show: () => reply.profiles.forEach((profile) => io.print(profileLine(profile))) }
    },
  },
]

async function showStatus({ send, io }: Run) {
  const reply = await send<ProfileStatus>("GET", "/")
  const rows: [string, unknown][] = [
    ["profile", reply.profile],
    ["enabled", reply.enabled],
    ["running", reply.running],
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

function profileLine(profile: ProfileInfo): string {
  const state = profile.running ? `running (${profile.tabCount} tabs)` : "stopped"
  const marks = `${profile.isDefault ? " [default]" : ""}${profile.isRemote ? " [remote]" : ""}`
  return `${profile.name}: ${state}${marks} ${profile.cdpUrl ?? "no port yet"} ${profile.color}`
}
