// What a tool is told of the turn that calls it: an owner's, before words of others have been read, unless a test says more.
import type { SessionSites, ToolContext } from "../../src/agent/tool.ts"

/** Sites of a session that is kept in memory. */
export function memorySites(named: readonly string[] = [], quoted: readonly string[] = []): SessionSites {
  const known = new Set(named)
  return {
    has: (site) => known.has(site),
    list: () => [...known],
    quotes: (address) => quoted.includes(address),
    add: async (sites) => void sites.forEach((site) => known.add(site)),
  }
}

export function toolContext(more: Partial<ToolContext> = {}): ToolContext {
  return {
    agentId: "main",
    sessionKey: "agent:main:main",
    runId: "run",
    origin: "owner",
    trusted: true,
    recall: "owner",
    tainted: false,
    approved: false,
    sites: memorySites(),
    route: null,
    signal: new AbortController().signal,
    ...more,
  }
}
