// What a tab pretends to be: offline, headers, login, place, colour scheme, time zone, language, device. Lasts until it is
// changed.
import { Secret } from "../kernel/index.ts"
import { type CoreOptions, createAccess, limits } from "./access.ts"
import type { Caller } from "./caller.ts"
import type { Guard } from "./guard.ts"
import { findDevice } from "./page/devices.ts"
import type { OverrideState } from "./page/overrides.ts"
import type { Tab } from "./page/tab.ts"
import type * as requests from "./requests/index.ts"

interface Done {
  ok: true
  targetId: string
}

export function settingOperations(options: CoreOptions) {
  const { guard } = options
  const { needLibrary, needWholeBrowser, pick } = createAccess(options)
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
      const { clear, latitude, longitude, accuracy } = request
      needLibrary("geolocation")
      needWholeBrowser(caller, "which site may know the place is for the person to allow")
      const tab = await pick(caller, request.targetId)
      const before = tab.overrides.state.geolocation?.origin
      const isPlace = !clear && latitude !== undefined && longitude !== undefined
      const origin = request.origin === undefined ? originOf(tab.url) : new URL(request.origin).origin
      const geolocation = isPlace ? { latitude, longitude, accuracy, origin } : undefined
      const reply = await set("geolocation", caller, tab.targetId, { geolocation })
      if (before !== undefined && before !== geolocation?.origin) await letLocate(tab, before, "prompt", guard)
      if (geolocation?.origin !== undefined) await letLocate(tab, geolocation.origin, "granted", guard)
      return reply
    },
    /** A view that was set before is the device's now; one that is set later changes the device's size alone. */
    async setDevice(caller: Caller, { targetId, name, clear }: requests.DeviceRequest): Promise<Done> {
      needLibrary("device emulation")
      if (clear || name === undefined)
        return set("device", caller, targetId, { device: undefined, viewport: undefined })
      return set("device", caller, targetId, { device: await findDevice(name), viewport: undefined })
    },
    async setCredentials(caller: Caller, request: requests.CredentialsRequest): Promise<Done> {
      needLibrary("http credentials")
      needWholeBrowser(caller, "logins are asked of the person")
      const { username, password, clear } = request
      const tab = await pick(caller, request.targetId)
      await tab.operate(limits("Setting the credentials", 10_000, caller), async ({ signal }) => {
        if (clear || username === undefined) return tab.credentials.set(undefined, signal)
        const origin = request.origin === undefined ? originOf(tab.url) : new URL(request.origin).origin
        await tab.credentials.set({ username, password: new Secret(password), origin }, signal)
      })
      return { ok: true, targetId: tab.targetId }
    },
  }
}

/**
 * A place that was set before the tab had a site is for the first one that it is sent to. The leave is given with each
 * visit: the browser forgets it when a connection is lost.
 */
export async function placeFor(tab: Tab, url: string, guard: Guard, signal: AbortSignal): Promise<void> {
  const place = tab.overrides.state.geolocation
  const origin = originOf(url)
  if (!place || origin === undefined || (place.origin ?? origin) !== origin) return
  await letLocate(tab, origin, "granted", guard)
  if (place.origin === undefined) await tab.overrides.set({ geolocation: { ...place, origin } }, signal)
}

/** This permission alone: granting several at once would refuse all others. */
async function letLocate(tab: Tab, origin: string, setting: "granted" | "prompt", guard: Guard): Promise<void> {
  const permission = { name: "geolocation" }
  await tab.browser.send("Browser.setPermission", { permission, setting, origin, ...guard.contextOf(tab) })
}

/** The site of a page; undefined for pages that have none. */
function originOf(url: string): string | undefined {
  return /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : undefined
}
