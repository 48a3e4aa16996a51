// The names of all tools there are, and what the lists of `agents.*.tools` say that none of them is called.
import { type ToolPolicy, unknownNames } from "../agent/tool-policy.ts"
import type { Config } from "../config/index.ts"
import type { Log } from "../kernel/index.ts"

export const toolNames = ["browser", "message", "chatapp", "skill"] as const

/** A wrong name in `deny` leaves a tool in use that was to be off: the operator has to hear of it. */
export function warnOfUnknownTools({ agents }: Config, log: Log): void {
  const policies: [string, ToolPolicy | undefined][] = [
    ["agents.defaults.tools", agents.defaults.tools],
    ...agents.list.map(({ tools }, index): [string, ToolPolicy | undefined] => [`agents.list[${index}].tools`, tools]),
  ]
  for (const [key, policy] of policies) {
    const unknown = unknownNames(policy ?? {}, toolNames)
    if (unknown.length > 0) log.warn({ key, unknown, tools: toolNames }, "tool policy names tools that do not exist")
  }
}
