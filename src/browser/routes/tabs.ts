// Tabs by targetId, and what is armed for them: answers to dialogs, files for choosers, downloads.
import {
  chooserRequest,
  dialogRequest,
  downloadRequest,
  focusRequest,
  openRequest,
  parseRequest,
  waitDownloadRequest,
} from "../requests/index.ts"
import type { Route } from "./app.ts"

export const tabRoutes: Route[] = [
  ["GET", "/tabs", ({ caller }, core) => core.tabs(caller)],
  ["POST", "/tabs/open", ({ caller, body }, core) => core.open(caller, parseRequest(openRequest, body))],
  ["POST", "/tabs/focus", ({ caller, body }, core) => core.focus(caller, parseRequest(focusRequest, body).targetId)],
  ["DELETE", "/tabs/:targetId", ({ caller, parameter }, core) => core.close(caller, parameter("targetId"))],
  [
    "POST",
    "/hooks/file-chooser",
    ({ caller, body }, core) => core.chooseFiles(caller, parseRequest(chooserRequest, body)),
  ],
  ["POST", "/download", ({ caller, body }, core) => core.download(caller, parseRequest(downloadRequest, body))],
  [
    "POST",
    "/wait/download",
    ({ caller, body }, core) => core.waitDownload(caller, parseRequest(waitDownloadRequest, body)),
  ],
  ["POST", "/hooks/dialog", ({ caller, body }, core) => core.answerDialog(caller, parseRequest(dialogRequest, body))],
]
