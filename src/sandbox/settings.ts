// What holds for one agent: its own keys over those of all agents, and which of its sessions are sandboxed.
import type { AgentsConfig, SandboxConfig } from "../agent/config.ts"
import type { Probe } from "./contract.ts"

export type SandboxSettings = SandboxConfig

export function settingsFor({ defaults, list }: AgentsConfig, agentId: string): SandboxSettings {
  const common = defaults.sandbox
  const own = list.find(({ id }) => id === agentId)?.sandbox
  if (!own) return common
  const { docker, browser, exec, ...plain } = own
  return {
    ...over(common, plain),
    docker: over(common.docker, docker),
    browser: over(common.browser, browser),
    exec: over(common.exec, exec),
  }
}

function over<T extends object>(common: T, own: object | undefined): T {
  const set = Object.entries(own ?? {}).filter(([, value]) => value !== undefined)
  return { ...common, ...Object.fromEntries(set) }
}

export type Mode = NonNullable<SandboxSettings["mode"]>

/** Unset it depends on the machine; one that was asked for stays, and what needs it fails. */
export function modeOf({ mode }: Pick<SandboxSettings, "mode">, { browser }: Pick<Probe, "browser">): Mode {
  return mode ?? (browser === undefined ? "untrusted" : "off")
}

export function isSandboxed(mode: Mode, { trusted }: { trusted: boolean }): boolean {
  return mode === "all" || (mode === "untrusted" && !trusted)
}
