// What holds for the sessions of an agent, and why, in the form that the API gives.
import type { Mode, SandboxSettings } from "./settings.ts"
import { isSandboxed, modeOf } from "./settings.ts"
import type { Backend, Limiter, Probe } from "./contract.ts"

export interface Fault {
  problem: string
  /** The command that mends it. */
  mend: string
}

export interface SandboxExplanation {
  agent: string
  mode: Mode
  /** `default`: nothing is set, and the machine decides. */
  modeFrom: "configuration" | "default"
  backend: Backend
  version?: string
  limits: Limiter
  /** Why nothing can be run; absent: it can. */
  exec?: Fault
  browser?: Fault
  /** Where the tool `browser` goes by itself. */
  targets: { owners: "host" | "sandbox"; others: "host" | "sandbox" }
  allowHostControl: boolean
  tools: SandboxSettings["tools"]
  execNetwork: boolean
  workspace: string
}

export function explainSandbox(
  agent: string,
  settings: SandboxSettings,
  probe: Probe,
  workspace: string,
): SandboxExplanation {
  const mode = modeOf(settings, probe)
  const target = (trusted: boolean) => (isSandboxed(mode, { trusted }) ? "sandbox" : "host")
  return {
    agent,
    mode,
    modeFrom: settings.mode === undefined ? "default" : "configuration",
    backend: probe.backend,
    ...(probe.version === undefined ? {} : { version: probe.version }),
    limits: probe.limiter,
    ...fault("exec", probe),
    ...fault("browser", probe),
    targets: { owners: target(true), others: target(false) },
    allowHostControl: settings.browser.allowHostControl,
    tools: settings.tools,
    execNetwork: settings.exec.network,
    workspace,
  }
}

function fault(part: "exec" | "browser", probe: Probe): Partial<Record<"exec" | "browser", Fault>> {
  const error = probe[part]
  return error ? { [part]: { problem: error.message, mend: error.hint ?? "" } } : {}
}
