// `/api/browser/takeovers`: links to tabs, and taking them back.
import { AppError } from "../../kernel/index.ts"
import { routesOf } from "../endpoint-routes.ts"
import { takeoverEndpoints } from "../endpoints/takeovers.ts"
import { linkAddresses } from "../page/links.ts"
import { type Route, about, given } from "../route.ts"

export const takeoverPage = "/dashboard/takeover.html#"

export const takeoverRoutes: readonly Route[] = routesOf(takeoverEndpoints, {
  "GET /api/browser/takeovers": ({ actions }, { query }) => ({
    body: { takeovers: actions.takeovers.list(query.limit) },
  }),
  async "POST /api/browser/takeovers"({ actions, page }, { body }, context) {
    const { settings, place } = page
    if (!settings().enabled) {
      throw new AppError("conflict", "The page is switched off, and with it this one", {
        hint: "Set gateway.page.enabled to true",
      })
    }
    const { token, ...link } = await actions.takeovers.link(given(body))
    about(context, link.id)
    const { local, others } = linkAddresses(takeoverPage + token, { ...place(), ...settings() })
    return { body: { ...link, url: local, others }, shows: "secret" }
  },
  async "POST /api/browser/takeovers/:id/end"({ actions }, { params }, context) {
    const ended = await actions.takeovers.end(params.id)
    about(context, ended.id)
    return { body: ended }
  },
})
