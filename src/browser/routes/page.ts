// What is done with the page of a tab.
import { z } from "zod"
import * as requests from "../requests/index.ts"
import { pageErrors, reachErrors, refErrors, route, type Route } from "./route.ts"

export const pageRoutes: Route[] = [
  route("POST", "/navigate", {
    summary: "Sends a tab to a URL and waits for its load",
    request: requests.navigateRequest,
    reply: "NavigateReply",
    errors: [...pageErrors, "navigation-failed"],
    library: true,
    example: { url: "https://example.com", snapshot: "efficient" },
    run: (caller, request, core) => core.navigate(caller, request),
  }),
  route("GET", "/snapshot", {
    summary: "The page as text, with refs of what can be acted on",
    request: requests.snapshotRequest,
    reply: "SnapshotAnswer",
    errors: [...pageErrors, "not-found", "strict-mode"],
    library: "some",
    files: { gives: { field: "imagePath", folder: "media" } },
    example: { mode: "efficient" },
    async run(caller, request, core) {
      const reply = await core.snapshot(caller, request)
      if (reply.format === "aria") return reply
      const { image: _picture, ...rest } = reply
      return rest
    },
  }),
  route("POST", "/screenshot", {
    summary: "Saves a picture of the view, the whole page or one element",
    request: requests.screenshotRequest,
    reply: "ScreenshotReply",
    errors: [...refErrors, "not-found", "not-visible", "strict-mode"],
    library: "some",
    files: { gives: { field: "path", folder: "media" } },
    example: { fullPage: true, type: "jpeg" },
    async run(caller, request, core) {
      const { data: _picture, ...reply } = await core.screenshot(caller, request)
      return reply
    },
  }),
  route("POST", "/act", {
    summary: "One action in a page: `kind` says which; `run` does many, by a script",
    request: z.discriminatedUnion("kind", [...requests.actRequest.options, requests.runRequest]),
    reply: "ActAnswer",
    errors: [...reachErrors, "selector-unsupported", "evaluate-disabled", "evaluate-failed", "navigation-failed"],
    library: true,
    example: { kind: "click", ref: "e12" },
    parse: (fields) =>
      requests.isRun(fields)
        ? requests.parseRun(requests.runWithoutNulls(fields))
        : requests.parseAct(requests.withoutNulls(fields)),
    run: (caller, request, core) =>
      request.kind === "run" ? core.run(caller, request as requests.RunRequest) : core.act(caller, request),
  }),
]
