// The routes of backups and skills.
import { backupEndpoints } from "./endpoints/backups.ts"
import { skillEndpoints } from "./endpoints/skills.ts"
import { routesOf } from "./endpoint-routes.ts"
import type { Route } from "./route.ts"

export const upkeepRoutes: readonly Route[] = [
  ...routesOf(backupEndpoints, {
    "GET /api/backups": async ({ actions }, { query }, context) => ({
      body: await actions.backups.list(query.limit, context.req.raw.signal),
    }),
    "POST /api/backups"({ actions }) {
      actions.backups.begin()
      return { status: 202, body: {} }
    },
  }),
  ...routesOf(skillEndpoints, {
    "GET /api/skills": ({ actions }) => ({ body: actions.skills.list() }),
    "GET /api/skills/:name": ({ actions }, { params, query }) => ({
      body: actions.skills.read(query.agent, params.name),
    }),
  }),
]
