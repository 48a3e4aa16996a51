// Calls that an owner wants to be asked about whatever the turn has read: `agents.*.tools.confirm`. A call that a rule fits
// becomes a question as a tainted one does (approval-turn.ts): a row, one answer, for exactly this call.
import { type Json, isJsonObject } from "../kernel/index.ts"
import type { Gated, Tool, ToolContext } from "./tool.ts"

/** What is left out fits everything; of each list one entry has to fit. */
export interface ConfirmRule {
  /** A tool's name; `*` stands for any letters. */
  tool: string
  /** As the tool names its actions: `send`, `navigate`, `click`. */
  actions?: readonly string[] | undefined
  /** Where the turn's answer goes; `none` for turns whose answer goes nowhere. */
  channels?: readonly string[] | undefined
  /** Whose words the turn acts on. */
  origins?: readonly string[] | undefined
  /** `shop.example`, `*.shop.example` (the site and those below it), with `:port` where it is not the usual one. */
  sites?: readonly string[] | undefined
}

/** Undefined when no rule fits. Throws what the tool's own look at the call throws. */
export async function confirmationFor(
  rules: readonly ConfirmRule[],
  tool: Tool,
  input: unknown,
  context: ToolContext,
): Promise<Gated | undefined> {
  const near = rules.filter((rule) => isNear(rule, tool.name, context))
  if (near.length === 0) return undefined
  const deed = (await tool.describe?.(input, context)) ?? plainDeed(tool, input)
  const fits = near.some(
    ({ actions, sites }) =>
      (actions === undefined || actions.some((each) => deed.actions.some((name) => isLike(each, name)))) &&
      (sites === undefined || sites.some((pattern) => deed.sites.some((site) => isSite(pattern, site)))),
  )
  if (!fits) return undefined
  const { summary, action } = deed
  return { reason: "Your owner wants to be asked before this is done", summary, action, byPolicy: true }
}

function isNear({ tool, channels, origins }: ConfirmRule, name: string, { route, origin }: ToolContext): boolean {
  if (!isLike(tool, name)) return false
  if (channels !== undefined && !channels.some((each) => isLike(each, route?.channel ?? "none"))) return false
  return origins === undefined || origins.includes(origin)
}

function plainDeed(tool: Tool, input: unknown) {
  const action = JSON.parse(JSON.stringify(input)) as Json
  const named = isJsonObject(action) ? action["action"] : undefined
  return { actions: typeof named === "string" ? [named] : [], sites: [], summary: `Use the tool ${tool.name}`, action }
}

/** In any case; `*` stands for any letters. */
function isLike(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.trim().toLowerCase().split("*")
  const text = name.toLowerCase()
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** `www.` is left out of sites. */
function isSite(pattern: string, site: string): boolean {
  const wanted = pattern
    .trim()
    .toLowerCase()
    .replace(/^www\./, "")
  if (!wanted.startsWith("*.")) return site === wanted
  const name = wanted.slice(2)
  return site === name || site.endsWith(`.${name}`)
}
