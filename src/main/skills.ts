// The skills of every agent, for whoever looks after them.
import { join } from "node:path"
import { inspectSkills, skillsFolder } from "../agent/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import { type Core, workspaceOf } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"

export function skillActions(core: Core): GatewayActions["skills"] {
  return {
    list: () => ({
      agents: agentIds(core).map((agent) => {
        const workspace = workspaceOf(core, agent)
        const only = core.config().agents.list.find(({ id }) => id === agent)?.skills
        const skills = inspectSkills(workspace).map((found) => ({
          name: found.name,
          isOffered: !("problem" in found) && (only === undefined || only.includes(found.name)),
          ...("problem" in found ? { description: "", problem: found.problem } : { description: found.description }),
        }))
        return { agent, folder: skillsFolder(workspace), skills }
      }),
    }),
    read(agent, name) {
      const workspace = agentIds(core).includes(agent) ? workspaceOf(core, agent) : undefined
      const found = workspace === undefined ? undefined : inspectSkills(workspace).find((one) => one.name === name)
      if (!workspace || !found || "problem" in found) {
        throw new AppError("not-found", `The agent ${agent} has no skill ${JSON.stringify(name)} that can be used`)
      }
      return { ...found, file: join(skillsFolder(workspace), name, "SKILL.md") }
    },
  }
}

function agentIds(core: Core): string[] {
  const { list } = core.config().agents
  return list.length === 0 ? [mainAgentId(core.config())] : list.map(({ id }) => id)
}
