// Status, start and stop of a profile's browser.
import { route, type Route } from "./route.ts"

const startErrors = [
  "browser-not-found",
  "browser-start-failed",
  "port-range-full",
  "profile-unsupported",
  "browser-unreachable",
] as const

export const lifecycleRoutes: Route[] = [
  route("GET", "/", {
    summary: "Whether the profile's browser runs, and which one would be started",
    reply: "ProfileStatus",
    run: (caller, _request, core) => core.status(caller),
  }),
  route("POST", "/start", {
    summary: "Starts the profile's browser; nothing happens when it runs",
    reply: "StartReply",
    errors: startErrors,
    run: (caller, _request, core) => core.start(caller),
  }),
  route("POST", "/stop", {
    summary: "Stops the profile's browser",
    reply: "StopReply",
    run: (caller, _request, core) => core.stop(caller),
  }),
]
