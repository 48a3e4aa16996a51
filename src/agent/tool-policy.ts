// Which tools may be used: by an agent (`agents.*.tools`), and in a place (`groups.<id>.tools`). A tool that is not allowed
// is not there: the model is not told of it, and a call of it fails like one of a tool that does not exist.
import type { Tool } from "./tool.ts"

/** `deny` wins over `allow`; without `allow` every tool is allowed. Names in any case, `*` for all. */
export interface ToolPolicy {
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
}

export function allowedTools(tools: readonly Tool[], policy: ToolPolicy | undefined): readonly Tool[] {
  if (!policy) return tools
  const { allow = ["*"], deny = [] } = policy
  return tools.filter(({ name }) => isNamed(allow, name) && !isNamed(deny, name))
}

/** Entries that no tool has as its name: most likely written wrongly. */
export function unknownNames({ allow = [], deny = [] }: ToolPolicy, names: readonly string[]): string[] {
  return [...allow, ...deny].filter((entry) => entry.trim() !== "*" && !names.some((name) => isNamed([entry], name)))
}

function isNamed(list: readonly string[], name: string): boolean {
  return list.some((entry) => entry.trim() === "*" || entry.trim().toLowerCase() === name.toLowerCase())
}
