// Which profiles a configuration makes, and what of it each of them stands on: a profile whose definition stays the same
// is untouched by a change of the configuration. Colours and timeouts are read when they are used and are no part of it.
import type { BrowserConfig } from "../config.ts"
import type { PortRange } from "./ports.ts"

export type Definition =
  | {
      kind: "launched"
      name: string
      /** Undefined, the browser has no port at all. */
      cdpPort: number | undefined
      executablePath: string | undefined
      headless: boolean | "auto"
      noSandbox: boolean
    }
  /** `browser.attachOnly`: on this machine, started by its owner. */
  | { kind: "attached"; name: string; cdpUrl: string }
  | { kind: "remote"; name: string; cdpUrl: string }

export const managedName = "managed"
export const relayName = "relay"
/** The browser at `browser.cdpUrl`. */
export const remoteName = "remote"

export function defineProfiles(
  settings: BrowserConfig,
  range: PortRange,
): { definitions: Map<string, Definition>; unsupported: Set<string> } {
  const definitions = new Map<string, Definition>()
  const unsupported = new Set<string>()
  const entries: Record<string, BrowserConfig["profiles"][string] | undefined> = {
    [managedName]: undefined,
    ...(settings.cdpUrl === undefined ? {} : { [remoteName]: { driver: "managed", cdpUrl: settings.cdpUrl } }),
    ...settings.profiles,
  }
  for (const [name, profile] of Object.entries(entries)) {
    if (profile?.driver === "extension") unsupported.add(name)
    else if (profile?.cdpUrl !== undefined) definitions.set(name, { kind: "remote", name, cdpUrl: profile.cdpUrl })
    else definitions.set(name, local(name, profile?.cdpPort, settings, range))
  }
  if (!definitions.has(relayName)) unsupported.add(relayName)
  return { definitions, unsupported }
}

/** Always this machine: a remote `browser.cdpUrl` makes no profile remote that has a port of its own. */
function local(name: string, cdpPort: number | undefined, settings: BrowserConfig, range: PortRange): Definition {
  const { attachOnly, executablePath, headless, noSandbox } = settings
  if (attachOnly) return { kind: "attached", name, cdpUrl: `http://127.0.0.1:${cdpPort ?? range.first}` }
  return { kind: "launched", name, cdpPort, executablePath, headless, noSandbox }
}
