// Written instructions for kinds of work, as they stand in the workspaces of agents.
import { z } from "zod"
import { define } from "./endpoint.ts"

const skill = z.object({
  name: z.string(),
  /** When to use it; empty where it cannot be used. */
  description: z.string(),
  /** Why it is left out. */
  problem: z.string().optional(),
  /** False where `agents.list[].skills` leaves it out. */
  isOffered: z.boolean(),
})

export const skillEndpoints = define({
  "GET /api/skills": {
    summary: "Lists the skills of every agent, those too that cannot be used",
    reply: z.object({
      agents: z.array(z.object({ agent: z.string(), folder: z.string(), skills: z.array(skill) })),
    }),
  },
  "GET /api/skills/:name": {
    summary: "Shows the text of a skill",
    params: z.object({ name: z.string().max(64) }),
    query: z.object({ agent: z.string().trim().toLowerCase().min(1).max(64) }),
    reply: z.object({ name: z.string(), description: z.string(), text: z.string(), file: z.string() }),
  },
})
