// The cookie of the page. Its name has the port, because browsers keep cookies by host alone, and two gateways of one
// machine must not sign each other out.
import { parse } from "hono/utils/cookie"

export interface CookiePlace {
  port: number
  isTls: boolean
}

export function cookieName({ port, isTls }: CookiePlace): string {
  // The prefix is a promise that the browser holds us to: Secure, this host alone, the whole path.
  return `${isTls ? "__Host-" : ""}svc-page-${port}`
}

export function readCookie(header: string | undefined, place: CookiePlace): string | undefined {
  return parse(header ?? "")[cookieName(place)]
}

/** Without a value it is taken away. */
export function cookieHeader(place: CookiePlace, value: string | undefined, maxAgeMs = 0): string {
  const secure = place.isTls ? "; Secure" : ""
  const age = value === undefined ? 0 : Math.floor(maxAgeMs / 1000)
  return `${cookieName(place)}=${value ?? ""}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`
}
