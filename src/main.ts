// Composes the product and runs it until it is told to stop. This file and src/main/ are the only place where
// features meet: each gets the others' functions as parameters and imports none of them.
// Start: core -> token -> parts -> listeners -> work -> gateway.json. Stop: intake first, the store last.
import type { BackupSchedule } from "./backup/index.ts"
import type { BrowserService } from "./browser/index.ts"
import type { Channel } from "./channels/contract.ts"
import { type ChatappOptions, type Pairing, createChatappChannel, createPairing } from "./channels/index.ts"
import {
  createGatewayServer,
  keepGatewayFile,
  loadGatewayToken,
  removeGatewayFile,
  writeGatewayFile,
} from "./gateway/index.ts"
import type { GatewayServer, GatewayToken, PartState, Readiness } from "./gateway/index.ts"
import type { Hooks } from "./hooks/index.ts"
import { localHost } from "./kernel/http/index.ts"
import { auditConfigChanges, auditRestore, composeAccess } from "./main/access.ts"
import { createActions } from "./main/actions.ts"
import { type AgentParts, composeAgent } from "./main/agent.ts"
import { type Core, type GatewayOptions, openCore } from "./main/core.ts"
import { composeBackups } from "./main/backup.ts"
import { composeBrowser } from "./main/browser.ts"
import { type Failures, openFailures } from "./main/failures.ts"
import { composeGmail } from "./main/gmail.ts"
import { type Health, createHealth, personWaitMs } from "./main/health.ts"
import { composeHooks } from "./main/hooks.ts"
import { followConfig } from "./main/reload.ts"
import { createRenameConfig } from "./main/rename-config.ts"
import { type Mcp, composeMcp } from "./main/mcp.ts"
import type { NodeParts } from "./main/nodes.ts"
import { mainAgentId } from "./main/main-agent.ts"
import { watchIdleMemory } from "./main/idle-memory.ts"
import { metricsOf } from "./main/metrics.ts"
import type { TakeoverParts } from "./main/takeovers.ts"
import { type SchedulePart, composeSchedules } from "./main/schedules.ts"
import { type Restarts, createRestarts } from "./main/restarts.ts"
import type { SandboxParts } from "./main/sandbox.ts"
import { type StopRequest, keepInspectorClosed, listenForStop } from "./main/signals.ts"
import { describeStartFailure } from "./main/start-failure.ts"
import { version } from "./main/version.ts"
import { composeWebChat } from "./main/web-chat.ts"
import { followWallClock } from "./main/wall-clock.ts"
import { watchStateFolder } from "./store/index.ts"

export type { GatewayOptions } from "./main/core.ts"

/** Of the ten seconds that a stop may take: for running turns, then for sends under way. */
const turnGraceMs = 5_500
const sendGraceMs = 2_000

/**
 * Runs a gateway in this process until it is told to stop; resolves with the exit code (0 after a clean stop).
 * Errors of the start are printed as a person wants them.
 */
export async function runGateway(given: GatewayOptions = {}): Promise<number> {
  keepInspectorClosed()
  const options = { ...given }
  for (;;) {
    const end = await runOnce(options)
    if (end !== "restart") return end
    // Asked for the start that a person began, not for those that follow from a change of the configuration.
    delete options.newStore
  }
}

async function runOnce(options: GatewayOptions): Promise<number | "restart"> {
  let core: Core
  try {
    core = await openCore(options)
  } catch (error) {
    return reportStartFailure(error, options)
  }
  const stop = listenForStop(core, () => process.exit(1))
  const stack = new AsyncStack(core)
  try {
    await start(core, options, stop, stack)
    const reason = await stop.requested
    core.log.info({ reason }, "gateway stopping")
    await stack.unwind()
    const failure = stop.failure()
    if (failure) return reportStartFailure(failure, options)
    return stop.isRestart() ? "restart" : 0
  } catch (error) {
    await stack.unwind()
    return reportStartFailure(error, options)
  } finally {
    stop.dispose()
    core.flushLog()
  }
}

/** What has been started, ended in the opposite order; a part that fails to end does not keep the others. */
class AsyncStack {
  readonly #core: Core
  readonly #parts: { name: string; stop: () => unknown }[] = []

  constructor(core: Core) {
    this.#core = core
    this.push("lock", () => core.lock.release())
    this.push("event loop", () => core.eventLoop.stop())
    this.push("store", () => core.store.close())
    this.push("audit log", () => core.audit.stop())
    this.push("tokens", () => core.tokens.stop())
    this.push("kept results", () => core.kept.stop())
    this.push("config", () => core.holder.stop())
    this.push("background", () => core.background.idle())
  }

  push(name: string, stop: () => unknown): void {
    this.#parts.push({ name, stop })
  }

  async unwind(): Promise<void> {
    // Whichever part is ended may be waiting for the disk.
    this.#core.store.giveUp()
    for (const part of this.#parts.reverse()) {
      try {
        await part.stop()
      } catch (error) {
        this.#core.log.error({ err: error, part: part.name }, "part did not stop cleanly")
      }
    }
    this.#parts.length = 0
  }
}

interface Parts {
  states: Record<string, PartState>
  sandbox: SandboxParts
  browser: BrowserService
  agent: AgentParts
  chatapp: Channel
  web: Channel
  pairing: Pairing
  server: GatewayServer
  hooks: Hooks
  mcp: Mcp
  nodes: NodeParts
  backups: BackupSchedule
  schedules: SchedulePart
  hands: Pick<TakeoverParts, "start">
  /** Where the gateway really listens, once it does. */
  ports: { gateway: number; control: number }
  restarts: Restarts
  /** From then on nothing new is taken in. */
  drain: () => void
}

function firstStates(): Parts["states"] {
  return { store: "ready", gateway: "starting", browser: "starting", chatapp: "starting", agent: "starting" }
}

/**
 * What must work for something to be taken in, which never waits for a model or a browser: while these fail, what comes
 * is kept, and whoever sends it should go on.
 */
const takesIn: ReadonlySet<string> = new Set(["store", "gateway", "chatapp"])

async function readinessOf(health: Health, isDraining: boolean): Promise<Readiness> {
  const { parts, problems } = await health.look()
  if (isDraining) {
    const stopping = { part: "gateway", problem: "it is stopping, and takes nothing more in" }
    return { ok: false, parts, problems: [stopping, ...problems] }
  }
  const works = (part: string, state: PartState) =>
    state === "ready" || state === "off" || (state === "failed" && !takesIn.has(part))
  return { ok: Object.entries(parts).every(([part, state]) => works(part, state)), parts, problems }
}

type ChatappLinks = Pick<ChatappOptions, "pairing" | "onRefused">

function composeChatapp(core: Core, agent: AgentParts, links: ChatappLinks): Channel {
  const { environment, log, redactor, ids, clock, store, background } = core
  return createChatappChannel({
    config: core.config,
    defaultAgentId: () => mainAgentId(core.config()),
    stateFolder: environment.stateFolder,
    runtimeFolder: environment.runtimeFolder,
    ...(core.pollTiming === undefined ? {} : { pollTiming: core.pollTiming }),
    environment: { chatappBotToken: core.holder.snapshot().environment.chatappBotToken },
    describePicture: agent.describePicture,
    rememberRoute: agent.sessions.rememberRoute,
    renameConfig: createRenameConfig(core),
    waitForDeliveries: (deliveries, limits) => agent.worker.waitFor(deliveries, limits),
    stopTurn: agent.stopTurn,
    isModel: agent.isModel,
    skills: () => agent.skills(mainAgentId(core.config())),
    crashPoint: core.crashPoint,
    store,
    log,
    redactor,
    ids,
    clock,
    background,
    maxConnections: core.handles.perListener,
    ...links,
  })
}

type ServerParts = Omit<Parameters<typeof createGatewayServer>[0], "bind" | "port" | "allowedHosts" | keyof Core>

function composeServer(core: Core, options: GatewayOptions, parts: ServerParts & Pick<Core, "tokens" | "audit">) {
  const { redactor, clock, store } = core
  const { gateway } = core.config()
  return createGatewayServer({
    bind: options.selfTest ? "loopback" : gateway.bind,
    port: gateway.port,
    allowedHosts: () => core.config().gateway.allowedHosts,
    ...parts,
    store,
    redactor,
    clock,
    maxConnections: core.handles.perListener,
    log: core.log.child({ part: "gateway" }),
  })
}

/** Everything made and linked, nothing started. */
function compose(
  core: Core,
  options: GatewayOptions,
  stop: StopRequest,
  { token, failures }: { token: GatewayToken; failures: Failures },
): Parts {
  const { log, ids, clock, store } = core
  const { gateway } = core.config()
  const ports = { gateway: gateway.port, control: gateway.port + 2 }
  const states = firstStates()
  const restarts = createRestarts({ core, ports: () => ports, begin: (reason) => stop.restart(reason) })
  let draining = false
  const access = composeAccess(core, token, () => ports.gateway)
  const chats = () => ({ ...agent, channels: () => channels })
  const { browser, sandbox, nodes, tools, actions, commands, hands } = composeBrowser(core, ports, {
    control: access.control,
    chats,
  })
  const channels = new Map<string, Channel>()
  const mcp = composeMcp(core, { browser: () => browser, approvals: () => agent.approvals })
  const agent = composeAgent(core, {
    tools: (place) => [{ tools }, ...channels.values(), mcp.servers, schedules].flatMap((part) => part.tools(place)),
    toolChanges: () => mcp.servers,
    toolsReady: (place, signal) => mcp.servers.ready(place, signal),
    ...commands,
    jobs: hands.jobs,
    channels: () => channels,
    restarts,
    problems: async () => (await health.look(personWaitMs)).problems,
  })
  const pairing = createPairing({ store, clock, ids, log })
  const chatapp = composeChatapp(core, agent, { pairing, onRefused: access.onChatRefused })
  const { channel: web, chat } = composeWebChat(core, agent, access.gateway.page.feed)
  for (const channel of [chatapp, web]) channels.set(channel.name, channel)
  const schedules = composeSchedules(core, agent, () => channels)
  const hooks = composeHooks(core, agent, { accepting: () => !draining, gatewayToken: token.token, ...access.hooks })
  const backups = composeBackups(core, options.program)
  const all = () => channels.values()
  const health = createHealth({
    core,
    agent,
    browser,
    sandbox,
    mcp: mcp.servers,
    restarts,
    states,
    channels: all,
    failures: failures.window,
  })
  const server = composeServer(core, options, {
    ...access.gateway,
    readiness: () => readinessOf(health, draining),
    metrics: () => metricsOf(core),
    actions: createActions(core, {
      agent,
      chat,
      channels: () => channels,
      pairing,
      hooks: hooks.deliveries,
      mcp: mcp.servers,
      health,
      failures,
      ports: () => ports,
      requestStop: () => stop.request("requested over the API"),
      backups,
      schedules,
      ...actions,
    }),
    hooks,
    takeover: hands.desk,
    mcp: mcp.mounted,
    nodes: nodes.mounted,
  })
  const drain = () => void (draining = true)
  const made = { states, sandbox, browser, agent, chatapp, web, pairing, server }
  return { ...made, hands, hooks, mcp, nodes, backups, schedules, ports, restarts, drain }
}

async function start(core: Core, options: GatewayOptions, stop: StopRequest, stack: AsyncStack): Promise<void> {
  const config = core.config()
  const folder = watchStateFolder({
    folder: core.environment.stateFolder,
    onLost(error, lost) {
      core.log.fatal({ err: error }, "state folder lost: nothing more is accepted, the gateway stops")
      core.store.abandon(error, lost)
      stop.fail(error)
    },
  })
  stack.push("folder watch", () => folder.stop())
  const token = loadGatewayToken({
    configured: config.gateway.auth.token,
    hookToken: config.hooks.enabled ? config.hooks.token : undefined,
    stateFolder: core.environment.stateFolder,
    ids: core.ids,
    log: core.log,
    redactor: core.redactor,
  })
  core.redactor.add(token.token.reveal())
  const parts = compose(core, options, stop, { token, failures: await openFailures(core.store) })
  const { states, browser, agent, chatapp, server } = parts
  const memory = watchIdleMemory({
    onQuiet() {
      core.store.freeCache()
      agent.sessions.shrink()
    },
  })
  stack.push("idle memory", () => memory.stop())
  if (options.selfTest) parts.drain()
  // The listeners open before anything works, so that a port in use ends the start at once.
  parts.ports.gateway = (await server.start()).port
  stack.push("hooks", () => parts.hooks.stop())
  stack.push("mcp", () => parts.mcp.stop())
  stack.push("gateway listener", () => server.stop(1_000))
  parts.nodes.start()
  stack.push("nodes", () => parts.nodes.stop())
  states["gateway"] = "ready"
  stack.push("sandbox", () => parts.sandbox.stop())
  parts.sandbox.start()
  await browser.start()
  parts.ports.control = browser.controlPort ?? parts.ports.control
  states["browser"] = config.browser.enabled ? "ready" : "off"
  stack.push("browser", () => browser.stop())
  // Everything is made, linked and listening; what follows takes in, works and sends.
  if (options.selfTest) return stop.request("self-test passed")
  stack.push("outbox", () => agent.worker.stop(sendGraceMs))
  stack.push("lanes", () => agent.runner.stop(turnGraceMs))
  stack.push("heartbeat", () => agent.heartbeat.stop())
  await agent.start()
  stack.push("clock", followWallClock(core, [parts.pairing.followClock, parts.schedules.followClock]))
  states["agent"] = "ready"
  parts.mcp.start()
  stack.push("page chat", () => parts.web.stop())
  stack.push("chatapp", () => chatapp.stop())
  await chatapp.start()
  states["chatapp"] = "ready"
  const gmail = composeGmail(core, () => parts.ports.gateway)
  stack.push("mail watch", () => gmail.stop())
  core.background.run("start mail watch", () => gmail.restart())
  stack.push("schedules", () => parts.schedules.stop())
  await parts.schedules.start()
  parts.hands.start()
  stack.push("backups", () => parts.backups.stop())
  parts.backups.start()
  stack.push("intake", parts.drain)
  auditConfigChanges(core)
  core.background.run("audit a restore", () => auditRestore(core))
  const unfollow = followConfig(core, {
    restartHeartbeat: () => agent.heartbeat.start(),
    restartSchedules: () => parts.schedules.start(),
    // One that cannot be started is no reason to be off: what is wrong with it the service itself says.
    reconfigureBrowser: () =>
      browser.reconfigure().finally(() => (states["browser"] = core.config().browser.enabled ? "ready" : "off")),
    updateChannels: () => chatapp.apply(),
    restartMailWatch: () => gmail.restart(),
    restartGateway: (reason) => parts.restarts.restart(reason),
    restartNotNeeded: () => parts.restarts.forget(),
  })
  stack.push("configuration changes", unfollow)
  announce(core, options, stack, { port: parts.ports.gateway, controlPort: parts.ports.control, tokenFile: token.file })
}

function announce(
  core: Core,
  options: GatewayOptions,
  stack: AsyncStack,
  ready: { port: number; controlPort: number; tokenFile: string },
): void {
  const { stateFolder } = core.environment
  const { bind } = core.config().gateway
  stack.push("gateway file", () => removeGatewayFile(stateFolder, core.bootId))
  const file = {
    pid: process.pid,
    bootId: core.bootId,
    host: localHost(bind),
    port: ready.port,
    controlPort: ready.controlPort,
    tokenFile: ready.tokenFile,
    startedAt: core.startedAt,
    version: version(),
  }
  writeGatewayFile(stateFolder, file)
  stack.push("gateway file kept", keepGatewayFile(stateFolder, file, core.log.child({ part: "gateway" })))
  core.eventLoop.begin()
  core.log.info({ port: ready.port, controlPort: ready.controlPort, state: stateFolder }, "gateway ready")
  options.onReady?.({ pid: process.pid, port: ready.port, controlPort: ready.controlPort, stateFolder })
}

/** The log may not stand yet, and the person is looking at the terminal. */
function reportStartFailure(error: unknown, { named = (text) => text }: GatewayOptions): number {
  process.stderr.write(named(describeStartFailure(error)))
  return 1
}
