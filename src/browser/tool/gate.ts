// What a tainted call of the tool `browser` does by itself. Words of others may have made it, so it carries nothing to a
// place that neither the owner has named nor the agent had opened before: it follows what pages offer, and composes
// addresses and types only on named sites. All else an owner allows. docs/architecture.md has the rule as a table.
import type { Gated, ToolContext } from "../../agent/tool.ts"
import { AppError, type Json, type JsonObject, isJsonObject, plainAddress, siteOf } from "../../kernel/index.ts"
import type { Caller } from "../core.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import { type ActRequest, parseAct } from "../requests/index.ts"
import { type BrowserToolInput, requestOf, withUrl } from "./input.ts"

type Asked = Pick<ToolContext, "sites">

export async function gateOf(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  context: Asked,
): Promise<Gated | undefined> {
  switch (value.action) {
    case "open":
    case "navigate":
      return await gateAddress(core, value, caller, context)
    case "act":
      return await gateAct(core, value, caller, context)
    case "upload":
      return await gateWords(
        core,
        { value, what: "Give files to", fields: ["paths", "ref", "inputRef", "element"] },
        caller,
        context,
      )
    case "dialog":
      if (value["promptText"] === undefined) return undefined
      return await gateWords(
        core,
        { value, what: "Answer a question of", fields: ["accept", "promptText"] },
        caller,
        context,
      )
    default:
      return undefined
  }
}

/** How an address comes to be opened: only one that the turn has made itself is held to its site. */
export type AddressKind = "none" | "named" | "composed" | "followed" | "unknown"

export async function kindOfAddress(
  core: ToolCore,
  { url, targetId }: { url: unknown; targetId: unknown },
  caller: Caller,
  { sites }: Asked,
): Promise<AddressKind> {
  const site = typeof url === "string" ? siteOf(url.trim()) : undefined
  if (site === undefined) return "none"
  const address = plainAddress((url as string).trim())
  if (sites.has(address) || (isBare(address) && sites.has(site))) return "named"
  if (sites.quotes(address)) return "followed"
  if (await core.showsLink(caller, address, typeof targetId === "string" ? targetId : undefined)) return "followed"
  return sites.has(site) ? "composed" : "unknown"
}

/** The front page of a site, with nothing in its address but the site. */
export function isBare(address: string): boolean {
  const { pathname, search, hash, username, password } = new URL(address)
  return pathname === "/" && search + hash + username + password === ""
}

async function gateAddress(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  context: Asked,
): Promise<Gated | undefined> {
  const { url, targetId } = withUrl(value)
  if ((await kindOfAddress(core, { url, targetId }, caller, context)) !== "unknown") return undefined
  const address = String(url).trim()
  return {
    reason:
      "The address is on a site that the owner has not named (by writing it), and it is no link of the page that is open. A link is followed by a click on its ref, or by its whole address as the page has it",
    summary: `Open an address of ${siteOf(address)}`,
    action: { action: "open", url: address, ...placeOf(value) },
  }
}

/** Keys that move and choose; every other one writes, or pastes. */
const plainKeys =
  /^(?:Shift\+)?(?:Enter|Tab|Escape|Space| |Backspace|Delete|Home|End|PageUp|PageDown|Arrow(?:Up|Down|Left|Right)|F\d{1,2})$/i

async function gateAct(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  context: Asked,
): Promise<Gated | undefined> {
  const request = parseAct(requestOf(value))
  const carries = wordsIn(request)
  if (!carries) return undefined
  const { targetId } = request
  const pages = await core.sitesOf(caller, { targetId, refs: carries.refs, anywhere: carries.anywhere ?? false })
  // What is dragged about on one site stays there.
  const isWithin = request.kind === "drag" && new Set(pages).size === 1
  if (isWithin || (!carries.isCode && pages.every((site) => context.sites.has(site)))) return undefined
  const { targetId: _tab, timeoutMs: _time, ...what } = request
  const { snapshot: _fresh, ...action } = what as typeof what & { snapshot?: unknown }
  return gated(carries.what, pages, { ...(JSON.parse(JSON.stringify(action)) as JsonObject), ...placeOf(value) })
}

interface Carried {
  what: string
  /** Elements that the words go to; none: whatever has the focus. */
  refs: readonly string[]
  /** In whatever frame it ends. */
  anywhere?: boolean
  isCode?: true
}

/** What the page comes to know by an action that it has not made itself. */
function wordsIn(request: ActRequest): Carried | undefined {
  switch (request.kind) {
    case "type":
      // Key by key a page has time to hand the focus on, to any frame.
      return { what: "Type into", refs: [request.ref], anywhere: request.slowly }
    case "click":
      // On some systems it pastes what was copied or selected last, wherever that was.
      return request.button === "middle"
        ? { what: "Paste by the middle button into", refs: [], anywhere: true }
        : undefined
    case "fill":
      return fillOf(request)
    case "press":
      // What is given the focus may hand it on, and what has it may lose it, to any frame.
      return plainKeys.test(request.key) && request.delayMs === 0
        ? undefined
        : { what: "Press a key on", refs: request.ref === undefined ? [] : [request.ref], anywhere: true }
    case "drag": {
      const { startRef, endRef, startX, endX } = request
      const refs = [startRef, endRef].filter((ref) => ref !== undefined)
      // A point can lie in any frame, also one that is given in the box of an element.
      return { what: "Drag something into", refs, anywhere: startX !== undefined || endX !== undefined }
    }
    case "resize":
      // Every frame reads how large it is, and a size is a number of eight digits that no page has offered.
      return { what: "Choose the size of", refs: [], anywhere: true }
    case "evaluate":
      return { what: "Run code in", refs: request.ref === undefined ? [] : [request.ref], isCode: true }
    case "wait":
      return request.fn === undefined ? undefined : { what: "Run code in", refs: [], isCode: true }
    default:
      return undefined
  }
}

/** Secrets go to their own origins only, which the filling itself looks after. */
function fillOf({ fields }: Extract<ActRequest, { kind: "fill" }>): Carried | undefined {
  const refs = fields.filter(({ secret }) => secret === undefined).map(({ ref }) => ref)
  return refs.length === 0 ? undefined : { what: "Fill in a form of", refs }
}

export function fillsSecret(value: BrowserToolInput): boolean {
  return value.action === "act" && JSON.stringify(requestOf(value)).includes('"secret":')
}

/** For a turn that acts for others, wherever the page is. */
export async function gateSecret(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<Gated> {
  const request = parseAct(requestOf(value))
  if (request.kind !== "fill") throw new AppError("bad-request", "secret: only type and fill take one")
  const { targetId, timeoutMs: _time, snapshot: _fresh, ...action } = request
  const pages = await core.sitesOf(caller, { targetId, refs: request.fields.map(({ ref }) => ref) })
  const { summary, action: whole } = gated("Fill a kept secret into", pages, {
    ...(JSON.parse(JSON.stringify(action)) as JsonObject),
    ...placeOf(value),
  })
  return { reason: "A turn that acts for others does not fill in secrets by itself", summary, action: whole }
}

async function gateWords(
  core: ToolCore,
  { value, what, fields }: { value: BrowserToolInput; what: string; fields: readonly string[] },
  caller: Caller,
  { sites }: Asked,
): Promise<Gated | undefined> {
  const pages = await sitesGiven(core, value, caller)
  if (pages.every((site) => sites.has(site))) return undefined
  const given = fields.flatMap((name): [string, Json][] => {
    const field = (value as JsonObject)[name]
    return field === undefined ? [] : [[name, field]]
  })
  return gated(what, pages, { action: value.action, ...Object.fromEntries(given), ...placeOf(value) })
}

/** Where files or an answer go to that are given now; what waits for a page to ask is held to these sites by its caller. */
async function sitesGiven(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<string[]> {
  const { targetId, ref, inputRef } = value as JsonObject
  const refs = value.action === "upload" ? [ref, inputRef].filter((each) => typeof each === "string") : []
  return await core.sitesOf(caller, { targetId: typeof targetId === "string" ? targetId : undefined, refs })
}

/** The caller of a tainted call whose files or answer may wait for a page to ask: other pages do not get them. */
export async function heldToSites(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  { tainted, approved, sites }: Pick<ToolContext, "tainted" | "approved" | "sites">,
): Promise<Caller> {
  if (!tainted || (value.action !== "upload" && value.action !== "dialog")) return caller
  const allowed = approved ? await sitesGiven(core, value, caller) : []
  const may = (address: string) => {
    const site = siteOf(address) ?? ""
    return sites.has(site) || allowed.includes(site)
  }
  const list = () => ({ sites: [...sites.list(), ...allowed], orNone: allowed.includes("") })
  return { ...caller, staysOn: { may, list } }
}

/** Which browser: what was allowed in one is not done in another. */
function placeOf(value: BrowserToolInput): JsonObject {
  const named = ["target", "node", "profile"].map((name): [string, Json | undefined] => [
    name,
    (value as JsonObject)[name],
  ])
  return Object.fromEntries(named.filter((each): each is [string, Json] => each[1] !== undefined))
}

function gated(what: string, pages: readonly string[], action: JsonObject): Gated {
  const named = [...new Set(pages)].map((site) => (site === "" ? "a page without a site" : site))
  return {
    reason: `${named.join(", ")}: this turn has read words of others and may not do this by itself on a site that the owner has not named (by writing its address)`,
    summary: `${what} a page of ${named.join(", ")}`,
    action: { ...action, site: named },
  }
}

export function isRunningCode(value: BrowserToolInput): boolean {
  const request = value.action === "act" ? requestOf(value) : undefined
  return isJsonObject(request) && (request["kind"] === "evaluate" || request["fn"] !== undefined)
}
