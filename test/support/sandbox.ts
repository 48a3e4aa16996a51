// A sandbox for tests, with an agent whose folders are temporary and sessions that a test makes and ends.
import { join } from "node:path"
import pino from "pino"
import { agentsSchema } from "../../src/agent/config.ts"
import { systemClock, systemIds } from "../../src/kernel/index.ts"
import {
  Sandbox,
  Workspaces,
  createCommands,
  createSandboxTools,
  isSandboxed,
  modeOf,
  settingsFor,
} from "../../src/sandbox/index.ts"
import type { BrowserServiceOptions } from "../../src/browser/index.ts"
import type { ToolContext, ToolResult } from "../../src/agent/tool.ts"
import { temporaryFolder } from "./temporary.ts"
import { toolContext } from "./tool-context.ts"

export function startSandboxBench(
  sandboxConfig: Record<string, unknown> = {},
  {
    proxySocket = () => Promise.reject(new Error("no proxy in this test")),
  }: { proxySocket?: () => Promise<string> } = {},
) {
  const stateFolder = temporaryFolder()
  const log = pino({ level: "silent" })
  let agents = agentsSchema.parse({ defaults: { sandbox: sandboxConfig } })
  const settings = (agentId: string) => settingsFor(agents, agentId)
  const sandbox = new Sandbox({
    folder: join(temporaryFolder(), "run"),
    environment: process.env,
    userId: process.getuid?.(),
    groupId: process.getgid?.(),
    clock: systemClock,
    ids: systemIds,
    log,
  })
  /** Ids by keys; every key has one until a test ends it. */
  const sessions = new Map<string, string>()
  const sessionId = (key: string) => {
    if (!sessions.has(key)) sessions.set(key, `id-of-${key.replace(/\W/g, "-")}`)
    return sessions.get(key)
  }
  const workspace = join(stateFolder, "workspace")
  const workspaces = new Workspaces({
    stateFolder,
    workspace: () => workspace,
    skills: () => undefined,
    sessionId,
    isCurrent: (id) => [...sessions.values()].includes(id),
  })
  let socket = proxySocket
  const run = createCommands({ sandbox, workspaces, settings, proxySocket: () => socket() })
  const mediaFolder = join(stateFolder, "media")
  const tools = createSandboxTools({ run, settings, foreign: workspaces, mediaFolder, ids: systemIds })
  const links: NonNullable<BrowserServiceOptions["sandbox"]> = {
    sandbox,
    settings,
    isSandboxed: async ({ agentId, trusted }) => {
      const own = settings(agentId)
      return isSandboxed(modeOf(own, await sandbox.probe(own)), { trusted })
    },
    sessionId,
  }
  return {
    sandbox,
    workspaces,
    workspace,
    stateFolder,
    sessions,
    run,
    tools,
    links,
    settings,
    useProxy: (given: () => Promise<string>) => void (socket = given),
    configure: (given: Record<string, unknown>) => void (agents = agentsSchema.parse({ defaults: { sandbox: given } })),
    /** Calls a tool as the loop does, its gate included. */
    async use(name: string, input: unknown, more: Partial<ToolContext> = {}): Promise<ToolResult> {
      const tool = tools.find((each) => each.name === name)
      if (!tool) throw new Error(`no tool ${name}`)
      const context = toolContext(more)
      const gated = await tool.gate?.(input, context)
      if (gated) throw new Error(`asks: ${gated.reason}`)
      return await tool.run(input, context)
    },
  }
}

/** Why tests of the sandbox cannot run on this machine; false where they can. */
export async function sandboxProblem(part: "exec" | "browser"): Promise<string | false> {
  const bench = startSandboxBench()
  try {
    return (await bench.sandbox.probe(bench.settings("main")))[part]?.message ?? false
  } finally {
    await bench.sandbox.stop()
  }
}

export type SandboxBench = ReturnType<typeof startSandboxBench>

export function textOf({ content: [first] }: ToolResult): string {
  return first?.type === "text" ? first.text : ""
}
