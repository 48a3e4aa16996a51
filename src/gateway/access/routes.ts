// `/api/tokens`, `/api/audit` and sign-ins of browsers.
import { readRange } from "../../budget/index.ts"
import { AppError } from "../../kernel/index.ts"
import { accessEndpoints } from "../endpoints/access.ts"
import { routesOf } from "../endpoint-routes.ts"
import { type Route, about, given } from "../route.ts"

export const accessRoutes: readonly Route[] = routesOf(accessEndpoints, {
  "GET /api/tokens": ({ tokens }) => ({ body: { tokens: tokens.list() } }),
  async "POST /api/tokens"({ tokens }, { body }, context) {
    about(context, body.name)
    return { body: await tokens.create(body), shows: "secret" }
  },
  async "POST /api/tokens/revoke"({ tokens }, { body }, context) {
    // Not what was typed before it is known to be a name: it could be a secret.
    const revoked = await tokens.revoke(body.token)
    about(context, revoked.name)
    return { body: revoked }
  },
  "GET /api/page/sessions": ({ page }) => ({ body: { sessions: page.sessions.list() } }),
  async "POST /api/page/sessions/end"({ page }, { body }, context) {
    const known = page.sessions.list().find(({ id }) => id === body.id)
    if (!known || !(await page.sessions.end(known.id))) {
      throw new AppError("not-found", "No browser with this id is signed in")
    }
    about(context, known.name)
    return { body: {} }
  },
  async "GET /api/audit"({ audit, clock }, { query }) {
    const { limit, action, before, ...texts } = given(query)
    // Days as the host counts them: whoever asks sits at its clock.
    const place = { now: clock.now(), timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone }
    const range = readRange(texts, place)
    await audit.flush()
    const found = audit.read({ ...range, limit: limit + 1, ...given({ action, before }) })
    const items = found.slice(0, limit)
    const more = found.length > limit
    return { body: { ...range, items, more, next: more ? (items.at(-1)?.id ?? null) : null } }
  },
})
