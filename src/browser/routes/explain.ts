// Where a call would go, and why: for whoever wonders about targets, nodes and sandboxes. Nothing is started.
import * as requests from "../requests/index.ts"
import { route, type Route } from "./route.ts"

export const explainRoute: Route = route("GET", "/explain", {
  summary: "Which machine's browser a call of the agent would go to, and why; starts nothing",
  request: requests.explainRequest,
  reply: "Explanation",
  example: { target: "node" },
  run: (_caller, request, core) => core.explain(request),
})
