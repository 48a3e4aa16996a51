// Where a call of the tool `browser` goes: the session's own browser in a sandbox, or those of this machine. A sandboxed
// session is kept in its sandbox unless the operator lets it out (`allowHostControl`); nothing falls back to another place.
import type { ToolContext } from "../../agent/tool.ts"
import { AppError } from "../../kernel/index.ts"
import type { BrowserCore } from "../core.ts"
import { relayName } from "../profiles/definitions.ts"
import type { BrowserToolInput } from "../tool/input.ts"
import { type SandboxBrowsers, type SandboxLinks, sandboxProfile } from "./browsers.ts"

export interface TargetOptions {
  /** Of this machine. */
  core(): BrowserCore
  sandbox?: SandboxLinks | undefined
  sandboxed?(): SandboxBrowsers | undefined
}

export interface Target {
  kind: "host" | "sandbox"
  core: BrowserCore
}

type Asked = Pick<ToolContext, "agentId" | "sessionKey" | "trusted">

/** Throws `bad-request` for what is not there, `forbidden` for what a sandboxed session may not. */
export async function findTarget(options: TargetOptions, value: BrowserToolInput, context: Asked): Promise<Target> {
  const wanted = wantedTarget(value, options.sandbox !== undefined)
  const isSandboxed = (await options.sandbox?.isSandboxed(context)) ?? false
  const kind = wanted ?? (isSandboxed ? "sandbox" : "host")
  if (kind === "host") {
    if (isSandboxed && options.sandbox?.settings(context.agentId).browser.allowHostControl !== true) throw keptInside()
    return { kind, core: options.core() }
  }
  const { agentId, sessionKey } = context
  if (value.action === "attach") throw keptInside()
  const browsers = options.sandboxed?.()
  if (!browsers || options.sandbox?.settings(agentId).mode === "off") {
    throw new AppError("sandbox-unavailable", "Sandboxes are switched off", {
      hint: "agents.defaults.sandbox.mode decides; without target the browser of this machine is used",
    })
  }
  const profile = value["profile"]
  if (profile !== undefined && profile !== sandboxProfile) {
    throw new AppError("bad-request", "A browser in a sandbox is the session's only one, and has no profiles", {
      hint: "Leave profile out",
    })
  }
  return { kind, core: browsers.coreFor(sessionKey, agentId) }
}

function wantedTarget(value: BrowserToolInput, hasSandbox: boolean): Target["kind"] | undefined {
  const { action, target, node, profile } = value
  // The person's own tabs are on this machine.
  const isOwnTab = action === "attach" || profile === relayName
  if (target === undefined && node === undefined) return isOwnTab ? "host" : undefined
  if (node === undefined && (target === "host" || (target === "sandbox" && hasSandbox))) return target
  const named = typeof target === "string" ? target.slice(0, 40) : "node"
  const what =
    target === "node" || node !== undefined ? "no other machine is connected" : "this gateway has its own browser only"
  throw new AppError("bad-request", `The target ${named} is not available here: ${what}`, {
    hint: "Leave target and node out",
  })
}

function keptInside(): AppError {
  return new AppError("forbidden", "This session is sandboxed and may not use the browser of the host", {
    hint: "Leave target out. The operator can allow it by agents.defaults.sandbox.browser.allowHostControl",
  })
}
