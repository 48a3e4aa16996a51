// The routes of `/api/browser`: what the page shows of the browsers. The control service has all of browser control.
import type { Context } from "hono"
import { browserEndpoints, liveQuery } from "./endpoints/browser.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type ApiOptions, type Env, type Route, about, parse } from "./route.ts"

export const browserRoutes: readonly Route[] = routesOf(browserEndpoints, {
  "GET /api/browser": ({ actions }) => ({ body: actions.browser.list() }),
  async "POST /api/browser/start"({ actions }, { body }, context) {
    about(context, body.profile)
    await actions.browser.start(body.profile, context.req.raw.signal)
    return { body: {} }
  },
  async "POST /api/browser/stop"({ actions }, { body }, context) {
    about(context, body.profile)
    const { stopped } = await actions.browser.stop(body.profile)
    return { body: { stopped } }
  },
  async "POST /api/browser/open"({ actions }, { body }, context) {
    about(context, body.profile)
    return { body: await actions.browser.open(body.profile, body.url, context.req.raw.signal) }
  },
  async "POST /api/browser/close"({ actions }, { body }, context) {
    about(context, body.profile)
    await actions.browser.close(body.profile, body.targetId)
    return { body: {} }
  },
  "GET /api/browser/snapshot": async ({ actions }, { query }, context) => ({
    body: await actions.browser.snapshot(query.profile, query.targetId, context.req.raw.signal),
  }),
})

export async function watchBrowser({ actions }: ApiOptions, context: Context<Env>): Promise<Response> {
  const { profile, targetId } = parse(liveQuery, context.req.query())
  const lines = await actions.browser.watch(profile, targetId, context.req.raw.signal)
  return new Response(lines, {
    headers: { "content-type": "application/x-ndjson; charset=utf-8", "x-accel-buffering": "no" },
  })
}
