// A call of the tool `browser` as rules and owners look at it: what is done to which element, on which sites.
import type { Deed } from "../../agent/tool.ts"
import { AppError, type Json, type JsonObject, isJsonObject, siteOf } from "../../kernel/index.ts"
import type { Caller } from "../core.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import { type ActRequest, parseAct, parseRun } from "../requests/index.ts"
import { isRef, parseScript } from "../script/form.ts"
import { type BrowserToolInput, isScript, requestOf, withUrl } from "./input.ts"

/** What has nothing to do with a page. */
const pageless: ReadonlySet<string> = new Set(["status", "attach", "takeover", "start", "stop", "profiles", "tabs"])

export async function describeCall(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<Deed> {
  if (value.action === "open" || value.action === "navigate") return describeAddress(value)
  if (pageless.has(value.action)) return plainDeed(value, [])
  const { targetId } = value as JsonObject
  const tab = typeof targetId === "string" ? targetId : undefined
  const sites = await core.sitesOf(caller, { targetId: tab, refs: [], anywhere: true })
  if (isScript(value)) return await describeScript(core, value, caller, sites)
  return value.action === "act" ? await describeAct(core, value, caller, sites) : plainDeed(value, sites)
}

function describeAddress(value: BrowserToolInput): Deed {
  const { url } = withUrl(value)
  const address = typeof url === "string" ? url.trim() : ""
  const site = siteOf(address)
  return {
    actions: [value.action],
    sites: site === undefined ? [] : [site],
    summary: `Open an address of ${site ?? "no site"}`,
    action: { action: "open", url: address, ...pick(value, browserFields) },
  }
}

function plainDeed(value: BrowserToolInput, sites: readonly string[]): Deed {
  const { timeoutMs: _time, targetId: _tab, ...action } = JSON.parse(JSON.stringify(value)) as JsonObject
  const where = sites.length === 0 ? "" : ` on a page of ${named(sites.slice(0, 1))}`
  return { actions: [value.action], sites, summary: `Browser: ${value.action}${where}`, action }
}

async function describeAct(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  sites: readonly string[],
): Promise<Deed> {
  const request = parseAct(requestOf(value))
  const refs = refsIn(request)
  const tab = request.targetId
  const [own, { page, elements }] = await Promise.all([
    core.sitesOf(caller, { targetId: tab, refs }),
    core.shownAt(caller, tab, refs),
  ])
  if (elements.some(({ role }) => role === "gone")) {
    throw new AppError("stale-ref", "The element is gone: the page has removed it, or drawn it anew", {
      hint: "Take a new snapshot and use a ref of it",
    })
  }
  const [element] = elements
  const on = element ? ` the ${String(element["role"])} ${JSON.stringify(element["name"])}` : ""
  return {
    actions: ["act", request.kind],
    sites: [...new Set([...own, ...sites])],
    summary: `Browser: ${request.kind}${on} on a page of ${named(own)}`,
    action: {
      ...contentOf(request),
      page,
      ...(elements.length > 0 ? { elements } : {}),
      ...pick(value, browserFields),
    },
  }
}

/** A script as a whole: what all its steps do, wherever they are written; each is looked at again when it is its turn. */
async function describeScript(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  sites: readonly string[],
): Promise<Deed> {
  const { steps, values, targetId } = parseRun(requestOf(value))
  const { kinds, written } = parseScript(steps, Object.keys(values))
  const refs: string[] = []
  const content = withoutRefs(written, refs)
  const { page, elements } = await core.shownAt(caller, targetId, refs)
  const opened = addressesIn(written).flatMap((address) => siteOf(address) ?? [])
  const all = [...new Set([...sites, ...opened])]
  return {
    actions: ["act", "run", ...kinds],
    sites: all,
    summary: `Browser: a script of ${written.length} steps on a page of ${named(all)}`,
    action: {
      kind: "run",
      steps: content,
      ...(Object.keys(values).length > 0 ? { values: values as JsonObject } : {}),
      page,
      ...(elements.length > 0 ? { elements } : {}),
      ...pick(value, browserFields),
    },
  }
}

/** The same with places in a list of elements for refs, which are others when the page is opened anew. */
function withoutRefs(written: Json, refs: string[]): Json {
  if (Array.isArray(written)) return written.map((each) => withoutRefs(each, refs))
  if (!isJsonObject(written)) return written
  const entries = Object.entries(written).map(([name, each]): [string, Json] => {
    const isPlace = name === "ref" || name === "startRef" || name === "endRef"
    if (!isPlace || typeof each !== "string" || !isRef(each)) return [name, withoutRefs(each, refs)]
    if (!refs.includes(each)) refs.push(each)
    return [name, `element ${refs.indexOf(each) + 1}`]
  })
  return Object.fromEntries(entries)
}

function addressesIn(written: Json): string[] {
  if (Array.isArray(written)) return written.flatMap(addressesIn)
  if (!isJsonObject(written)) return []
  const own = written["kind"] === "navigate" && typeof written["url"] === "string" ? [written["url"].trim()] : []
  return [...own, ...Object.values(written).flatMap(addressesIn)]
}

const handles: ReadonlySet<string> = new Set(["targetId", "timeoutMs", "snapshot", "ref", "startRef", "endRef"])

/** Without numbers of elements, which are others when the page is opened anew: what they are stands beside it. */
function contentOf(request: ActRequest): JsonObject {
  const fields = request.kind === "fill" ? { fields: request.fields.map(({ ref: _ref, ...field }) => field) } : {}
  const content = Object.entries({ ...request, ...fields }).filter(([name]) => !handles.has(name))
  return JSON.parse(JSON.stringify(Object.fromEntries(content))) as JsonObject
}

function refsIn(request: ActRequest): string[] {
  if (request.kind === "fill") return request.fields.map(({ ref }) => ref)
  const { ref, startRef, endRef } = request as { ref?: string; startRef?: string; endRef?: string }
  return [ref, startRef, endRef].filter((each) => each !== undefined)
}

function named(sites: readonly string[]): string {
  return [...new Set(sites)].map((site) => (site === "" ? "no site" : site)).join(", ")
}

/** Which browser it is done in. */
const browserFields = ["target", "node", "profile"]

function pick(value: BrowserToolInput, names: readonly string[]): JsonObject {
  const fields = isJsonObject(value as JsonObject) ? (value as JsonObject) : {}
  return Object.fromEntries(
    names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])),
  ) as JsonObject
}
