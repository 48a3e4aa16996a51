// The requests of POST /set/*: what a tab pretends to be until it is changed.
import { z } from "zod"
import { flag, numeric, target, word } from "./fields.ts"

const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, "is not the name of a header")
const headerValue = z.string().regex(/^[^\r\n\0]*$/, "must be one line")

function isTimeZone(timeZone: string): boolean {
  return accepts(() => new Intl.DateTimeFormat("en", { timeZone }))
}

function isLocale(locale: string): boolean {
  return accepts(() => Intl.getCanonicalLocales(locale))
}

function accepts(use: () => unknown): boolean {
  try {
    use()
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

export const offlineRequest = z.object({ ...target, offline: flag })
export const headersRequest = z.object({ ...target, headers: z.record(headerName, headerValue) })
export const mediaRequest = z.object({
  ...target,
  colorScheme: z.enum(["dark", "light", "no-preference", "none"]),
})
export const timezoneRequest = z.object({
  ...target,
  timezoneId: word.refine(isTimeZone, "is not a time zone, such as Europe/Vienna"),
})
export const localeRequest = z.object({ ...target, locale: word.refine(isLocale, "is not a locale, such as de-AT") })
export const geolocationRequest = z
  .object({
    ...target,
    clear: flag.default(false),
    latitude: numeric(z.number().min(-90).max(90)).optional(),
    longitude: numeric(z.number().min(-180).max(180)).optional(),
    accuracy: numeric(z.number().min(0)).default(10),
    origin: z.url({ protocol: /^https?$/ }).optional(),
  })
  .refine(
    ({ clear, latitude, longitude }) => clear || (latitude !== undefined && longitude !== undefined),
    "latitude and longitude are needed, or clear",
  )

export const deviceRequest = z
  .object({ ...target, name: word.optional(), clear: flag.default(false) })
  .refine(({ name, clear }) => clear || name !== undefined, "name is needed, or clear")
export const credentialsRequest = z
  .object({
    ...target,
    // A name with a colon cannot be told from the password behind it.
    username: z
      .string()
      .min(1)
      .max(1_000)
      .regex(/^[^:\r\n\0]*$/, "must be one line without a colon")
      .optional(),
    password: z
      .string()
      .max(1_000)
      .regex(/^[^\r\n\0]*$/, "must be one line")
      .default(""),
    /** The site that they are for. */
    origin: z.url({ protocol: /^https?$/ }).optional(),
    clear: flag.default(false),
  })
  .refine(({ username, clear }) => clear || username !== undefined, "username is needed, or clear")

export type DeviceRequest = z.infer<typeof deviceRequest>
export type CredentialsRequest = z.infer<typeof credentialsRequest>
export type OfflineRequest = z.infer<typeof offlineRequest>
export type HeadersRequest = z.infer<typeof headersRequest>
export type MediaRequest = z.infer<typeof mediaRequest>
export type TimezoneRequest = z.infer<typeof timezoneRequest>
export type LocaleRequest = z.infer<typeof localeRequest>
export type GeolocationRequest = z.infer<typeof geolocationRequest>
