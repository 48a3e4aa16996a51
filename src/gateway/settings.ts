// The routes of the configuration as a form.
import { configEndpoints } from "./endpoints/config.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Route, about } from "./route.ts"

export const settingsRoutes: readonly Route[] = routesOf(configEndpoints, {
  "GET /api/config": ({ actions }) => ({ body: actions.config.overview() }),
  "GET /api/config/fields": ({ actions }, { query }) => ({
    body: actions.config.fields(query.section, query.entry),
  }),
  "POST /api/config/check": ({ actions }, { body }) => ({ body: actions.config.check(body.changes) }),
  "POST /api/config/save"({ actions }, { body }, context) {
    about(context, body.changes.map(({ key }) => key).join(", "))
    return { body: actions.config.save(body.changes, body.revision) }
  },
})
