// Status, start and stop of a profile's browser, and the list of profiles.
import type { Route } from "./app.ts"

export const lifecycleRoutes: Route[] = [
  ["GET", "/", ({ caller }, core) => core.status(caller)],
  ["POST", "/start", ({ caller }, core) => core.start(caller)],
  ["POST", "/stop", ({ caller }, core) => core.stop(caller)],
  ["GET", "/profiles", (_request, core) => core.profiles()],
]
