// Where a call of the tool `browser` goes: the session's own browser in a sandbox, those of this machine, or those of a node. A
// sandboxed session is kept in its sandbox unless the operator lets it out (`allowHostControl`); nothing falls back to
// another place by itself.
import type { ToolContext } from "../../agent/tool.ts"
import { AppError } from "../../kernel/index.ts"
import type { BrowserCore } from "../core.ts"
import { type Choice, type Whereabouts, chooseNode } from "../elsewhere/choose.ts"
import type { ToolCore } from "../elsewhere/core.ts"
import type { NodeBrowser, NodeLinks } from "../elsewhere/links.ts"
import { relayName } from "../profiles/definitions.ts"
import type { BrowserToolInput } from "../tool/input.ts"
import { type SandboxBrowsers, type SandboxLinks, sandboxProfile } from "./browsers.ts"

export interface TargetOptions {
  /** Of this machine. */
  core(): BrowserCore
  sandbox?: SandboxLinks | undefined
  sandboxed?(): SandboxBrowsers | undefined
  nodes?: { links: NodeLinks; coreOf(node: string): ToolCore; whereabouts: Whereabouts } | undefined
}

export interface Target {
  kind: "host" | "sandbox" | "node"
  core: ToolCore
  /** Of the machine, where it is another one. */
  node?: NodeBrowser
}

type Asked = Pick<ToolContext, "agentId" | "sessionKey" | "trusted">
type Wanted = Pick<BrowserToolInput, "action"> & { [name: string]: unknown }

export interface Decision {
  kind: Target["kind"]
  node?: NodeBrowser
  /** One sentence without its full stop. */
  why: string
}

/** Throws `bad-request` for what is not there, `forbidden` for what a sandboxed session may not. */
export async function findTarget(options: TargetOptions, value: BrowserToolInput, context: Asked): Promise<Target> {
  const { kind, node } = await decide(options, value, context)
  const { agentId, sessionKey } = context
  if (kind === "sandbox") return { kind, core: sandboxesOf(options, agentId).coreFor(sessionKey, agentId) }
  if (value.action !== "attach") options.nodes?.whereabouts.note(sessionKey, node?.id ?? "host")
  if (!node || !options.nodes) return { kind: "host", core: options.core() }
  return { kind: "node", core: options.nodes.coreOf(node.id), node }
}

/** The same without making anything. */
export async function decide(options: TargetOptions, value: Wanted, context: Asked): Promise<Decision> {
  const { agentId } = context
  const { sandbox } = options
  const wanted = wantedTarget(value, options)
  const isSandboxed = (await sandbox?.isSandboxed(context)) ?? false
  const kind = wanted?.kind ?? (isSandboxed ? "sandbox" : undefined)
  if (kind === "sandbox") {
    checkSandbox(options, value, agentId)
    return { kind, why: wanted ? "the target sandbox was asked for" : "the session is sandboxed" }
  }
  const mayLeave = sandbox?.settings(agentId).browser.allowHostControl === true
  if (isSandboxed && !mayLeave) throw keptInside()
  if (kind === "host") return { kind, why: wanted?.why ?? "the target host was asked for" }
  if (kind === "node" && !context.trusted && !mayLeave) throw notForOthers()
  return withNode(options, value, { ...context, isExplicit: kind === "node" })
}

function withNode(
  { nodes }: TargetOptions,
  value: Wanted,
  { sessionKey, trusted, isExplicit }: Asked & { isExplicit: boolean },
): Decision {
  const profile = textOf(value["profile"])
  const before = nodes?.links.settings().mode === "auto" ? nodes.whereabouts.of(sessionKey) : undefined
  if (!isExplicit) {
    if (!trusted) return { kind: "host", why: "turns that act on words of others are not sent to nodes by themselves" }
    if (before === "host") return { kind: "host", why: "the session works in the browser of this machine" }
    if (before !== undefined) return { kind: "node", ...stay(nodes?.links, before) }
  }
  const choice: Choice = chooseNode(nodes?.links, { isExplicit, name: textOf(value["node"]), profile })
  const { node, why } = choice
  return node ? { kind: "node", node, why } : { kind: "host", why }
}

/** Its tabs and refs are there: another browser would be a silent change of everything that it knows. */
function stay(links: NodeLinks | undefined, id: string): { node: NodeBrowser; why: string } {
  const node = links?.browsers().find((each) => each.id === id)
  if (node) return { node, why: `the session works in the browser of the node ${node.name}` }
  throw new AppError("node-not-connected", "The node in whose browser this session works is not connected any more", {
    hint: "Try again shortly, or begin anew in the browser of the gateway's machine: target host",
  })
}

function sandboxesOf(options: TargetOptions, agentId: string): SandboxBrowsers {
  const browsers = options.sandboxed?.()
  if (browsers && options.sandbox?.settings(agentId).mode !== "off") return browsers
  throw new AppError("sandbox-unavailable", "Sandboxes are switched off", {
    hint: "agents.defaults.sandbox.mode decides; without target the browser of this machine is used",
  })
}

function checkSandbox(options: TargetOptions, value: Wanted, agentId: string): void {
  if (value.action === "attach") throw keptInside()
  sandboxesOf(options, agentId)
  const profile = value["profile"]
  if (profile === undefined || profile === sandboxProfile) return
  throw new AppError("bad-request", "A browser in a sandbox is the session's only one, and has no profiles", {
    hint: "Leave profile out",
  })
}

function wantedTarget(
  { action, target, node, profile }: Wanted,
  { sandbox, nodes }: TargetOptions,
): { kind: Target["kind"]; why: string } | undefined {
  // The person's own tabs are on this machine, unless a node is named.
  const isOwnTab = action === "attach" || profile === relayName
  if (target === undefined && node === undefined) {
    return isOwnTab ? { kind: "host", why: "the person's own tabs are on the gateway's machine" } : undefined
  }
  const isNode = target === "node" || (target === undefined && node !== undefined)
  if (isNode && nodes) {
    return { kind: "node", why: "a node was asked for" }
  }
  if (node !== undefined && nodes) {
    throw new AppError("bad-request", `node: names another machine, and target is ${shown(target)}`, {
      hint: "Leave target out, or make it node",
    })
  }
  if (node === undefined && (target === "host" || (target === "sandbox" && sandbox !== undefined))) {
    return { kind: target, why: `the target ${target} was asked for` }
  }
  const what = isNode || node !== undefined ? "it takes in no nodes" : "this gateway has its own browser only"
  throw new AppError("bad-request", `The target ${shown(target ?? "node")} is not available here: ${what}`, {
    hint: "Leave target and node out",
  })
}

function shown(target: unknown): string {
  return typeof target === "string" ? target.slice(0, 40) : "no target"
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}

function keptInside(): AppError {
  return new AppError("forbidden", "This session is sandboxed and may not use the browser of the host", {
    hint: "Leave target out. The operator can allow it by agents.defaults.sandbox.browser.allowHostControl",
  })
}

function notForOthers(): AppError {
  return new AppError("forbidden", "This turn acts on words of others: it may not use the browser of a node", {
    hint: "Leave target and node out. The operator can allow it by agents.defaults.sandbox.browser.allowHostControl",
  })
}
