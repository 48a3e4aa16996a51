// What the control service answers about where a call would go.
import { z } from "zod"

export const explanation = z.object({
  place: z.enum(["host", "sandbox", "node", "none"]).describe("`none`: the call would be refused; `why` says it."),
  node: z.string().nullable().describe("Its name, where the place is a node."),
  why: z.string(),
  hint: z.string().nullable(),
  mode: z.enum(["auto", "manual", "off"]).describe("`gateway.nodes.browser.mode`."),
  nodes: z.array(
    z.object({ id: z.string(), name: z.string(), profiles: z.array(z.string()), defaultProfile: z.string() }),
  ),
})
