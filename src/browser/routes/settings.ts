// What a tab pretends to be until it is changed.
import * as requests from "../requests/index.ts"
import { pageErrors, route, type Route } from "./route.ts"

const setting = { reply: "Done", errors: [...pageErrors, "conflict"], library: true } as const

export const settingRoutes: Route[] = [
  route("POST", "/set/offline", {
    ...setting,
    summary: "Cuts the tab off from the network, or not",
    request: requests.offlineRequest,
    example: { offline: true },
    run: (caller, request, core) => core.setOffline(caller, request),
  }),
  route("POST", "/set/headers", {
    ...setting,
    summary: "Sends these headers with every request of the tab; an empty object takes them away",
    request: requests.headersRequest,
    example: { headers: { "X-Test": "1" } },
    run: (caller, request, core) => core.setHeaders(caller, request),
  }),
  route("POST", "/set/geolocation", {
    ...setting,
    summary: "Puts the tab at a place, and lets its page ask for it",
    request: requests.geolocationRequest,
    example: { latitude: 48.2, longitude: 16.4 },
    run: (caller, request, core) => core.setGeolocation(caller, request),
  }),
  route("POST", "/set/media", {
    ...setting,
    summary: "Shows the page in a colour scheme; `none` takes the setting away",
    request: requests.mediaRequest,
    example: { colorScheme: "dark" },
    run: (caller, request, core) => core.setMedia(caller, request),
  }),
  route("POST", "/set/timezone", {
    ...setting,
    summary: "Puts the tab into a time zone",
    request: requests.timezoneRequest,
    example: { timezoneId: "Europe/Vienna" },
    run: (caller, request, core) => core.setTimezone(caller, request),
  }),
  route("POST", "/set/locale", {
    ...setting,
    summary: "Gives the tab a language",
    request: requests.localeRequest,
    example: { locale: "de-AT" },
    run: (caller, request, core) => core.setLocale(caller, request),
  }),
  route("POST", "/set/device", {
    ...setting,
    summary: "Makes the tab look like a device: size, scale, touch and user agent",
    request: requests.deviceRequest,
    example: { name: "Pixel 7" },
    run: (caller, request, core) => core.setDevice(caller, request),
  }),
  route("POST", "/set/credentials", {
    ...setting,
    summary: "Answers one site that asks for a name and password: `origin`, else the tab's, else the next it shows",
    request: requests.credentialsRequest,
    example: { username: "ada", password: "secret" },
    run: (caller, request, core) => core.setCredentials(caller, request),
  }),
]
