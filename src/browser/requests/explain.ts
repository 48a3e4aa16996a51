// The request that asks where a call would go.
import { z } from "zod"
import { word } from "./fields.ts"

export const explainRequest = z.object({
  target: z.enum(["sandbox", "host", "node"]).optional(),
  node: word.optional().describe("Name or id of a node."),
  profile: word.optional(),
  agent: word.default("main"),
  for: z.enum(["owner", "others"]).default("owner").describe("In whose turn: `others` are people without standing."),
})

export type ExplainRequest = z.infer<typeof explainRequest>
