// The routes of a pause.
import { pauseEndpoints } from "./endpoints/pause.ts"
import { routesOf } from "./endpoint-routes.ts"
import type { Route } from "./route.ts"

export const pauseRoutes: readonly Route[] = routesOf(pauseEndpoints, {
  "GET /api/pause": ({ actions }) => ({ body: actions.pause.look() }),
  "POST /api/pause": async ({ actions }) => ({ body: await actions.pause.begin() }),
  "POST /api/resume": async ({ actions }) => ({ body: await actions.pause.end() }),
})
