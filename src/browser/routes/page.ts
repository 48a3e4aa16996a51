// What is done with the page of a tab.
import type { AriaReply, ScreenshotReply, SnapshotReply } from "../contract.ts"
import { navigateRequest, parseAct, parseRequest, screenshotRequest, snapshotRequest } from "../requests/index.ts"
import type { Route } from "./app.ts"

export const pageRoutes: Route[] = [
  ["POST", "/navigate", ({ caller, body }, core) => core.navigate(caller, parseRequest(navigateRequest, body))],
  [
    "GET",
    "/snapshot",
    async ({ caller, query }, core): Promise<SnapshotReply | AriaReply> => {
      const reply = await core.snapshot(caller, parseRequest(snapshotRequest, query))
      if (reply.format === "aria") return reply
      const { image: _picture, ...rest } = reply
      return rest
    },
  ],
  [
    "POST",
    "/screenshot",
    async ({ caller, body }, core): Promise<ScreenshotReply> => {
      const { data: _picture, ...reply } = await core.screenshot(caller, parseRequest(screenshotRequest, body))
      return reply
    },
  ],
  ["POST", "/act", ({ caller, body }, core) => core.act(caller, parseAct(body))],
]
