// `/dashboard/`: its files for everybody, and the one place where a link becomes a session. The link's code stands in the
// fragment of its address, which no server, log or preview sees; the page itself posts it here.
import type { IncomingMessage } from "node:http"
import { z } from "zod"
import { type FailureThrottle, clientOf, jsonResponse, readJson, refuse } from "../../kernel/http/index.ts"
import { AppError } from "../../kernel/index.ts"
import { stranger } from "../access/door.ts"
import type { Audit } from "../audit/index.ts"
import { parse } from "../parse.ts"
import { browserName } from "./browser-name.ts"
import { cookieHeader, readCookie } from "./cookie.ts"
import type { PageFiles } from "./files.ts"
import { type PlaceRules, placeOf } from "./place.ts"
import type { PageSession, PageSessions } from "./sessions.ts"

export const pageBase = "/dashboard"
/** The page's own key, beside the cookie. */
export const keyHeader = "x-csrf-token"

export interface PageSettings extends PlaceRules {
  enabled: boolean
}

export interface PageSurfaceOptions {
  settings: () => PageSettings
  sessions: PageSessions
  files: PageFiles
  audit: Audit
  throttle: FailureThrottle
  /** Where the gateway listens. */
  port: () => number
}

export interface PageSurface {
  isBelow(path: string): boolean
  /** Whether it is one of the open files, which other sites may link to. */
  isFile(request: IncomingMessage, path: string): boolean
  handle(request: IncomingMessage, path: string): Promise<Response>
  /** Who has signed in, by cookie and key; throws `page-insecure`, and `unauthorized` where the key is missing. */
  find(request: IncomingMessage): PageSession | undefined
  /** The header that takes the cookie away. */
  forget(request: IncomingMessage): string
}

const entering = z.strictObject({ code: z.string().min(1).max(200) })
const limits = { maxBytes: 4_096, timeoutMs: 10_000 }

export function createPageSurface(options: PageSurfaceOptions): PageSurface {
  const { settings, sessions, files, port } = options
  const place = (request: IncomingMessage) => ({ port: port(), ...placeOf(request, settings()) })
  return {
    isBelow: (path) => path === pageBase || path.startsWith(`${pageBase}/`),
    isFile: ({ method }, path) => (method === "GET" || method === "HEAD") && path !== `${pageBase}/enter`,
    async handle(request, path) {
      if (!settings().enabled) {
        throw new AppError("not-found", "The page is switched off", { hint: "Set gateway.page.enabled to true" })
      }
      if (path === pageBase) return new Response(null, { status: 308, headers: { location: `${pageBase}/` } })
      if (path === `${pageBase}/enter` && request.method === "POST")
        return await enter(options, request, place(request))
      const found = this.isFile(request, path)
        ? files.serve(path.slice(pageBase.length + 1), request.headers)
        : undefined
      if (found) return found
      throw new AppError("not-found", "The page has no such file", {
        hint: path === `${pageBase}/` ? "It was not built: npm run build" : "Its address is /dashboard/",
      })
    },
    find(request) {
      if (!settings().enabled || !request.headers.cookie?.includes("svc-page-")) return undefined
      const cookie = readCookie(request.headers.cookie, place(request))
      return cookie === undefined ? undefined : sessions.find(cookie, keyOf(request))
    },
    forget: (request) => cookieHeader(place(request), undefined),
  }
}

function keyOf(request: IncomingMessage): string | undefined {
  const key = request.headers[keyHeader]
  return typeof key === "string" ? key : undefined
}

async function enter(
  { sessions, audit, throttle }: PageSurfaceOptions,
  request: IncomingMessage,
  place: { port: number; isTls: boolean },
): Promise<Response> {
  // Browsers say where a POST comes from; the guard has compared it. Whoever says nothing is no page of ours.
  if (request.headers.origin === undefined) throw new AppError("forbidden-origin", "Only the page itself signs in here")
  const { code } = parse(entering, await readJson(request, limits))
  const session = await sessions.enter(code, browserName(request.headers["user-agent"]))
  const address = request.socket.remoteAddress ?? "unknown"
  if (!session) {
    const who = stranger(clientOf(address))
    audit.count({ door: "gateway", who, action: "auth.failed", target: "page", outcome: "unauthorized" })
    refuse(throttle, address, {
      message: "This link has been used, or is older than five minutes",
      hint: "Make a new one: svc dashboard",
    })
  }
  const { cookie, key, ...who } = session
  audit.record({
    door: "gateway",
    who: { kind: "page", id: who.id, name: who.name },
    action: "page.enter",
    target: clientOf(address),
    outcome: "ok",
  })
  const response = jsonResponse({ ok: true, key, ...who })
  response.headers.append("set-cookie", cookieHeader(place, cookie, who.expiresAt - who.createdAt))
  return response
}
