// What a tab pretends to be: offline, headers, place, colour scheme, time zone, language. Lasts until it is changed.
import { type Caller, type CoreOptions, createAccess, limits } from "./access.ts"
import type { OverrideState } from "./page/overrides.ts"
import type * as requests from "./requests/index.ts"

interface Done {
  ok: true
  targetId: string
}

export function settingOperations(options: CoreOptions) {
  const { needLibrary, pick } = createAccess(options)
  const set = async (
    what: string,
    caller: Caller,
    targetId: string | undefined,
    changes: { [Key in keyof OverrideState]?: OverrideState[Key] | undefined },
  ): Promise<Done> => {
    needLibrary(what)
    const tab = await pick(caller, targetId)
    await tab.operate(limits(`Setting ${what}`, 10_000, caller), ({ signal }) => tab.overrides.set(changes, signal))
    return { ok: true, targetId: tab.targetId }
  }
  return {
    setOffline: (caller: Caller, { targetId, offline }: requests.OfflineRequest) =>
      set("offline", caller, targetId, { offline: offline || undefined }),
    setHeaders: (caller: Caller, { targetId, headers }: requests.HeadersRequest) =>
      set("headers", caller, targetId, { headers: Object.keys(headers).length === 0 ? undefined : headers }),
    setMedia: (caller: Caller, { targetId, colorScheme }: requests.MediaRequest) =>
      set("media emulation", caller, targetId, { colorScheme: colorScheme === "none" ? undefined : colorScheme }),
    setTimezone: (caller: Caller, { targetId, timezoneId }: requests.TimezoneRequest) =>
      set("timezone", caller, targetId, { timezoneId }),
    setLocale: (caller: Caller, { targetId, locale }: requests.LocaleRequest) =>
      set("locale", caller, targetId, { locale }),
    async setGeolocation(caller: Caller, request: requests.GeolocationRequest): Promise<Done> {
      const { targetId, clear, latitude, longitude, accuracy } = request
      if (clear || latitude === undefined || longitude === undefined)
        return set("geolocation", caller, targetId, { geolocation: undefined })
      const reply = await set("geolocation", caller, targetId, { geolocation: { latitude, longitude, accuracy } })
      const tab = await pick(caller, reply.targetId)
      const origin = request.origin ?? (URL.canParse(tab.url) ? new URL(tab.url).origin : "null")
      // A page without an origin of its own cannot be given leave; the place is set all the same.
      if (origin !== "null")
        await tab.browser.send("Browser.grantPermissions", { permissions: ["geolocation"], origin })
      return reply
    },
  }
}
