// GET /openapi.json: the document of all routes, itself included.
import { openApiDocument } from "../openapi/document.ts"
import { route, type Route } from "./route.ts"

export function openApiRoute(others: readonly Route[]): Route {
  let document: Record<string, unknown> | undefined
  const own: Route = route("GET", "/openapi.json", {
    summary: "This document",
    reply: "OpenApiDocument",
    run: () => (document ??= openApiDocument([...others, own])),
  })
  return own
}
