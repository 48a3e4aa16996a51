// The routes of secrets: values come in and never go out.
import { Secret } from "../kernel/index.ts"
import { routesOf } from "./endpoint-routes.ts"
import { secretEndpoints } from "./endpoints/secrets.ts"
import { type Route, about, given } from "./route.ts"

export const secretRoutes: readonly Route[] = routesOf(secretEndpoints, {
  "GET /api/secrets": ({ actions }) => ({ body: { secrets: actions.secrets.list() } }),
  async "POST /api/secrets"({ actions, redactor }, { body }, context) {
    const { value, ...rest } = body
    about(context, body.name)
    if (value !== undefined) redactor.add(value)
    return {
      body: await actions.secrets.set(given({ ...rest, value: value === undefined ? undefined : new Secret(value) })),
    }
  },
  async "POST /api/secrets/remove"({ actions }, { body }, context) {
    about(context, body.name)
    return { body: await actions.secrets.remove(body.name) }
  },
})
