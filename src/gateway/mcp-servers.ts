// The routes of servers whose tools the agent uses.
import { z } from "zod"
import { type Route, parse, parseBody } from "./route.ts"

const named = z.object({ name: z.string().trim().min(1).max(64) })
const nothing = z.strictObject({})

export const mcpRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/mcp/servers",
    handle: async ({ actions }) => ({ body: { servers: actions.mcpServers.list() } }),
  },
  {
    method: "GET",
    path: "/api/mcp/servers/:name",
    handle: async ({ actions }, context) => ({
      body: await actions.mcpServers.inspect(parse(named, context.req.param()).name, context.req.raw.signal),
      shows: "whole",
    }),
  },
  {
    method: "POST",
    path: "/api/mcp/servers/:name/accept",
    async handle({ actions }, context) {
      await parseBody(nothing, context)
      return {
        body: await actions.mcpServers.accept(parse(named, context.req.param()).name, context.req.raw.signal),
        shows: "whole",
      }
    },
  },
]
