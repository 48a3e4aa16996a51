// The routes of machines that offer their browser. A code that is shown to nobody cannot be compared: answers are whole.
import type { Context } from "hono"
import { nodeEndpoints } from "./endpoints/nodes.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Env, type Route, about } from "./route.ts"

export const nodeRoutes: readonly Route[] = routesOf(nodeEndpoints, {
  "GET /api/nodes": ({ actions }) => ({ body: { nodes: actions.nodes.list() }, shows: "whole" }),
  "POST /api/nodes/approve": async ({ actions }, { body }, context) =>
    told(context, await actions.nodes.approve(body.node)),
  "POST /api/nodes/revoke": async ({ actions }, { body }, context) =>
    told(context, await actions.nodes.revoke(body.node)),
  "POST /api/nodes/rename": async ({ actions }, { body }, context) =>
    told(context, await actions.nodes.rename(body.node, body.name)),
})

function told<Node extends { name: string }>(context: Context<Env>, node: Node) {
  about(context, node.name)
  return { body: { node }, shows: "whole" as const }
}
