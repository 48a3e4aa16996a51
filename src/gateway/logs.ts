// The route of `/api/logs`.
import { logEndpoints } from "./endpoints/logs.ts"
import { routesOf } from "./endpoint-routes.ts"
import { readLog } from "./log-reader.ts"
import type { Route } from "./route.ts"

export const logRoutes: readonly Route[] = routesOf(logEndpoints, {
  "GET /api/logs": ({ logFolder }, { query }) => ({ body: readLog(logFolder, query) }),
})
