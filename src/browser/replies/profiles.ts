// What the control service answers about profiles and their browsers.
import { z } from "zod"

export const tabOverrides = z.object({
  targetId: z.string(),
  viewport: z.object({ width: z.number(), height: z.number() }).exactOptional(),
  offline: z.boolean().exactOptional(),
  headers: z.array(z.string()).exactOptional().describe("Names only: values may be secrets."),
  geolocation: z.object({ latitude: z.number(), longitude: z.number(), accuracy: z.number() }).exactOptional(),
  colorScheme: z.enum(["dark", "light", "no-preference"]).exactOptional(),
  timezoneId: z.string().exactOptional(),
  locale: z.string().exactOptional(),
})

export const profileStatus = z.object({
  enabled: z.boolean(),
  profile: z.string(),
  running: z.boolean(),
  cdpReady: z.boolean(),
  cdpHttp: z.boolean(),
  pid: z.number().nullable(),
  cdpPort: z.number().nullable(),
  cdpUrl: z.string().nullable(),
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
  stopped: z.boolean().describe("False when nothing of ours was running."),
  profile: z.string(),
})

export const profileInfo = z.object({
  name: z.string(),
  cdpPort: z.number().nullable(),
  cdpUrl: z.string().nullable(),
  color: z.string(),
  running: z.boolean(),
  tabCount: z.number(),
  isDefault: z.boolean(),
  isRemote: z.boolean(),
})

export const profileList = z.object({ profiles: z.array(profileInfo) })
