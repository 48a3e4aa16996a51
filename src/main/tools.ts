// The tools of the product as a whole: their names, what the lists of `agents.*.tools` say, and how a model is shown them.
import { type ToolSources, offeredTools } from "../agent/offered-tools.ts"
import type { ConfirmRule } from "../agent/confirm.ts"
import { type ToolPolicy, unknownNames } from "../agent/tool-policy.ts"
import { toolSchemas } from "../agent/tool-runner.ts"
import type { Config } from "../config/index.ts"
import type { Log } from "../kernel/index.ts"
import type { ToolSchema } from "../models/index.ts"
import { memoryToolNames } from "../memory/index.ts"
import { sandboxToolNames } from "../sandbox/index.ts"

export const toolNames = [
  "browser",
  "message",
  "chatapp",
  "schedule",
  ...memoryToolNames,
  "skill",
  ...sandboxToolNames,
] as const

/** `agents.list[].tools`, else `agents.defaults.tools`; undefined: all tools. */
export function toolPolicyOf({ agents }: Config, agentId: string): ToolPolicy | undefined {
  return agents.list.find((agent) => agent.id === agentId)?.tools ?? agents.defaults.tools
}

/** Those of the defaults and of the agent together. */
export function confirmRulesOf({ agents }: Config, agentId: string): ConfirmRule[] {
  const own = agents.list.find((agent) => agent.id === agentId)?.tools?.confirm ?? []
  return [...(agents.defaults.tools?.confirm ?? []), ...own]
}

/** What a model is shown in a turn of an owner that has no chat. */
export function schemasForCheck(sources: ToolSources, agentId: string): ToolSchema[] {
  const place = { agentId, route: null, origin: "owner", trusted: true, recall: "owner" } as const
  return toolSchemas(offeredTools(sources, {}, place).tools)
}

/** A wrong name in `deny` leaves a tool in use that was to be off: the operator has to hear of it. */
export function warnOfUnknownTools({ agents }: Config, log: Log): void {
  const policies: [string, ToolPolicy | undefined][] = [
    ["agents.defaults.tools", agents.defaults.tools],
    ...agents.list.map(({ tools }, index): [string, ToolPolicy | undefined] => [`agents.list[${index}].tools`, tools]),
  ]
  for (const [key, policy] of policies) {
    // Those of other servers are known when their server has told them.
    const unknown = unknownNames(policy ?? {}, toolNames).filter((name) => !name.startsWith("mcp_"))
    const asked = (policy as { confirm?: ConfirmRule[] } | undefined)?.confirm ?? []
    const unmet = asked.map(({ tool }) => tool).filter((name) => !name.includes("*") && !name.startsWith("mcp_"))
    unknown.push(...unknownNames({ allow: unmet }, toolNames))
    if (unknown.length > 0) log.warn({ key, unknown, tools: toolNames }, "tool policy names tools that do not exist")
  }
}
