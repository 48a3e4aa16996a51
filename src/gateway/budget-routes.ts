// The routes of `/api/budget`: how the caps on spending stand, and allowing more.
import { budgetEndpoints } from "./endpoints/budget.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Route, about, given } from "./route.ts"

export const budgetRoutes: readonly Route[] = routesOf(budgetEndpoints, {
  "GET /api/budget": ({ actions }) => ({ body: actions.budget.look() }),
  async "POST /api/budget/allow"({ actions }, { body }, context) {
    about(context, body.cap)
    const { cap, ...allowance } = given(body)
    return { body: await actions.budget.allow(cap, allowance) }
  },
})
