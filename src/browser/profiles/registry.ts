// The profiles by name: those of the configuration, and `managed`, which is always there.
import { join } from "node:path"
import { AppError, type Background, type Clock, type Ids, type Log } from "../../kernel/index.ts"
import type { BrowserConfig } from "../config.ts"
import type { BrowserProfile } from "./contract.ts"
import type { Machine } from "./detect/index.ts"
import { ManagedProfile } from "./managed.ts"
import { cdpPortRange } from "./ports.ts"

export interface RegistryOptions {
  settings: BrowserConfig
  stateFolder: string
  controlPort: number
  machine: Machine
  hostname: string
  userId: number | undefined
  clock: Clock
  ids: Ids
  log: Log
  background: Background
}

export const managedName = "managed"
const relayName = "relay"

export class ProfileRegistry {
  readonly #profiles = new Map<string, BrowserProfile>()
  readonly #unsupported = new Set<string>()
  readonly #defaultName: string

  constructor(options: RegistryOptions) {
    const { settings } = options
    const takenPorts = new Set<number>()
    for (const [name, profile] of Object.entries<BrowserConfig["profiles"][string] | undefined>({
      [managedName]: undefined,
      ...settings.profiles,
    })) {
      if (profile?.driver === "extension" || profile?.cdpUrl !== undefined) this.#unsupported.add(name)
      else this.#profiles.set(name, createManaged(options, name, profile, takenPorts))
    }
    if (!this.#profiles.has(relayName)) this.#unsupported.add(relayName)
    // `relay` is the default of the configuration; while it cannot be used, a caller that names no profile gets `managed`.
    this.#defaultName =
      settings.defaultProfile === relayName && this.#unsupported.has(relayName) ? managedName : settings.defaultProfile
  }

  get defaultName(): string {
    return this.#defaultName
  }

  get all(): BrowserProfile[] {
    return [...this.#profiles.values()]
  }

  /** Throws `profile-unsupported` or `profile-not-found`, which lists the names there are. */
  get(name: string | undefined): BrowserProfile {
    const wanted = name === undefined || name.trim() === "" ? this.#defaultName : name.trim()
    const profile = this.#profiles.get(wanted)
    if (profile) return profile
    if (this.#unsupported.has(wanted)) {
      throw new AppError(
        "profile-unsupported",
        `The profile ${wanted} is reached through the relay or a remote address, which this release does not do yet`,
        {
          hint: `Use the profile ${managedName}`,
        },
      )
    }
    throw new AppError(
      "profile-not-found",
      `There is no profile ${wanted.slice(0, 64)}; there are: ${[...this.#profiles.keys()].join(", ")}`,
    )
  }
}

function createManaged(
  options: RegistryOptions,
  name: string,
  profile: BrowserConfig["profiles"][string] | undefined,
  takenPorts: Set<number>,
): ManagedProfile {
  const { settings } = options
  return new ManagedProfile({
    name,
    color: profile?.color ?? settings.color,
    folder: join(options.stateFolder, "browser", name),
    machine: options.machine,
    hostname: options.hostname,
    range: cdpPortRange(options.controlPort),
    preferredPort: profile?.cdpPort,
    executablePath: settings.executablePath,
    headless: settings.headless,
    noSandbox: settings.noSandbox,
    attachOnly: settings.attachOnly,
    takenPorts,
    userId: options.userId,
    clock: options.clock,
    ids: options.ids,
    log: options.log,
    background: options.background,
  })
}
