// Browser control as one part of the gateway: the control service's listener, the profiles, and the agent tool.
import { hostname, homedir } from "node:os"
import { join } from "node:path"
import type { Tool } from "../agent/tool.ts"
import {
  AppError,
  type Background,
  type Clock,
  type Ids,
  type Log,
  type Redactor,
  type Secret,
  toAppError,
} from "../kernel/index.ts"
import { type Admit, createFailureThrottle, type FailureThrottle, listen, type Listener } from "../kernel/http/index.ts"
import type { CoreOptions, ProfileEntry } from "./access.ts"
import type { BrowserConfig } from "./config.ts"
import type { ProfileInfo } from "./contract.ts"
import { type BrowserCore, type Caller, createBrowserCore } from "./core.ts"
import { Whereabouts, chooseNode } from "./elsewhere/choose.ts"
import { createNodeCore } from "./elsewhere/core.ts"
import type { NodeLinks } from "./elsewhere/links.ts"
import { type OfferedBrowser, type PerformedCall, offerOf, performForGateway } from "./elsewhere/perform.ts"
import { throughNode } from "./elsewhere/proxy.ts"
import { explainTarget } from "./explain.ts"
import { Guard } from "./guard.ts"
import { removeLeftovers } from "./leftovers.ts"
import { libraryFinder } from "./library.ts"
import { Casts } from "./live/casts.ts"
import { type LiveView, createLiveView } from "./live/view.ts"
import type { Resolve } from "./page/policy/url-policy.ts"
import { type Machine, systemMachine } from "./profiles/detect/index.ts"
import { ProfileRegistry } from "./profiles/registry.ts"
import { Relay } from "./relay/index.ts"
import { type PersonTab, type TabWaits, personTabs } from "./relay/waiting.ts"
import { createControlApp } from "./routes/app.ts"
import type { ControlRequest } from "./routes/dispatch.ts"
import { Hidden, type SecretSource } from "./secrets.ts"
import { SandboxBrowsers, type SandboxLinks } from "./sandbox/browsers.ts"
import type { TargetOptions } from "./sandbox/target.ts"
import { type HandedTabs, handedTabs } from "./takeover/handed-tabs.ts"
import type { TakeoverWaits } from "./takeover/waiting.ts"
import { type BrowserToolInput, createBrowserTool } from "./tool.ts"
import { Traces } from "./running-traces.ts"

export interface BrowserServiceOptions {
  /** The configuration as it is now; `reconfigure` tells that it has changed. */
  settings(): BrowserConfig
  /**
   * Writes one entry of `browser.profiles` into the configuration file, or removes it; `settings` shows it afterwards.
   * Throws `config-invalid` or `config-write-refused`.
   */
  writeProfile(name: string, entry: ProfileEntry | undefined): void
  stateFolder: string
  /** Of the control service, at once. */
  maxConnections?: number
  /** gateway.port + 2; 0 takes any free port. */
  controlPort: number
  /** False: nothing listens for the control service, whose requests come by `perform`; `controlPort` decides the others. */
  listens?: boolean
  /** The gateway token. */
  token: Secret
  /** Who may come in, and with what; whoever has the gateway token when not given. */
  admit?: Admit
  clock: Clock
  /** The time by which files are old; that of the clock when not given. */
  pruneTime?: () => number
  ids: Ids
  log: Log
  redactor: Redactor
  background: Background
  /** The gateway's own, so that wrong secrets count on all its surfaces together; made here when not given. */
  throttle?: FailureThrottle
  /** Ports that the rest of the gateway listens on: no page of a browser may reach them. */
  ownPorts?: () => Iterable<number>
  /** Kept secrets that pages may be given; there are none when not given. */
  secrets?: SecretSource
  /** Turns that wait for a tab of the person's own browser. */
  tabWaits?: TabWaits
  /** Turns that wait until a person has done something in a tab. */
  takeovers?: TakeoverWaits
  /** PATH, DISPLAY and such: what finding and starting a browser may look at. */
  environment: Readonly<Record<string, string | undefined>>
  /** How long a browser may say nothing after its start; 20 seconds when not given. */
  startTimeoutMs?: number
  /** How long nobody uses a tab before its window rests; half a minute when not given. */
  restAfterMs?: number
  /** How names are looked up; the machine's own way when not given. */
  resolve?: Resolve
  /** How many guests keep their places in a browser; eight when not given. */
  maxGuests?: number
  /** Sandboxes, and which sessions run in them; without it there are none. */
  sandbox?: SandboxLinks
  /** Whether the automation library is installed; looks for it when not given. */
  hasAutomationLibrary?: () => boolean
  /** Other machines whose browsers may be used; without it there are none. */
  nodes?: NodeLinks
  /** `nodeHost.browserProxy`, where this is such a machine itself. */
  offered?: OfferedBrowser["settings"]
}

export interface BrowserServiceStatus {
  enabled: boolean
  listening: boolean
  controlPort: number | null
  profiles: ProfileInfo[]
}

export interface BrowserService extends HandedTabs {
  /** Opens the listener; starts no browser. Rejects with `port-in-use`. Does nothing when browser.enabled is false. */
  start(): Promise<void>
  /** Closes the listener and ends every browser that is ours. */
  stop(): Promise<void>
  /** Takes up changed settings: starts or stops the service, ends the browsers of changed profiles, leaves all others. */
  reconfigure(): Promise<void>
  status(): BrowserServiceStatus
  /** Why no browser could be started now; undefined where nothing speaks against it. Starts none. */
  problem(): Promise<AppError | undefined>
  /** What a person sees of the browsers. Throws `browser-disabled` or `not-ready` where there is no browser control. */
  view(): LiveView
  readonly tool: Tool<BrowserToolInput>
  /** The same for callers who are no session: this machine's browsers, as the control service has them. */
  readonly machineTool: Tool<BrowserToolInput>
  /** The socket of the proxy that holds to the strict policy: the only way out of a sandbox. Listens from the first call on. */
  proxySocket(): Promise<string>
  /** Of a node, by its id: the tabs in which its person has pressed the extension's button. */
  personTabs(node: string, signal: AbortSignal): Promise<PersonTab[]>
  /** The port that is listened on; undefined while it is not. */
  readonly controlPort: number | undefined
  /** What another gateway may use of this machine's browsers now; undefined while it is nothing. */
  offer(): ReturnType<typeof offerOf>
  /** A request of that gateway. Never rejects: an error is an answer. */
  perform(
    params: unknown,
    files: readonly { field: string; path: string }[],
    signal: AbortSignal,
  ): Promise<PerformedCall>
  /** Whether something would end with this service that somebody uses: a browser that runs, or the way to the own tabs. */
  readonly isInUse: boolean
}

interface Started {
  listener: Listener | undefined
  registry: ProfileRegistry
  relay: Relay
  core: BrowserCore
  view: LiveView
  guard: Guard
  sandboxed: SandboxBrowsers | undefined
  ownPorts(): Set<number>
  endLooking(): void
}

type PartOptions = BrowserServiceOptions & {
  throttle: FailureThrottle
  sealed: Sealed | undefined
  hidden: Hidden
  targets: TargetOptions
}

/** What holds the pages of sandboxed browsers to the strict policy, and its socket. */
interface Sealed {
  guard: Guard
  proxySocket(): Promise<string>
}

/** Runs one work after the other; `failure` is that of the last one, while it has one. */
function createLine() {
  let line: Promise<unknown> = Promise.resolve()
  let failure: AppError | undefined
  const inLine = (work: () => Promise<void>): Promise<void> => {
    const done = line.then(work)
    line = done.then(
      () => (failure = undefined),
      (error: unknown) => (failure = toAppError(error)),
    )
    return done
  }
  return { inLine, failure: () => failure }
}

export function createBrowserService(options: BrowserServiceOptions): BrowserService {
  const log = options.log.child({ part: "browser" })
  const throttle = options.throttle ?? createFailureThrottle({ clock: options.clock })
  let started: Started | undefined
  const parts = (): Started => {
    if (started) return started
    if (!options.settings().enabled) {
      throw new AppError("browser-disabled", "Browser control is switched off", { hint: "Set browser.enabled to true" })
    }
    throw new AppError("not-ready", "Browser control is not running")
  }
  // Pages that were there before a stop still hold what they were given.
  const hidden = new Hidden()
  const core = (): BrowserCore => parts().core
  const targets: TargetOptions = {
    core,
    sandbox: options.sandbox,
    sandboxed: () => (core(), started?.sandboxed),
    nodes: nodeTargets(options),
  }
  const sealed = options.sandbox && seal({ ...options, log }, options.sandbox, () => started?.ownPorts())
  // One after the other: a stop that is still closing the listener would make the next start find its port in use.
  const { inLine, failure } = createLine()
  const start = async () => {
    if (started || !options.settings().enabled) return
    started = await startParts({ ...options, log, throttle, sealed, hidden, targets })
    if (started.listener) log.info({ port: started.listener.port }, "control service listening")
  }
  const stop = async () => {
    const ending = started
    started = undefined
    if (!ending) return
    ending.endLooking()
    ending.view.stop()
    const reason = new AppError("not-ready", "Browser control has stopped")
    const closing = options.settings().enabled ? "stopping" : "browser-off"
    const ends = [ending.registry.retire(reason), ending.relay.stop(closing), ending.sandboxed?.stop()]
    await Promise.all([ending.listener?.stop(), ...ends])
    // Their way to the network is there for as long as they are.
    await ending.guard.stop()
  }
  return {
    start: () => inLine(start),
    stop: () =>
      inLine(async () => {
        await stop()
        await sealed?.guard.stop()
      }),
    reconfigure: () =>
      inLine(async () => {
        if (!options.settings().enabled) await stop()
        else if (started) await started.registry.update(options.settings())
        else await start()
      }),
    status: () => ({
      enabled: options.settings().enabled,
      listening: started !== undefined,
      controlPort: started?.listener?.port ?? null,
      profiles: started?.core.listProfiles() ?? [],
    }),
    ...handedTabs(core, () => started?.sandboxed),
    problem: async () => (started ? await started.core.problem() : failure()),
    view: () => parts().view,
    tool: createBrowserTool({ ...targets, tabWaits: options.tabWaits, takeovers: options.takeovers }),
    machineTool: createBrowserTool({ core }),
    async proxySocket() {
      if (!sealed) throw new AppError("sandbox-unavailable", "This gateway has no sandbox")
      return await sealed.proxySocket()
    },
    get controlPort() {
      return started?.listener?.port
    },
    ...nodeSide(options, targets, () => started?.registry),
    get isInUse() {
      return started !== undefined && isUsed(started)
    },
  }
}

function isUsed({ relay, registry }: Started): boolean {
  return relay.hasCode || registry.all.some(({ live }) => live !== undefined)
}

/** The browsers of nodes as the tool and the control service reach them. */
function nodeTargets(options: BrowserServiceOptions): TargetOptions["nodes"] {
  const { nodes: links, stateFolder, ids, clock } = options
  if (!links) return undefined
  const proxy = {
    links,
    stateFolder,
    ids,
    get settings() {
      return options.settings()
    },
  }
  return { links, coreOf: (node) => createNodeCore(proxy, node), whereabouts: new Whereabouts(clock) }
}

/** What this machine asks of nodes by itself, and what a gateway may ask of it, when it is one. */
function nodeSide(
  { offered = () => ({ enabled: false }), settings }: BrowserServiceOptions,
  { core, nodes }: TargetOptions,
  registry: () => ProfileRegistry | undefined,
): Pick<BrowserService, "offer" | "perform" | "personTabs"> {
  const browser = {
    get core() {
      return core()
    },
    profiles() {
      const held = registry()
      return { names: held?.all.map(({ name }) => name) ?? [], defaultName: held?.defaultName ?? "" }
    },
    settings: () => ({ ...offered(), enabled: offered().enabled && settings().enabled }),
  }
  return {
    offer: () => offerOf(browser),
    perform: (params, files, signal) => performForGateway(browser, params, files, signal),
    async personTabs(node, signal) {
      return nodes ? personTabs(await nodes.coreOf(node).extension({ profile: undefined, signal })) : []
    },
  }
}

function seal(options: BrowserServiceOptions, { sandbox }: SandboxLinks, ports: () => Set<number> | undefined): Sealed {
  const { clock, ids, log, background } = options
  const guard = new Guard({
    navigation: () => ({ ...options.settings().navigation, policy: "strict" }),
    isOwnPort: (asked) => (ports() ?? new Set(options.ownPorts?.())).has(asked),
    resolve: options.resolve,
    isSealed: true,
    clock,
    ids,
    log,
    background,
  })
  return { guard, proxySocket: () => guard.ownProxy.listenAt(join(sandbox.folder, "guard.sock")) }
}

async function startParts(options: PartOptions): Promise<Started> {
  const machine = systemMachine({ homeFolder: homedir(), environment: options.environment })
  const { stateFolder, controlPort, clock, ids, log, background } = options
  let port = controlPort
  const guard = new Guard({
    navigation: () => options.settings().navigation,
    isOwnPort: (asked) => ownPorts().has(asked),
    resolve: options.resolve,
    maxGuests: options.maxGuests,
    clock,
    ids,
    log,
    background,
  })
  const relay = createRelay(options, guard)
  const registry = createRegistry(options, { relay, machine, guard })
  // The relay's port is the one behind the control port, whether or not it listens yet.
  const ownPorts = () => new Set([port, relay.port, ...registry.ports, ...guard.ports, ...(options.ownPorts?.() ?? [])])
  const coreOptions: CoreOptions = {
    get settings() {
      return options.settings()
    },
    registry,
    relay,
    stateFolder,
    machine,
    ids,
    clock,
    log,
    background,
    guard,
    traces: new Traces(),
    casts: new Casts(background),
    secrets: options.secrets,
    hidden: options.hidden,
    hasAutomationLibrary: options.hasAutomationLibrary ?? libraryFinder(),
    ...(options.listens === false ? {} : { explain: (request) => explainTarget(options.targets, request) }),
    async changeProfile(name, entry) {
      options.writeProfile(name, entry)
      await registry.update(options.settings())
    },
  }
  const core = createBrowserCore(coreOptions)
  const view = createLiveView(coreOptions, core)
  const sandboxed = composeSandboxed(options, { machine, relay })
  const endLooking = await removeLeftovers({ ...options, pruneTime: options.pruneTime ?? clock.now })
  const parts = { registry, relay, core, view, guard, sandboxed, ownPorts, endLooking }
  const begin = () => {
    for (const profile of registry.all) background.run("browser adoption", () => profile.adopt())
    // A port that another program has taken is told by the profile's status, and tried again when the relay is used. Without
    // a listener of its own the service is a guest here: it opens the relay only when a code for an extension was made.
    if (options.listens !== false || relay.hasCode) background.run("relay", () => relay.open())
  }
  if (options.listens === false) {
    begin()
    return { ...parts, listener: undefined }
  }
  const app = createControlApp({
    core,
    forward: (node, request, caller) => forward(options, node, request, caller),
    token: options.token,
    admit: options.admit,
    throttle: options.throttle,
    log,
    redactor: options.redactor,
    port: () => port,
  })
  const listener = await listenWith(app.fetch, options).catch((error: unknown) => {
    endLooking()
    throw error
  })
  port = listener.port
  begin()
  return { ...parts, listener }
}

function listenWith(fetch: unknown, { controlPort, maxConnections }: PartOptions): Promise<Listener> {
  return listen({
    fetch: fetch as Parameters<typeof listen>[0]["fetch"],
    host: "127.0.0.1",
    port: controlPort,
    maxConnections,
    purpose: "the browser control service (gateway.port + 2)",
  })
}

async function forward(
  { nodes: links, stateFolder, ids }: PartOptions,
  name: string,
  request: ControlRequest,
  caller: Caller,
): Promise<unknown> {
  const { node } = chooseNode(links, { isExplicit: true, name, profile: undefined })
  if (!links || !node) throw new AppError("internal", "a node that was named is found or refused")
  return await throughNode({ links, stateFolder, ids }, node.id, request, caller)
}

function createRegistry(
  options: PartOptions,
  { relay, machine, guard }: { relay: Relay; machine: Machine; guard: Guard },
): ProfileRegistry {
  const { stateFolder, controlPort, clock, ids, log, background, redactor } = options
  return new ProfileRegistry({
    relay,
    homeFolder: homedir(),
    settings: options.settings(),
    stateFolder,
    controlPort,
    machine,
    clock,
    ids,
    log,
    background,
    redactor,
    hostname: hostname(),
    userId: process.getuid?.(),
    waits: options,
    network: hasProxy(options.environment) ? undefined : guard.ownProxy,
  })
}

/** The way to the person's own tabs, which policy and profiles of this gateway count for too. */
function createRelay(options: PartOptions, guard: Guard): Relay {
  const { stateFolder, controlPort, clock, ids, log, background, redactor, tabWaits } = options
  const relay = new Relay({
    stateFolder,
    port: controlPort === 0 ? 0 : controlPort + 1,
    token: options.token,
    admit: options.admit,
    throttle: options.throttle,
    newTabs: () => Object.values(options.settings().profiles).every(({ newTabs }) => newTabs !== false),
    checkOpen: (url) => guard.checkOpen({ profile: undefined }, url),
    maxConnections: options.maxConnections,
    ids,
    log,
    redactor,
    background,
    now: () => clock.now(),
  })
  if (tabWaits) {
    relay.hub.onPersonTab(({ targetId, title, url }) =>
      background.run("tab waited for", () => tabWaits.attached({ targetId, title, url })),
    )
  }
  return relay
}

function composeSandboxed(
  options: PartOptions,
  { machine, relay }: { machine: Machine; relay: Relay },
): SandboxBrowsers | undefined {
  const { sandbox, sealed, stateFolder, clock, ids, log, background } = options
  if (!sandbox || !sealed) return undefined
  return new SandboxBrowsers({
    links: sandbox,
    ...sealed,
    machine,
    executablePath: () => options.settings().executablePath,
    waits: options,
    core: {
      get settings() {
        return options.settings()
      },
      relay,
      stateFolder,
      secrets: options.secrets,
      hidden: options.hidden,
      hasAutomationLibrary: options.hasAutomationLibrary ?? libraryFinder(),
    },
    clock,
    ids,
    log,
    background,
  })
}

/** Where browsers get to the network only through a proxy of the machine's, they need to know that one. */
function hasProxy(environment: BrowserServiceOptions["environment"]): boolean {
  return Object.entries(environment).some(([name, value]) => /^https?_proxy$/i.test(name) && value !== "" && value)
}
