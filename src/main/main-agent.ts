// Which agent messages and webhooks go to.
import type { Config } from "../config/index.ts"

export function mainAgentId({ agents }: Config): string {
  return (agents.list.find((agent) => agent.default) ?? agents.list[0])?.id ?? "main"
}
