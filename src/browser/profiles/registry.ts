// The profiles by name: those of the configuration, `managed` and `relay`, which are always there, and `remote`, when
// `browser.cdpUrl` names a browser. A changed configuration replaces only the profiles that it changes; the browsers of others run on.
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { AppError, type Redactor } from "../../kernel/index.ts"
import { parseCdpAddress } from "../cdp/index.ts"
import type { BrowserConfig } from "../config.ts"
import type { Relay } from "../relay/index.ts"
import { RelayProfile } from "../relay/profile.ts"
import type { BrowserProfile } from "./contract.ts"
import { type Definition, defineProfiles, managedName, relayName, remoteName } from "./definitions.ts"
import { ExistingProfile } from "./existing.ts"
import { ManagedProfile } from "./managed.ts"
import { cdpPortRange, type PortRange } from "./ports.ts"
import { RemoteProfile } from "./remote.ts"
import { BrowserStarter, type StarterOptions } from "./starter.ts"

export interface RegistryOptions extends Pick<
  StarterOptions,
  "machine" | "hostname" | "userId" | "waits" | "network" | "clock" | "ids" | "log" | "background"
> {
  settings: BrowserConfig
  stateFolder: string
  controlPort: number
  /** The way to the person's own tabs. */
  relay: Relay
  /** Where programs of the person keep their data. */
  homeFolder: string
  /** Learns the credentials of remote addresses. */
  redactor: Redactor
}

/** Green: nothing of the gateway's own. */
const relayColor = "#00AA00"

interface Entry {
  definition: Definition
  profile: BrowserProfile
}

export class ProfileRegistry {
  readonly #options: Omit<RegistryOptions, "settings">
  readonly #takenPorts = new Set<number>()
  readonly range: PortRange
  #entries = new Map<string, Entry>()
  #settings: BrowserConfig
  /** The last change, and the one before it through it: profiles of one name follow each other. */
  #retiring: Promise<unknown> = Promise.resolve()
  #isRetired = false

  constructor({ settings, ...options }: RegistryOptions) {
    this.#options = options
    this.#settings = settings
    this.range = cdpPortRange(options.controlPort)
    void this.update(settings)
  }

  /** Takes up a changed configuration at once; resolves when what it replaces or removes has ended. */
  async update(settings: BrowserConfig): Promise<void> {
    if (this.#isRetired) return
    this.#settings = settings
    const definitions = defineProfiles(settings, this.range)
    const old = this.#entries
    const stays = (name: string) => isDeepStrictEqual(definitions.get(name), old.get(name)?.definition)
    const ends = [...old].flatMap(([name, { profile }]) =>
      stays(name) ? [] : profile.retire(gone(name, definitions.has(name))),
    )
    // A profile that takes the place of another waits for its end: they share a folder.
    const after = Promise.allSettled([this.#retiring, ...ends])
    this.#retiring = after
    this.#entries = new Map(
      [...definitions].map(([name, definition]) => {
        const entry = stays(name) ? old.get(name) : undefined
        return [name, entry ?? { definition, profile: this.#create(definition, after) }]
      }),
    )
    await Promise.all(ends)
    // What a change before this one has ended is gone by then too.
    await after
  }

  /** Ends every browser that is ours, and leaves the others; nothing starts any more. */
  async retire(reason: AppError): Promise<void> {
    this.#isRetired = true
    const ends = await Promise.allSettled(this.all.map((profile) => profile.retire(reason)))
    await this.#retiring
    for (const end of ends) if (end.status === "rejected") throw end.reason
  }

  /**
   * `relay` is the default of the configuration; while nobody has paired an extension, the browser of `browser.cdpUrl`,
   * else `managed`.
   */
  get defaultName(): string {
    const wanted = this.#settings.defaultProfile
    if (wanted !== relayName || this.#options.relay.isPaired) return wanted
    if (this.#entries.get(relayName)?.definition.kind !== "relay") return wanted
    return this.#settings.cdpUrl !== undefined && this.#entries.has(remoteName) ? remoteName : managedName
  }

  get all(): BrowserProfile[] {
    return [...this.#entries.values()].map(({ profile }) => profile)
  }

  /** CDP ports of this machine: those that browsers listen on or are about to, and those that the configuration names. */
  get ports(): Set<number> {
    const entries = [...this.#entries.values()]
    const far = entries.flatMap(({ definition }) => ("cdpUrl" in definition ? definition.cdpUrl : []))
    const attached = far.map(parseCdpAddress).flatMap(({ isLoopback, port }) => (isLoopback ? port : []))
    const own = entries.flatMap(({ definition: { kind, name }, profile }) =>
      kind === "launched" ? [profile.state().cdpPort, this.#settings.profiles[name]?.cdpPort] : [],
    )
    return new Set([...attached, ...own, ...this.#takenPorts].filter((port) => typeof port === "number"))
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Throws `profile-not-found`, which lists the names there are. */
  get(name: string | undefined): BrowserProfile {
    const wanted = name === undefined || name.trim() === "" ? this.defaultName : name.trim()
    const entry = this.#entries.get(wanted)
    if (entry) return entry.profile
    throw new AppError(
      "profile-not-found",
      `There is no profile ${wanted.slice(0, 64)}; there are: ${[...this.#entries.keys()].join(", ")}`,
      { hint: "svc browser profiles lists them; svc browser create-profile makes one" },
    )
  }

  #create(definition: Definition, after: Promise<unknown> | undefined): BrowserProfile {
    const { name } = definition
    const { stateFolder, redactor, clock, ids, log, background, ...rest } = this.#options
    const { machine, hostname, userId, waits, network } = rest
    const color = () => this.#settings.profiles[name]?.color ?? this.#settings.color
    if (definition.kind === "relay") {
      return new RelayProfile({
        name,
        color: () => this.#relayColor(name),
        relay: this.#options.relay,
        clock,
        log,
        background,
      })
    }
    if (definition.kind === "existing") {
      const { userDataDir } = definition
      return new ExistingProfile({
        name,
        color,
        userDataDir,
        homeFolder: this.#options.homeFolder,
        clock,
        log,
        background,
      })
    }
    if (definition.kind !== "launched") {
      for (const secret of parseCdpAddress(definition.cdpUrl).secrets) redactor.add(secret)
      return new RemoteProfile({
        name,
        kind: definition.kind === "attached" ? "managed" : "remote",
        color,
        cdpUrl: definition.cdpUrl,
        timeouts: () => ({
          httpMs: this.#settings.remoteCdpTimeoutMs,
          handshakeMs: this.#settings.remoteCdpHandshakeTimeoutMs,
        }),
        clock,
        log,
        background,
      })
    }
    const { cdpPort, executablePath, headless, noSandbox } = definition
    const starterOptions: StarterOptions = {
      name,
      color,
      folder: profileFolder(stateFolder, name),
      range: this.range,
      takenPorts: this.#takenPorts,
      reservedPorts: () => this.#reservedPorts(name),
      cdpPort,
      executablePath,
      headless,
      noSandbox,
      machine,
      hostname,
      userId,
      waits,
      network,
      clock,
      ids,
      log,
      background,
    }
    return new ManagedProfile({ ...starterOptions, after }, new BrowserStarter(starterOptions))
  }

  #relayColor(name: string): string {
    return this.#settings.profiles[name]?.color ?? relayColor
  }

  #reservedPorts(except: string): Set<number> {
    const entries = Object.entries(this.#settings.profiles)
    return new Set(entries.flatMap(([name, { cdpPort }]) => (name === except ? [] : (cdpPort ?? []))))
  }
}

function gone(name: string, isChanged: boolean): AppError {
  if (isChanged) return new AppError("aborted", `The profile ${name} was changed in the configuration`)
  return new AppError("profile-not-found", `The profile ${name} was removed from the configuration`)
}

export function profileFolder(stateFolder: string, name: string): string {
  return join(stateFolder, "browser", name)
}
