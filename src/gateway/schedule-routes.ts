// The routes of `/api/schedules`.
import { scheduleEndpoints } from "./endpoints/schedules.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Route, about, given } from "./route.ts"

export const scheduleRoutes: readonly Route[] = routesOf(scheduleEndpoints, {
  "GET /api/schedules": ({ actions }, { query }) => ({
    body: actions.schedules.list({ ended: query.ended === "true" || query.ended === "1" }),
  }),
  async "POST /api/schedules"({ actions }, { body }, context) {
    const { key, ...wish } = body
    const made = await actions.schedules.add(given(wish), key)
    about(context, made.id)
    return { body: made }
  },
  "GET /api/schedules/:id": ({ actions }, { params }) => ({ body: actions.schedules.read(params.id) }),
  async "POST /api/schedules/:id/run"({ actions }, { params, body }, context) {
    about(context, params.id)
    return { status: 202, body: await actions.schedules.run(params.id, body.key) }
  },
  async "POST /api/schedules/:id/pause"({ actions }, { params }, context) {
    about(context, params.id)
    return { body: await actions.schedules.pause(params.id) }
  },
  async "POST /api/schedules/:id/resume"({ actions }, { params }, context) {
    about(context, params.id)
    return { body: await actions.schedules.resume(params.id) }
  },
  async "POST /api/schedules/:id/remove"({ actions }, { params }, context) {
    about(context, params.id)
    return { body: await actions.schedules.remove(params.id) }
  },
})
