// The sandbox with what it needs of the rest: the configuration, the sessions, the workspace, and the proxy of the browser
// service, through which alone anything in it reaches the network.
import { mkdirSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Tool, ToolPlace } from "../agent/tool.ts"
import type { BrowserServiceOptions } from "../browser/index.ts"
import type { CommandServices } from "../channels/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import { isProcessAlive } from "../kernel/process-alive.ts"
import { pruneFolder } from "../kernel/prune-folder.ts"
import {
  type RunCommand,
  Sandbox,
  Workspaces,
  createCommands,
  createSandboxTools,
  describeEnd,
  explainSandbox,
  isSandboxed,
  modeOf,
  settingsFor,
  shellLine,
} from "../sandbox/index.ts"
import { isSessionId, sessionIdOf } from "../sessions/index.ts"
import { type Core, workspaceOf } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"

export interface SandboxParts {
  /** For the browser service. */
  links: NonNullable<BrowserServiceOptions["sandbox"]>
  tools(place: ToolPlace): readonly Tool[]
  /** For `/bash`. */
  shell: CommandServices["shell"]
  actions: GatewayActions["sandbox"]
  /** A sandbox that was asked for and does not work; undefined where none is asked for. */
  problem(): Promise<AppError | undefined>
  start(): void
  stop(): Promise<void>
}

const sweepMs = 60_000
const keepSentMs = 7 * 24 * 60 * 60_000
const maxSentBytes = 1024 * 1024 * 1024
/** The path of a Unix socket has at most 107 bytes. */
const longestFolder = 70

export function composeSandbox(core: Core, proxySocket: () => Promise<string>): SandboxParts {
  const { store, clock, ids, environment } = core
  const log = core.log.child({ part: "sandbox" })
  const settings = (agentId: string) => settingsFor(core.config().agents, agentId)
  const sandbox = new Sandbox({
    folder: ownFolder(core),
    environment: environment.variables,
    userId: process.getuid?.(),
    groupId: process.getgid?.(),
    clock,
    ids,
    log,
  })
  const workspaces = new Workspaces({
    stateFolder: environment.stateFolder,
    workspace: (agentId) => workspaceOf(core, agentId),
    skills: (agentId) => core.config().agents.list.find(({ id }) => id === agentId)?.skills,
    sessionId: (key) => sessionIdOf(store, key),
    isCurrent: (id) => isSessionId(store, id),
  })
  const run = createCommands({ sandbox, workspaces, settings, proxySocket })
  const mediaFolder = join(environment.stateFolder, "media")
  const tools = createSandboxTools({ run, settings, foreign: workspaces, mediaFolder, ids })
  const mode = async (agentId: string) => {
    const own = settings(agentId)
    return own.mode ?? modeOf(own, await sandbox.probe(own))
  }
  const sweeps = createSweeps(core, async () => {
    workspaces.sweep()
    await pruneFolder(join(mediaFolder, "sandbox"), {
      now: store.pruneTime(),
      keepMs: keepSentMs,
      maxBytes: maxSentBytes,
    })
  })
  return {
    links: {
      sandbox,
      settings,
      isSandboxed: async ({ agentId, trusted }) => isSandboxed(await mode(agentId), { trusted }),
      sessionId: (key) => sessionIdOf(store, key),
    },
    tools({ agentId, trusted }) {
      const { tools: who } = settings(agentId)
      return who === "all" || (who === "trusted" && trusted) ? tools : []
    },
    shell: composeShell(core, run, settings),
    actions: createSandboxActions(core, sandbox),
    async problem() {
      const own = settings(mainAgentId(core.config()))
      const needsBrowser = own.mode !== undefined && own.mode !== "off"
      if (!needsBrowser && own.tools === "off") return undefined
      const { exec, browser } = await sandbox.probe(own)
      return exec ?? (needsBrowser ? browser : undefined)
    },
    start() {
      sweeps.start()
      core.background.run("try the sandbox", () => tellProbe(core, sandbox))
    },
    async stop() {
      sweeps.stop()
      await sandbox.stop()
    },
  }
}

/** Never in silence: who relies on a sandbox must hear that there is none. */
async function tellProbe(core: Core, sandbox: Sandbox): Promise<void> {
  const own = settingsFor(core.config().agents, mainAgentId(core.config()))
  if (own.mode === "off" && own.tools === "off") return
  const { exec, browser, ...facts } = await sandbox.probe(own)
  const log = core.log.child({ part: "sandbox" })
  const fault = exec ?? browser
  if (!fault) return log.info({ ...facts, mode: modeOf(own, {}) }, "sandbox works")
  const what = own.mode === undefined ? "no session is sandboxed" : "what needs the sandbox fails until it is mended"
  log.warn({ ...facts, problem: fault.message, mend: fault.hint }, `the sandbox does not work here: ${what}`)
}

function createSweeps({ background }: Core, sweep: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined
  const look = () => background.run("sandbox leftovers", sweep)
  return {
    start() {
      look()
      timer = setInterval(look, sweepMs).unref()
    },
    stop: () => clearInterval(timer),
  }
}

/** Short, private, and known by the process whose it is, so that what a killed gateway left can be removed. */
function ownFolder({ environment, bootId }: Core): string {
  const { runtimeFolder } = environment
  const base = runtimeFolder.length > longestFolder ? tmpdir() : runtimeFolder
  mkdirSync(base, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(base)) {
    const pid = /^svc-box-(\d+)-/.exec(name)?.[1]
    if (pid !== undefined && !isProcessAlive(Number(pid))) rmSync(join(base, name), { recursive: true, force: true })
  }
  const folder = join(base, `svc-box-${process.pid}-${bootId.slice(0, 8)}`)
  mkdirSync(folder, { mode: 0o700, recursive: true })
  return folder
}

function composeShell(core: Core, run: RunCommand, settings: (agentId: string) => ReturnType<typeof settingsFor>) {
  return {
    isOn: () => core.config().commands.bash,
    async run({ agentId, sessionKey, command }: { agentId: string; sessionKey: string; command: string }) {
      const timeoutMs = settings(agentId).exec.timeoutSeconds * 1000
      const result = await run({ agentId, sessionKey, trusted: true }, { argv: shellLine(command) })
      return { output: result.output.toString("utf8").trimEnd(), end: describeEnd(result, timeoutMs) }
    },
  }
}

function createSandboxActions(core: Core, sandbox: Sandbox): GatewayActions["sandbox"] {
  return {
    list: () => sandbox.list(),
    async explain(agent = mainAgentId(core.config())) {
      const { agents } = core.config()
      const isKnown = agent === mainAgentId(core.config()) || agents.list.some(({ id }) => id === agent)
      if (!isKnown) throw new AppError("not-found", `There is no agent ${JSON.stringify(agent.slice(0, 64))}`)
      const settings = settingsFor(agents, agent)
      const probe = await sandbox.probe(settings, { fresh: true })
      return explainSandbox(agent, settings, probe, join(workspaceOf(core, agent), "work"))
    },
    async stop(target) {
      const wanted = (id: string) => target === "all" || id.startsWith(target)
      const found = sandbox.list().filter(({ id }) => wanted(id))
      if (found.length === 0 && target !== "all") {
        throw new AppError("not-found", `No sandbox has the id ${target}`, { hint: "svc sandbox list shows them" })
      }
      const ids = new Set(found.map(({ id }) => id))
      return await sandbox.stopBoxes(({ id }) => ids.has(id))
    },
  }
}
