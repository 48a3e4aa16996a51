// MCP with what it needs of the rest: the agent's browser tool for callers from outside, and their way to the HTTP API.
import { readToolInput } from "../agent/tool-input.ts"
import type { Tool, ToolContext } from "../agent/tool.ts"
import type { Approvals } from "../approvals/index.ts"
import type { BrowserService, BrowserToolInput } from "../browser/index.ts"
import type { MountedMcp } from "../gateway/index.ts"
import type { Visitor } from "../kernel/http/index.ts"
import { AppError } from "../kernel/index.ts"
import { type BrowserPort, type Caller, McpServers, createMcpServer } from "../mcp/index.ts"
import { closeToolChanges } from "./approvals.ts"
import type { Core } from "./core.ts"
import { version } from "./version.ts"

export interface Mcp {
  mounted: MountedMcp
  /** Other servers' tools. */
  servers: McpServers
  /** Takes up what the configuration says of servers. */
  start(): void
  stop(): Promise<void>
}

export function composeMcp(core: Core, parts: { browser: () => BrowserService; approvals: () => Approvals }): Mcp {
  const { ids, log } = core
  const server = createMcpServer({
    version: version(),
    browser: () => (core.config().browser.enabled ? browserPort(parts.browser()) : undefined),
    ids,
    log: log.child({ part: "mcp" }),
  })
  const servers = new McpServers({
    config: () => core.config().mcp,
    version: version(),
    variables: core.environment.variables,
    store: core.store,
    background: core.background,
    redactor: core.redactor,
    onAccepted: (name) => closeToolChanges(parts.approvals(), name),
    log: log.child({ part: "mcp" }),
  })
  let following: (() => void) | undefined
  return {
    servers,
    start() {
      servers.look()
      following = core.holder.subscribe((changed) => {
        if (changed.some((path) => path.startsWith("mcp"))) servers.look()
      })
    },
    mounted: {
      handle: (request, { visitor, may, call }) =>
        server.handle(request, {
          id: visitor.id,
          may,
          call,
          drives: (action) => tellOfBrowser(core, visitor, action),
        }),
    },
    async stop() {
      following?.()
      await Promise.all([server.stop(), servers.stop()])
    },
  }
}

function browserPort({ machineTool: tool }: BrowserService): BrowserPort {
  return {
    schema: tool.inputSchema ?? {},
    description: tool.description,
    async run(input, caller, signal) {
      const read = readToolInput(tool as Tool, input)
      if (read.kind === "refused") throw new AppError("bad-request", read.reason)
      return await tool.run(read.value as BrowserToolInput, contextOf(caller, signal))
    },
  }
}

/** As the control service does: starts and stops are rows, the rest is counted by the hour. */
function tellOfBrowser({ audit }: Core, who: Visitor, action: string): void {
  if (action === "start" || action === "stop")
    audit.record({ door: "gateway", who, action: `browser.${action}`, target: "", outcome: "ok" })
  else audit.count({ door: "gateway", who, action: "browser.use", outcome: "" })
}

/** Whoever has a token with the scope may do what the control service does: nothing is asked, no site is remembered. */
function contextOf({ id }: Caller, signal: AbortSignal): ToolContext {
  return {
    agentId: "",
    sessionKey: `mcp:${id}`,
    runId: "",
    origin: "owner",
    trusted: true,
    tainted: false,
    approved: true,
    recall: "nothing",
    sites: { has: () => true, quotes: () => true, list: () => [], add: async () => undefined },
    route: null,
    signal,
  }
}
