// What a tab pretends to be until it is changed.
import * as requests from "../requests/index.ts"
import type { Route } from "./app.ts"

const { parseRequest: parse } = requests

export const settingRoutes: Route[] = [
  ["POST", "/set/offline", ({ caller, body }, core) => core.setOffline(caller, parse(requests.offlineRequest, body))],
  ["POST", "/set/headers", ({ caller, body }, core) => core.setHeaders(caller, parse(requests.headersRequest, body))],
  [
    "POST",
    "/set/geolocation",
    ({ caller, body }, core) => core.setGeolocation(caller, parse(requests.geolocationRequest, body)),
  ],
  ["POST", "/set/media", ({ caller, body }, core) => core.setMedia(caller, parse(requests.mediaRequest, body))],
  [
    "POST",
    "/set/timezone",
    ({ caller, body }, core) => core.setTimezone(caller, parse(requests.timezoneRequest, body)),
  ],
  ["POST", "/set/locale", ({ caller, body }, core) => core.setLocale(caller, parse(requests.localeRequest, body))],
]
