// `/api/page/...` and `/api/stream`: links to sign in, who is signed in, and the event stream.
import type { Visit } from "../../kernel/http/index.ts"
import { AppError } from "../../kernel/index.ts"
import type { Scope } from "../access/contract.ts"
import { pageEndpoints } from "../endpoints/page.ts"
import { routesOf } from "../endpoint-routes.ts"
import type { Context } from "hono"
import type { Env, Route } from "../route.ts"
import { enterPath, linkAddresses } from "./links.ts"

export const pageRoutes: readonly Route[] = routesOf(pageEndpoints, {
  "POST /api/page/links"({ page }, _input, context) {
    const { settings, sessions, place } = page
    if (!settings().enabled) {
      throw new AppError("conflict", "The page is switched off", { hint: "Set gateway.page.enabled to true" })
    }
    const { visitor, scopes } = visitOf(context)
    // What senders of webhooks are given is no key of the house, and none of the page.
    const granted = scopes.filter((scope) => scope !== "hooks")
    if (granted.length === 0) throw new AppError("forbidden", "A token for webhooks alone opens no page")
    const issuer =
      visitor.kind === "page" ? sessions.issuerOf(visitor.id) : visitor.kind === "token" ? visitor.id : undefined
    const { code, expiresAt } = sessions.makeLink({ scopes: granted, issuer })
    const { local, others } = linkAddresses(enterPath(code), { ...place(), ...settings() })
    return { body: { url: local, others, expiresAt, scopes: granted }, shows: "secret" }
  },
  "GET /api/page/session"({ page, clock }, _input, context) {
    const { visitor, scopes } = visitOf(context)
    const session = page.sessions.list().find(({ id }) => visitor.kind === "page" && id === visitor.id)
    return { body: { session: session ?? null, scopes: [...scopes], version: page.version, now: clock.now() } }
  },
  async "POST /api/page/leave"({ page }, _input, context) {
    const { visitor } = visitOf(context)
    if (visitor.kind !== "page") throw new AppError("conflict", "Only a browser that has signed in can sign out")
    await page.sessions.end(visitor.id)
    context.header("set-cookie", page.surface.forget(context.env.incoming))
    return { body: {} }
  },
})

/** No JSON, so no endpoint: it goes on until one of the two ends it. */
export function listen(page: { feed: { listen: (listener: Listener) => Promise<Response> } }, context: Context<Env>) {
  const { scopes } = visitOf(context)
  return page.feed.listen({ scopes, lastId: context.req.header("last-event-id") })
}

interface Listener {
  scopes: readonly Scope[]
  lastId: string | undefined
}

function visitOf(context: Context<Env>): Omit<Visit, "scopes"> & { scopes: readonly Scope[] } {
  const { visit } = context.env
  if (!visit) throw new AppError("internal", "A route of the page was reached without its door")
  return { ...visit, scopes: visit.scopes as readonly Scope[] }
}
