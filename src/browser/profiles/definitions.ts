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
  /** The person's attached tabs. */
  | { kind: "relay"; name: string }
  /** A browser that runs already, by its own permission for remote debugging. */
  | { kind: "existing"; name: string; userDataDir: string | undefined }

export const managedName = "managed"
export const relayName = "relay"
/** The browser at `browser.cdpUrl`. */
export const remoteName = "remote"

export function defineProfiles(settings: BrowserConfig, range: PortRange): Map<string, Definition> {
  const definitions = new Map<string, Definition>()
  const entries: Record<string, BrowserConfig["profiles"][string] | undefined> = {
    [managedName]: undefined,
    ...(settings.cdpUrl === undefined ? {} : { [remoteName]: { driver: "managed", cdpUrl: settings.cdpUrl } }),
    ...settings.profiles,
  }
  for (const [name, profile] of Object.entries(entries)) {
    if (profile?.driver === "extension" || profile?.driver === "relay") definitions.set(name, { kind: "relay", name })
    else if (profile?.driver === "existing")
      definitions.set(name, { kind: "existing", name, userDataDir: profile.userDataDir })
    else if (profile?.cdpUrl !== undefined) definitions.set(name, { kind: "remote", name, cdpUrl: profile.cdpUrl })
    else definitions.set(name, local(name, profile?.cdpPort, settings, range))
  }
  if (!definitions.has(relayName)) definitions.set(relayName, { kind: "relay", name: relayName })
  return definitions
}

/** Always this machine: a remote `browser.cdpUrl` makes no profile remote that has a port of its own. */
function local(name: string, cdpPort: number | undefined, settings: BrowserConfig, range: PortRange): Definition {
  const { attachOnly, executablePath, headless, noSandbox } = settings
  if (attachOnly) return { kind: "attached", name, cdpUrl: `http://127.0.0.1:${cdpPort ?? range.first}` }
  return { kind: "launched", name, cdpPort, executablePath, headless, noSandbox }
}
