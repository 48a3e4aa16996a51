// The memory of agents, composed: where their notes are, which of its tools work in a place, and what people ask of it.
import type { Tool, ToolPlace } from "../agent/tool.ts"
import { type Notebook, liveTimeText } from "../agent/index.ts"
import {
  type Memory,
  type MemoryToolOptions,
  createMemory,
  createSearchTool,
  createWriteTool,
} from "../memory/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import { findSessionKey } from "../sessions/index.ts"
import { type Core, workspaceOf } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"

export interface MemoryParts {
  memory: Memory
  tools(place: Pick<ToolPlace, "recall">): readonly Tool[]
  actions: GatewayActions["memory"]
  /** For the notes that are written before a summary; undefined when none are. */
  notebook(agentId: string): Promise<Notebook | undefined>
}

export function composeMemory(core: Core): MemoryParts {
  const config = () => core.config().memory
  const memory = createMemory({
    store: core.store,
    config,
    workspace: (agentId) => workspaceOf(core, agentId),
    log: core.log.child({ part: "memory" }),
  })
  const options: MemoryToolOptions = {
    memory,
    config,
    timeText: liveTimeText(() => core.config().agents.defaults),
  }
  const search = createSearchTool(options) as Tool
  const write = createWriteTool(options) as Tool
  return {
    memory,
    tools({ recall }) {
      if (!config().enabled || recall === "nothing") return []
      return recall === "owner" ? [search, write] : [search]
    },
    actions: actionsOf(core, memory),
    async notebook(agentId) {
      if (!config().enabled || !config().flush) return undefined
      return { tool: write, known: await describeNotes(memory, agentId) }
    },
  }
}

/** Longer pieces than a model is shown: people look for themselves. */
const excerptForPeople = 600

function actionsOf(core: Core, memory: Memory): GatewayActions["memory"] {
  const agentOf = (given: string | undefined): string => {
    const { list } = core.config().agents
    const agentId = given?.toLowerCase() ?? mainAgentId(core.config())
    if (agentId === mainAgentId(core.config()) || list.some(({ id }) => id === agentId)) return agentId
    throw new AppError("not-found", `There is no agent ${JSON.stringify(given)}`, {
      hint: `Agents: ${list.map(({ id }) => id).join(", ") || "main"}`,
    })
  }
  return {
    async search({ text: question, agent, session, scope, limit }) {
      const agentId = agentOf(agent)
      const key = session === undefined ? undefined : findSessionKey(core.store, session.toLowerCase())
      const sessions = scope === "notes" ? "none" : key === undefined ? "all" : { key }
      const notes = scope !== "sessions" && key === undefined
      const found = await memory.search({ agentId, question, limit, notes, sessions, excerpt: excerptForPeople })
      return { agentId, ...found }
    },
    async list(agent) {
      const agentId = agentOf(agent)
      return { agentId, notes: await memory.list(agentId) }
    },
    read(name, agent) {
      const agentId = agentOf(agent)
      return { agentId, ...memory.read(agentId, name) }
    },
    async save(note, agent) {
      const agentId = agentOf(agent)
      return { agentId, ...(await memory.save(agentId, note)) }
    },
    async add(entry, agent) {
      const agentId = agentOf(agent)
      return { agentId, ...(await memory.write(agentId, entry)) }
    },
  }
}

const maxKnown = 12_000

/** MEMORY.md, and which other notes there are. */
async function describeNotes(memory: Memory, agentId: string): Promise<string> {
  const { name: main, text } = memory.read(agentId, "")
  const others = (await memory.list(agentId)).filter(({ name }) => name !== main)
  const lines = others.map(({ name, sections }) => `${name}${sections.length > 0 ? `: ${sections.join(", ")}` : ""}`)
  const whole = [
    text.trim() === "" ? "" : `${main}:\n${text.trim().slice(0, maxKnown)}`,
    lines.length === 0 ? "" : `Other notes, with their sections:\n${lines.join("\n").slice(0, maxKnown)}`,
  ]
  return whole.filter(Boolean).join("\n\n")
}
