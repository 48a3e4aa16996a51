// What is kept of a page: console, errors, requests, bodies, cookies, storage; and pages as PDF.
import * as requests from "../requests/index.ts"
import type { ControlRequest, Route } from "./app.ts"

const { parseRequest: parse } = requests
/** The kind is in the path, and wins over one in the body. */
const withKind = ({ query, body, parameter }: ControlRequest) => ({ ...query, ...body, kind: parameter("kind") })

export const debugRoutes: Route[] = [
  ["GET", "/console", ({ caller, query }, core) => core.console(caller, parse(requests.consoleRequest, query))],
  ["GET", "/errors", ({ caller, query }, core) => core.errors(caller, parse(requests.errorsRequest, query))],
  ["GET", "/requests", ({ caller, query }, core) => core.requests(caller, parse(requests.requestsRequest, query))],
  ["POST", "/pdf", ({ caller, body }, core) => core.pdf(caller, parse(requests.pageOnly, body))],
  ["POST", "/highlight", ({ caller, body }, core) => core.highlight(caller, parse(requests.highlightRequest, body))],
  ["POST", "/response/body", ({ caller, body }, core) => core.responseBody(caller, parse(requests.bodyRequest, body))],
  ["GET", "/cookies", ({ caller, query }, core) => core.cookies(caller, parse(requests.pageOnly, query))],
  ["POST", "/cookies/set", ({ caller, body }, core) => core.setCookie(caller, parse(requests.setCookieRequest, body))],
  ["POST", "/cookies/clear", ({ caller, body }, core) => core.clearCookies(caller, parse(requests.pageOnly, body))],
  [
    "GET",
    "/storage/:kind",
    (request, core) => core.storage(request.caller, parse(requests.readStorageRequest, withKind(request))),
  ],
  [
    "POST",
    "/storage/:kind/set",
    (request, core) => core.setStorage(request.caller, parse(requests.setStorageRequest, withKind(request))),
  ],
  [
    "POST",
    "/storage/:kind/clear",
    (request, core) => core.clearStorage(request.caller, parse(requests.clearStorageRequest, withKind(request))),
  ],
]
