// The routes of `/api/hooks`: kept deliveries of webhooks, replaying them, and trying one without sending it.
import { hookEndpoints } from "./endpoints/hooks.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Route, given } from "./route.ts"

export const hookRoutes: readonly Route[] = routesOf(hookEndpoints, {
  "GET /api/hooks": ({ actions }, { query }) => ({ body: actions.hooks.list(query) }),
  "POST /api/hooks/test": async ({ actions }, { body }) => ({ body: await actions.hooks.test(given(body)) }),
  "GET /api/hooks/:id": ({ actions }, { params }) => ({ body: actions.hooks.read(params.id) }),
  "POST /api/hooks/:id/replay": async ({ actions }, { params, body }) => ({
    body: await actions.hooks.replay(params.id, body.key),
  }),
})
