// The extension that brings in the tabs of the person's own browser.
import { route, type Route } from "./route.ts"

export const extensionRoutes: Route[] = [
  route("GET", "/extension", {
    summary: "Whether the browser extension is installed, paired and connected, and which tabs are attached",
    reply: "ExtensionStatus",
    run: (_caller, _request, core) => core.extension(),
  }),
  route("POST", "/extension/install", {
    summary: "Copies the extension's files to where a browser can load them from",
    reply: "ExtensionInstalled",
    errors: ["not-found"],
    run: (_caller, _request, core) => core.installExtension(),
  }),
  route("POST", "/extension/pair", {
    summary: "Makes a new pairing code for the extension's options; a browser that was paired before is not any more",
    reply: "ExtensionPaired",
    errors: ["port-in-use"],
    run: (_caller, _request, core) => core.pairExtension(),
  }),
]
