// What the control service answers about profiles and their browsers.
import { z } from "zod"

export const tabOverrides = z.object({
  targetId: z.string(),
  viewport: z.object({ width: z.number(), height: z.number() }).exactOptional(),
  offline: z.boolean().exactOptional(),
  headers: z.array(z.string()).exactOptional().describe("Names only: values may be secrets."),
  geolocation: z
    .object({
      latitude: z.number(),
      longitude: z.number(),
      accuracy: z.number(),
      origin: z.string().nullable().describe("The site that may ask for it; null until the tab shows one."),
    })
    .exactOptional(),
  colorScheme: z.enum(["dark", "light", "no-preference"]).exactOptional(),
  timezoneId: z.string().exactOptional(),
  locale: z.string().exactOptional(),
  device: z.string().exactOptional().describe("Its name."),
  credentials: z
    .object({ username: z.string(), origin: z.string().nullable() })
    .exactOptional()
    .describe("For which site they are; null until the tab shows one. Never the password."),
})

export const profileStatus = z.object({
  enabled: z.boolean(),
  profile: z.string(),
  running: z.boolean().describe("The browser can be used. A remote one may be so before it is connected to."),
  connected: z.boolean().describe("There is a connection to it now."),
  cdpReady: z.boolean().describe("The same as `running`."),
  cdpHttp: z.boolean().describe("Its CDP address answers over HTTP; false for a browser that has none."),
  pid: z.number().nullable(),
  cdpPort: z.number().nullable().describe("Null for a managed browser whose profile sets none: it listens nowhere."),
  cdpUrl: z.string().nullable().describe("Without credentials."),
  chosenBrowser: z.string().nullable(),
  detectedBrowser: z.string().nullable(),
  detectedExecutablePath: z.string().nullable(),
  detectError: z.string().nullable(),
  userDataDir: z.string().nullable(),
  color: z.string(),
  headless: z.boolean(),
  noSandbox: z.boolean(),
  executablePath: z.string().nullable(),
  attachOnly: z.boolean(),
  lastError: z.string().nullable().describe("What ended the browser, or kept it from starting, the last time."),
  overrides: z.array(tabOverrides).describe("What tabs pretend to be until it is changed."),
})

export const startReply = z.object({ ok: z.literal(true), profile: z.string() })

export const stopReply = z.object({
  ok: z.literal(true),
  stopped: z.boolean().describe("False when nothing was running. A remote browser is only disconnected from."),
  profile: z.string(),
})

export const profileInfo = z.object({
  name: z.string(),
  cdpPort: z.number().nullable().describe("Null where the browser listens nowhere."),
  cdpUrl: z.string().nullable().describe("Without credentials."),
  color: z.string(),
  running: z.boolean().describe("The browser can be used; a remote one is asked shortly."),
  connected: z.boolean(),
  tabCount: z.number(),
  isDefault: z.boolean(),
  isRemote: z.boolean(),
})

export const profileList = z.object({ profiles: z.array(profileInfo) })

export const createdProfile = z.object({
  ok: z.literal(true),
  profile: z.string(),
  cdpPort: z.number().nullable().describe("Of a remote profile."),
  cdpUrl: z.string().nullable().describe("Without credentials; null for a managed profile, which has none."),
  color: z.string(),
  isRemote: z.boolean(),
})

export const deletedProfile = z.object({
  ok: z.literal(true),
  profile: z.string(),
  deleted: z.boolean().describe("Whether there was user data, which is in the trash folder now."),
  to: z.string().exactOptional().describe("Where the data is now."),
})

export const resetReply = z.object({
  ok: z.literal(true),
  profile: z.string(),
  moved: z.boolean(),
  from: z.string(),
  to: z.string().exactOptional().describe("Where the data is now."),
})
