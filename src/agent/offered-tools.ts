// The tools of a turn: those that work in its place, and `skill` -> what its agent may use -> what its place allows.
import { type Skill, createSkillTool, selectSkills } from "./skills.ts"
import type { Tool, ToolPlace } from "./tool.ts"
import { type ToolPolicy, allowedTools } from "./tool-policy.ts"

export interface ToolSources {
  /** Those that work in this place, without `skill`. */
  tools: (place: ToolPlace) => readonly Tool[]
  /** What the agent has been taught; a turn may be allowed less. */
  skills: (agentId: string) => readonly Skill[]
  profile: (agentId: string) => { tools?: ToolPolicy }
}

/** Asked once a turn. Skills that no tool could read are not there either. */
export function offeredTools(
  sources: ToolSources,
  allowed: { skills?: readonly string[]; tools?: ToolPolicy },
  place: ToolPlace,
): { tools: readonly Tool[]; skills: readonly Skill[] } {
  const skills = selectSkills(sources.skills(place.agentId), allowed.skills)
  const skillTool = skills.length > 0 ? [createSkillTool(skills) as Tool] : []
  const ofAgent = allowedTools([...sources.tools(place), ...skillTool], sources.profile(place.agentId).tools)
  const tools = allowedTools(ofAgent, allowed.tools)
  return { tools, skills: tools.some((tool) => skillTool.includes(tool)) ? skills : [] }
}
