// The routes of who may write to the agent, and why.
import type { Context } from "hono"
import type { Visitor } from "../kernel/http/index.ts"
import { peopleEndpoints } from "./endpoints/people.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Env, type Route, about, given } from "./route.ts"

export const peopleRoutes: readonly Route[] = routesOf(peopleEndpoints, {
  "GET /api/people": async ({ actions }) => ({ body: await actions.listPeople() }),
  "GET /api/pairing/:channel": async ({ actions }, { params, query }) => ({
    body: await actions.listPairing(given({ ...params, ...query })),
  }),
  async "POST /api/pairing/:channel/approve"({ actions }, { params, body }, context) {
    const approved = await actions.approvePairing(given({ ...params, by: nameOf(context), ...body }))
    about(context, params.channel, approved.account, approved.senderId)
    return { body: approved }
  },
  async "POST /api/pairing/:channel/deny"({ actions }, { params, body }, context) {
    const denied = await actions.denyPairing(given({ ...params, ...body }))
    about(context, params.channel, denied.account, denied.senderId)
    return { body: denied }
  },
  async "POST /api/pairing/:channel/revoke"({ actions }, { params, body }, context) {
    about(context, params.channel, body.account, body.senderId)
    return { body: await actions.revokePairing(given({ ...params, ...body })) }
  },
  "GET /api/channels/:channel/explain"({ actions }, { params, query: { channelPost, ...query } }) {
    const isChannelPost = channelPost === "true" || channelPost === "1" ? true : undefined
    return { body: actions.explainAccess(given({ ...params, ...query, isChannelPost })) }
  },
  "POST /api/channels/:channel/unpin": async ({ actions }, { params, body }) => ({
    body: await actions.unpinName(given({ ...params, ...body })),
  }),
})

/** Who does it, in words for a list that people read. */
export function nameOf(context: Context<Env>): string {
  const visitor: Visitor | undefined = context.env.visit?.visitor
  if (visitor?.kind === "token") return `token ${visitor.name}`
  if (visitor?.kind === "page") return `page (${visitor.name})`
  return visitor?.kind === "cli" ? "svc" : "gateway token"
}
