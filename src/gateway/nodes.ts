// The routes of machines that offer their browser.
import { z } from "zod"
import { type Route, about, parseBody } from "./route.ts"

const node = z.string().trim().min(1).max(64)
const one = z.strictObject({ node })
const renaming = z.strictObject({ node, name: z.string().trim().min(1).max(64) })

export const nodeRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/nodes",
    // A code that is shown to nobody cannot be compared.
    handle: async ({ actions }) => ({ body: { nodes: actions.nodes.list() }, shows: "whole" }),
  },
  ...(["approve", "revoke"] as const).map((decision): Route => ({
    method: "POST",
    path: `/api/nodes/${decision}`,
    async handle({ actions }, context) {
      const wanted = await parseBody(one, context)
      const decided = await actions.nodes[decision](wanted.node)
      about(context, decided.name)
      return { body: { node: decided }, shows: "whole" }
    },
  })),
  {
    method: "POST",
    path: "/api/nodes/rename",
    async handle({ actions }, context) {
      const wanted = await parseBody(renaming, context)
      const renamed = await actions.nodes.rename(wanted.node, wanted.name)
      about(context, renamed.name)
      return { body: { node: renamed }, shows: "whole" }
    },
  },
]
