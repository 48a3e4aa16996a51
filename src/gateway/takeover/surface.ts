// `/takeover/...`: for whoever has a link to a tab. The link's token stands in the fragment of its address, which no server, log
// or preview sees; the page posts it here once, and gets a key for this one tab that is good for nothing else.
import type { IncomingMessage } from "node:http"
import { type FailureThrottle, bearerToken, clientOf, jsonResponse, readJson, refuse } from "../../kernel/http/index.ts"
import { AppError } from "../../kernel/index.ts"
import { stranger } from "../access/door.ts"
import type { Audit } from "../audit/index.ts"
import { claiming, handEvents } from "../endpoints/takeovers.ts"
import { browserName } from "../page/browser-name.ts"
import { type PlaceRules, placeOf } from "../page/place.ts"
import { parse } from "../parse.ts"
import type { TakeoverDesk } from "./contract.ts"
import { streamOf } from "./stream.ts"

export const takeoverBase = "/takeover"

export interface TakeoverSurfaceOptions {
  desk: TakeoverDesk
  settings: () => PlaceRules & { enabled: boolean }
  audit: Audit
  throttle: FailureThrottle
}

const limits = { maxBytes: 256 * 1024, timeoutMs: 30_000 }
/** Of whoever has shown nothing yet. */
const claimLimits = { maxBytes: 4 * 1024, timeoutMs: 10_000 }
const used = {
  message: "This link was used already, or its time is over",
  hint: "Ask for a new one: svc browser takeover",
}

export async function handleTakeover(
  options: TakeoverSurfaceOptions,
  request: IncomingMessage,
  path: string,
): Promise<Response> {
  // What is typed there is worth as much as a sign-in.
  placeOf(request, options.settings())
  if (!options.settings().enabled) {
    throw new AppError("not-found", "The page is switched off", { hint: "Set gateway.page.enabled to true" })
  }
  const route = `${request.method} ${path.slice(takeoverBase.length)}`
  if (route === "POST /claim") return await claim(options, request)
  const open = await find(options, request)
  switch (route) {
    case "GET /stream":
      return await streamOf(open.hands)
    case "GET /":
      return jsonResponse({ ok: true, reason: open.reason, expiresAt: open.expiresAt })
    case "POST /input": {
      const { events } = parse(handEvents, await readJson(request, limits))
      await open.hands.input(events)
      return jsonResponse({ ok: true })
    }
    case "POST /give-back":
      await options.desk.giveBack(open.id)
      tell(options, request, { id: open.id, action: "takeover.give-back" })
      return jsonResponse({ ok: true })
    default:
      throw new AppError("not-found", "There is nothing under this path")
  }
}

async function claim(options: TakeoverSurfaceOptions, request: IncomingMessage): Promise<Response> {
  if (request.headers.origin === undefined) throw new AppError("forbidden-origin", "Only the page itself comes here")
  const { token, again, key } = parse(claiming, await readJson(request, claimLimits))
  const claimed = await options.desk.claim(token, again, key)
  if (!claimed) return refused(options, request)
  tell(options, request, { id: claimed.id, action: "takeover.open" })
  return jsonResponse({ ok: true, ...claimed })
}

async function find(options: TakeoverSurfaceOptions, request: IncomingMessage) {
  const key = bearerToken(request.headers.authorization)
  return (key === undefined ? undefined : await options.desk.find(key)) ?? refused(options, request)
}

function refused({ audit, throttle }: TakeoverSurfaceOptions, request: IncomingMessage): never {
  const address = request.socket.remoteAddress ?? "unknown"
  const who = stranger(clientOf(address))
  audit.count({ door: "gateway", who, action: "auth.failed", target: "takeover", outcome: "unauthorized" })
  refuse(throttle, address, used)
}

function tell(
  { audit }: TakeoverSurfaceOptions,
  request: IncomingMessage,
  { id, action }: { id: string; action: string },
): void {
  const name = browserName(request.headers["user-agent"])
  const target = `${id} ${clientOf(request.socket.remoteAddress ?? "unknown")}`
  audit.record({ door: "gateway", who: { kind: "page", id, name }, action, target, outcome: "ok" })
}
