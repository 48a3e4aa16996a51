// The routes of what the agent asks an owner.
import { approvalEndpoints } from "./endpoints/approvals.ts"
import { routesOf } from "./endpoint-routes.ts"
import { type Route, given } from "./route.ts"

export const approvalRoutes: readonly Route[] = routesOf(approvalEndpoints, {
  "GET /api/approvals": ({ actions }, { query }) => ({
    body: actions.approvals.list(given(query)),
    shows: "whole",
  }),
  "GET /api/approvals/:id": ({ actions }, { params }) => ({
    body: actions.approvals.read(params.id),
    shows: "whole",
  }),
  "POST /api/approvals/:id/allow": async ({ actions }, { params }) => ({
    body: await actions.approvals.decide(params.id, "allow"),
  }),
  "POST /api/approvals/:id/deny": async ({ actions }, { params }) => ({
    body: await actions.approvals.decide(params.id, "deny"),
  }),
})
