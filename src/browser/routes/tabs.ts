// Tabs by targetId, and what is armed for them: answers to dialogs, files for choosers, downloads.
import * as requests from "../requests/index.ts"
import { pageErrors, reachErrors, route, type Route, tabErrors } from "./route.ts"

const notRunning = ["browser-not-running", "tab-not-found", "tab-ambiguous"] as const

export const tabRoutes: Route[] = [
  route("GET", "/tabs", {
    summary: "Lists the tabs; starts no browser",
    reply: "TabList",
    run: (caller, _request, core) => core.tabs(caller),
  }),
  route("POST", "/tabs/open", {
    summary: "Opens a URL in a new tab, in the background, and waits for its load",
    request: requests.openRequest,
    reply: "TabInfo",
    errors: [...tabErrors, "navigation-refused", "navigation-failed"],
    example: { url: "https://example.com" },
    run: (caller, request, core) => core.open(caller, request),
  }),
  route("POST", "/tabs/focus", {
    summary: "Brings a tab to the front",
    request: requests.focusRequest,
    reply: "Done",
    errors: notRunning,
    example: { targetId: "4C1F" },
    run: (caller, request, core) => core.focus(caller, request.targetId),
  }),
  route("POST", "/tabs/action", {
    summary: "Lists, opens, selects or closes tabs by their place in the list, counted from 0",
    request: requests.tabActionRequest,
    reply: "TabActionReply",
    errors: [...tabErrors, "browser-not-running"],
    example: { action: "select", index: 1 },
    run: (caller, request, core) => core.tabAction(caller, request),
  }),
  route("DELETE", "/tabs/:targetId", {
    summary: "Closes a tab",
    request: requests.focusRequest,
    reply: "Done",
    errors: notRunning,
    run: (caller, request, core) => core.close(caller, request.targetId),
  }),
  route("POST", "/hooks/dialog", {
    summary: "Answers the question that a page asks; when there is none, the next one",
    request: requests.dialogRequest,
    reply: "DialogReply",
    errors: tabErrors,
    example: { accept: true, promptText: "Ada" },
    run: (caller, request, core) => core.answerDialog(caller, request),
  }),
  route("POST", "/hooks/file-chooser", {
    summary: "Gives files of the uploads folder to the next file chooser, or to a file input at once",
    request: requests.chooserRequest,
    reply: "Done",
    errors: [...reachErrors, "not-found", "profile-unsupported"],
    library: true,
    files: { reads: "paths" },
    example: { paths: ["photo.jpg"], ref: "e12" },
    run: (caller, request, core) => core.chooseFiles(caller, request),
  }),
  route("POST", "/download", {
    summary: "Clicks an element and saves the file that it gives, below the downloads folder",
    request: requests.downloadRequest,
    reply: "DownloadReply",
    errors: [...reachErrors, "conflict", "profile-unsupported"],
    library: true,
    files: { gives: { field: "download.path", folder: "downloads" } },
    example: { ref: "e12", path: "report.pdf" },
    run: (caller, request, core) => core.download(caller, request),
  }),
  route("GET", "/downloads", {
    summary: "Lists the downloads that somebody waits for, and how far they are; starts no browser",
    reply: "DownloadsReply",
    run: (caller, _request, core) => core.downloadsUnderWay(caller),
  }),
  route("POST", "/wait/download", {
    summary: "Waits for the next download and saves it below the downloads folder",
    request: requests.waitDownloadRequest,
    reply: "DownloadReply",
    errors: [...pageErrors, "conflict", "profile-unsupported"],
    library: true,
    files: { gives: { field: "download.path", folder: "downloads" } },
    example: { path: "report.pdf" },
    run: (caller, request, core) => core.waitDownload(caller, request),
  }),
]
