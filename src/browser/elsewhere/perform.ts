// The node's side: a request of the gateway, made on the browsers of this machine, as far as its owner lets the gateway. The
// profile is checked wherever it may be named, and what is not listed is as if it were not there.
import { randomUUID } from "node:crypto"
import { basename } from "node:path"
import {
  AppError,
  type Json,
  type JsonObject,
  isJsonObject,
  siteOf,
  toAppError,
  toErrorBody,
} from "../../kernel/index.ts"
import type { BrowserCore, Caller } from "../core.ts"
import { relayName } from "../profiles/definitions.ts"
import { dispatch, findRoute } from "../routes/dispatch.ts"
import type { RouteFiles } from "../routes/route.ts"

export interface OfferedBrowser {
  core: BrowserCore
  /** Names that there are, and the one that is used when none is named. */
  profiles(): { names: readonly string[]; defaultName: string }
  /** `nodeHost.browserProxy`. */
  settings(): { enabled: boolean; allowProfiles?: readonly string[] | undefined }
}

export interface PerformedCall {
  status: number
  body: unknown
  /** Made for this answer: whoever sends them removes them. */
  files: { field: string; path: string; name: string }[]
}

/** What is offered now; undefined while nothing is. */
export function offerOf(browser: Pick<OfferedBrowser, "profiles" | "settings">) {
  const { enabled, allowProfiles } = browser.settings()
  if (!enabled) return undefined
  const { names, defaultName } = browser.profiles()
  const profiles = allowProfiles === undefined ? [...names] : names.filter((name) => allowProfiles.includes(name))
  const [first] = profiles
  if (first === undefined) return undefined
  return { profiles, defaultProfile: profiles.includes(defaultName) ? defaultName : first }
}

/** Never rejects: an error is an answer. `files` are those that came with the call. */
export async function performForGateway(
  browser: OfferedBrowser,
  params: unknown,
  files: readonly { field: string; path: string }[],
  signal: AbortSignal,
): Promise<PerformedCall> {
  try {
    return await perform(browser, callIn(params), files, signal)
  } catch (error) {
    const known = toAppError(error)
    return { status: known.status, body: toErrorBody(known), files: [] }
  }
}

interface Wanted {
  method: string
  path: string
  query: JsonObject
  body: JsonObject
  profile: string | undefined
  guest: string | undefined
  staysOn: { sites: readonly string[]; orNone: boolean } | undefined
}

function callIn(params: unknown): Wanted {
  const { method, path, query = {}, body = {}, profile, guest, staysOn } = objectIn(params, "params")
  if (typeof method !== "string" || typeof path !== "string" || !path.startsWith("/")) {
    throw new AppError("bad-request", "path: must be a path of the control service, and method one of its methods")
  }
  return {
    method: method.toUpperCase(),
    path,
    query: objectIn(query, "query"),
    body: objectIn(body, "body"),
    profile: textIn(profile, "profile"),
    guest: textIn(guest, "guest"),
    staysOn: staysOn === undefined ? undefined : staysOnIn(objectIn(staysOn, "staysOn")),
  }
}

function objectIn(value: unknown, name: string): JsonObject {
  if (isJsonObject(value as Json)) return value as JsonObject
  throw new AppError("bad-request", `${name}: must be an object`)
}

function textIn(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== "string") throw new AppError("bad-request", `${name}: must be a string`)
  const text = value.trim()
  return text === "" ? undefined : text
}

function staysOnIn({ sites, orNone }: JsonObject): { sites: string[]; orNone: boolean } {
  const list = Array.isArray(sites) ? sites.filter((site) => typeof site === "string") : []
  return { sites: list, orNone: orNone === true }
}

async function perform(
  browser: OfferedBrowser,
  wanted: Wanted,
  files: readonly { field: string; path: string }[],
  signal: AbortSignal,
): Promise<PerformedCall> {
  const offer = offerOf(browser)
  if (!offer) throw notOffered()
  const { method, path } = wanted
  const route = path.startsWith("/look/") ? undefined : findRoute(method, path).route
  checkRoute(browser, { method, path, named: route ? findRoute(method, path).named : {} }, offer)
  const profile = profileOf(browser, wanted, offer)
  const { profile: _inQuery, ...query } = wanted.query
  const { profile: _inBody, ...body } = wanted.body
  const request = { method, path, query: query as Record<string, string>, body: withFiles(body, route?.files, files) }
  const reply = await dispatch(browser.core, request, callerOf(browser, wanted, profile, signal))
  return answerOf(limitList(browser, route?.path, reply, offer), route?.files?.gives)
}

type Offer = NonNullable<ReturnType<typeof offerOf>>

/** Which browser profiles there are on this machine is its owner's business, once some are picked out. */
function checkRoute(
  browser: OfferedBrowser,
  { path, named }: { method: string; path: string; named: Readonly<Record<string, string>> },
  { profiles }: Offer,
): void {
  if (browser.settings().allowProfiles === undefined) return
  const changesProfiles = path === "/profiles/create" || named["name"] !== undefined
  if (changesProfiles) {
    throw new AppError("node-refused", "This node lets the gateway use some of its profiles, and change none", {
      hint: "nodeHost.browserProxy.allowProfiles on the node",
    })
  }
  if (path.startsWith("/extension") && !profiles.includes(relayName)) throw notAllowed(relayName, profiles)
}

/** Wherever it is named; a blank name is none. */
function namedProfiles({ profile, query, body }: Wanted): string[] {
  const names = [profile, textIn(query["profile"], "profile"), textIn(body["profile"], "profile")]
  return names.filter((name) => name !== undefined)
}

/** Each name must be one that is offered. */
function profileOf(browser: OfferedBrowser, wanted: Wanted, offer: Offer): string {
  const named = namedProfiles(wanted)
  const isLimited = browser.settings().allowProfiles !== undefined
  for (const name of named) if (isLimited && !offer.profiles.includes(name)) throw notAllowed(name, offer.profiles)
  const [first, ...others] = named
  if (first !== undefined && others.some((name) => name !== first)) {
    throw new AppError("bad-request", "profile: is named twice, and differently")
  }
  return first ?? offer.defaultProfile
}

function callerOf(browser: OfferedBrowser, wanted: Wanted, profile: string, signal: AbortSignal): Caller {
  const { guest, staysOn } = wanted
  const isNamed = namedProfiles(wanted).length > 0
  // As at home: who acts on words of others and names no profile is never sent to the person's own tabs.
  const apart = guest === undefined || isNamed ? undefined : browser.core.placeApart()
  return {
    profile: apart !== undefined && offerOf(browser)?.profiles.includes(apart) ? apart : profile,
    signal,
    ...(guest === undefined ? {} : { guest }),
    ...(staysOn === undefined ? {} : { staysOn: { may: (url) => mayLead(url, staysOn), list: () => staysOn } }),
  }
}

function mayLead(url: string, { sites, orNone }: { sites: readonly string[]; orNone: boolean }): boolean {
  const site = siteOf(url)
  return site === undefined ? orNone : sites.includes(site)
}

/** Files lie elsewhere here than at the caller's: what it has sent takes the place of the paths that it named. */
function withFiles(
  body: JsonObject,
  routeFiles: RouteFiles | undefined,
  files: readonly { field: string; path: string }[],
): JsonObject {
  const { reads, gives } = routeFiles ?? {}
  if (reads) {
    const paths = body[reads]
    if (!Array.isArray(paths)) return body
    return { ...body, [reads]: paths.map((_path, index) => sent(files, `${reads}.${index}`)) }
  }
  if (!gives || gives.folder === "media") return body
  return { ...body, path: gives.folder === "traces" ? `${randomUUID()}.zip` : randomUUID() }
}

function sent(files: readonly { field: string; path: string }[], field: string): string {
  const path = files.find((file) => file.field === field)?.path
  if (path !== undefined) return path
  throw new AppError("bad-request", `${field}: the file did not come along`)
}

function limitList(browser: OfferedBrowser, path: string | undefined, reply: unknown, { profiles }: Offer): unknown {
  const { allowProfiles } = browser.settings()
  if (path !== "/profiles" || allowProfiles === undefined || !isJsonObject(reply as Json)) return reply
  const list = (reply as { profiles: { name: string }[] }).profiles
  return { ...(reply as object), profiles: list.filter(({ name }) => profiles.includes(name)) }
}

/** Where the file lies on this machine is not told; it goes along. */
function answerOf(reply: unknown, gives: RouteFiles["gives"]): PerformedCall {
  if (!gives || !isJsonObject(reply as Json)) return { status: 200, body: reply, files: [] }
  const body = structuredClone(reply) as JsonObject
  const holder = gives.field === "download.path" ? body["download"] : body
  const field = gives.field === "imagePath" ? "imagePath" : "path"
  if (!isJsonObject(holder as Json)) return { status: 200, body, files: [] }
  const path = (holder as JsonObject)[field]
  if (typeof path !== "string") return { status: 200, body, files: [] }
  const name = (holder as JsonObject)["suggestedFilename"]
  ;(holder as JsonObject)[field] = basename(path)
  const file = { field: gives.field, path, name: typeof name === "string" ? name : basename(path) }
  return { status: 200, body, files: [file] }
}

function notAllowed(name: string, profiles: readonly string[]): AppError {
  return new AppError("node-refused", `This node does not let the gateway use the profile ${name.slice(0, 64)}`, {
    hint: `It offers: ${profiles.join(", ")} (nodeHost.browserProxy.allowProfiles on the node)`,
  })
}

function notOffered(): AppError {
  return new AppError("node-refused", "This node does not offer its browser", {
    hint: "nodeHost.browserProxy.enabled, nodeHost.browserProxy.allowProfiles and browser.enabled on the node decide",
  })
}
