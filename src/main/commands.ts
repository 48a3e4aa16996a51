// Chat commands with what they ask of the gateway: sessions, models, lanes, the configuration, the channel.
import { type Heartbeat, TurnStopped, compactJobKind, heartbeatJobKind, turnJobKind } from "../agent/index.ts"
import type { TurnInput } from "../agent/turn-input.ts"
import type { Approvals } from "../approvals/index.ts"
import type { Governor, Ledger } from "../budget/index.ts"
import type { Channel } from "../channels/contract.ts"
import {
  type CommandCall,
  type CommandServices,
  type ConfigAccess,
  type ConfigChangeReport,
  configuredQueue,
  createCommandHandler,
  nativeCommands,
  terminalChannel,
} from "../channels/index.ts"
import {
  type ConfigPath,
  type WriteResult,
  formatConfigPath,
  formatIssue,
  isOwnersPath,
  isProtectedPath,
  parseConfigPath,
  redactConfig,
  setConfigText,
  showConfigValue,
  unsetConfigValue,
} from "../config/index.ts"
import type { ChannelSender } from "../delivery/index.ts"
import type { Problem } from "../gateway/index.ts"
import type { Visitor } from "../kernel/http/index.ts"
import { AppError } from "../kernel/index.ts"
import { type ModelRegistry, isUsableModel, selectableModels } from "../models/index.ts"
import type { Route, Sessions } from "../sessions/index.ts"
import {
  type JobHandler,
  type JobRow,
  type LaneRunner,
  countEvents,
  countJobs,
  countOutbox,
  openJobs,
} from "../store/index.ts"
import { describeDecided } from "./approvals.ts"
import type { Core } from "./core.ts"
import { heartbeatLine } from "./heartbeats.ts"
import { modelsView } from "./models/view.ts"
import type { Pause } from "./pause.ts"
import { takesRestart } from "./reload.ts"
import { archiveServices } from "./sessions.ts"
import { version } from "./version.ts"

export interface CommandParts {
  sessions: Sessions
  models: ModelRegistry
  ledger: Ledger
  budget: Governor
  pause: Pause
  approvals: Approvals
  /** There is none yet when this is composed. */
  runner: () => LaneRunner
  heartbeat: () => Heartbeat
  restarts: CommandServices["restarts"]
  problems: () => Promise<readonly Problem[]>
  channels: () => ReadonlyMap<string, Channel>
  shell: CommandServices["shell"]
  nodes: CommandServices["nodes"]
  /** Channels and terminals. */
  senders: () => ReadonlyMap<string, ChannelSender>
}

const statusTimeoutMs = 2_000

export function tellSessionChanged(channels: ReadonlyMap<string, Channel>): void {
  for (const channel of channels.values()) channel.commands.sessionChanged()
}

export function composeCommands(core: Core, parts: CommandParts): JobHandler {
  const { log, redactor } = core
  const channelOf = (route: Route) => parts.channels().get(route.channel)
  return createCommandHandler({
    services: createServices(core, parts, channelOf),
    plan: (route, reply) => parts.senders().get(route.channel)?.plan(route, reply) ?? [],
    canShowButtons: (route) => channelOf(route)?.commands.canShowButtons(route) ?? false,
    onChanged: () => tellSessionChanged(parts.channels()),
    redact: (text) => redactor.redact(text),
    log: log.child({ part: "commands" }),
  })
}

function createServices(
  core: Core,
  parts: CommandParts,
  channelOf: (route: Route) => Channel | undefined,
): CommandServices {
  const { store, clock } = core
  return {
    commands: nativeCommands,
    sessions: parts.sessions,
    clock,
    models: {
      selectable(agentId) {
        const view = modelsView(core.config())
        return selectableModels(view, agentId, (id) =>
          isUsableModel(view, core.holder.snapshot().environment.variables, id),
        )
      },
      describe: (selection) => parts.models.describe(selection),
    },
    usage: parts.ledger,
    ...boundServices(core, parts),
    lanes: {
      stop: (call) => parts.runner().stopLane(call.sessionKey, new TurnStopped(), (job) => isStoppedBy(call, job)),
      count(sessionKey) {
        const turns = openJobs(store, sessionKey).filter((job) => job.kind === turnJobKind && job.taken_by === null)
        const running = turns.filter((job) => job.state === "running").length
        return { running, waiting: turns.length - running }
      },
    },
    archive: archiveServices(core, (route) => channelOf(route)?.commands.maxFile(route.account)),
    queue: { configured: (route) => configuredQueue(core.config(), route.channel) },
    config: createConfigAccess(core, (route) => channelOf(route)?.commands.mayWriteConfig(route.account) ?? false),
    approvals: {
      async decide(id, decision, by) {
        const decided = await parts.approvals.decide(id, decision, by)
        const target = decided.kind === "unknown" ? "" : decided.row.id
        const outcome = decided.kind === "decided" ? "ok" : decided.kind
        core.audit.record({ door: "chat", who: personOf(by), action: `approval.${decision}`, target, outcome })
        return describeDecided(decided)
      },
    },
    nodes: parts.nodes,
    status: {
      version: version(),
      startedAt: Date.parse(core.startedAt),
      async account(route) {
        if (route.channel === terminalChannel) return "running"
        const signal = AbortSignal.timeout(statusTimeoutMs)
        const accounts = (await channelOf(route)?.status({ probe: false, signal })) ?? []
        return accounts.find((each) => each.account === route.account)?.state ?? "not configured"
      },
      heartbeat: (call) => heartbeatLine(core, parts.heartbeat(), call),
      problems: parts.problems,
    },
    shell: parts.shell,
    customCommands: (route) => channelOf(route)?.commands.custom(route.account) ?? [],
    isOn: (key) => core.config().commands[key],
    restarts: parts.restarts,
    inspect: () => inspect(core),
  }
}

/** What an owner says of bounds: more than a cap, a pause and its end. */
function boundServices(core: Core, parts: CommandParts): Pick<CommandServices, "budget" | "pause"> {
  return {
    budget: {
      list: () => parts.budget.list(),
      async allow(id, allowance, by) {
        const allowed = await parts.budget.allow(id, allowance, by)
        core.audit.record({
          door: "chat",
          who: personOf(by),
          action: "budget.allow",
          target: allowed.cap.id,
          outcome: "ok",
        })
        if (allowed.resumed > 0) parts.runner().wake()
        return allowed
      },
    },
    pause: {
      async begin(by) {
        core.audit.record({ door: "chat", who: personOf(by), action: "gateway.pause", target: "", outcome: "ok" })
        return await parts.pause.begin(by)
      },
      async end(by) {
        core.audit.record({ door: "chat", who: personOf(by), action: "gateway.resume", target: "", outcome: "ok" })
        return await parts.pause.end(by)
      },
    },
  }
}

function inspect({ store, config, startedAt }: Core): Record<string, unknown> {
  const { rss, heapUsed } = process.memoryUsage()
  const since = store.clock.now() - 7 * 24 * 60 * 60 * 1000
  const window = { since, outboxId: 0, jobId: 0 }
  return {
    version: version(),
    startedAt,
    node: process.version,
    memoryMb: { rss: Math.round(rss / 1024 / 1024), heap: Math.round(heapUsed / 1024 / 1024) },
    jobs: countJobs(store, window),
    outbox: countOutbox(store, window),
    events: countEvents(store),
    reload: config().gateway.reload.mode,
  }
}

function personOf(id: string): Visitor {
  return { kind: "person", id, name: "" }
}

/**
 * What came before the command and is the caller's: the turns of the chat. An owner also stops what else runs in the
 * session; what others have written there waits on.
 */
function isStoppedBy(call: CommandCall & { jobId: number }, job: JobRow): boolean {
  if (job.id >= call.jobId) return false
  const isOwner = call.sender.origin === "owner" && job.state === "running"
  if (job.kind === heartbeatJobKind || job.kind === compactJobKind) return isOwner
  if (job.kind !== turnJobKind) return false
  const { route } = JSON.parse(job.payload) as TurnInput
  return isOwner || (route !== null && isSameChat(route, call.route))
}

function isSameChat(one: Route, other: Route): boolean {
  return one.channel === other.channel && one.account === other.account && one.chatId === other.chatId
}

function createConfigAccess(core: Core, mayWrite: (route: Route) => boolean): ConfigAccess {
  const { holder } = core
  const change = (call: CommandCall, key: string, write: (path: ConfigPath) => WriteResult): ConfigChangeReport => {
    const path = parseConfigPath(key)
    guard(path, call, mayWrite)
    const result = write(path)
    const name = formatConfigPath(path)
    if (result.kind === "invalid") {
      const issues = result.issues.map((issue) => `- ${formatIssue(issue)}`).join("\n")
      throw new AppError("bad-request", `Nothing was written; the configuration would be invalid:\n${issues}`)
    }
    const isChanged = result.files.length > 0
    const { sender, route } = call
    core.log.info(
      { part: "commands", key: name, sender: sender.id, chat: route.chatId, isChanged },
      "config set by chat",
    )
    const who = personOf(`chat:${sender.id}`)
    core.audit.record({ door: "chat", who, action: "config.write", target: name, outcome: "ok" })
    return { key: name, isChanged, effect: isChanged ? use(core, path) : "now" }
  }
  const target = () => ({ path: core.environment.configPath, env: core.environment.variables })
  return {
    show(key) {
      if (key === undefined) return JSON.stringify(redactConfig(holder.snapshot().source), null, 2)
      return JSON.stringify(showConfigValue(holder.current(), parseConfigPath(key)), null, 2)
    },
    set: (call, key, text) =>
      change(call, key, (path) => setConfigText({ ...target(), key: path, text, refusePlaceholders: true })),
    unset: (call, key) => change(call, key, (path) => unsetConfigValue({ ...target(), key: path })),
  }
}

function guard(path: ConfigPath, { route, sender }: CommandCall, mayWrite: (route: Route) => boolean): void {
  if (!mayWrite(route)) {
    throw new AppError("config-write-refused", "The configuration cannot be changed from this channel", {
      hint: `It is switched off: channels.${route.channel}.configWrites`,
    })
  }
  if (sender.origin !== "owner" && isOwnersPath(path)) {
    throw new AppError("config-write-refused", `Only owners may change ${formatConfigPath(path)}`, {
      hint: "It says what the agent does for its owner. Owners are listed by id in allowFrom",
    })
  }
  if (!isProtectedPath(path)) return
  throw new AppError("config-write-refused", `${formatConfigPath(path)} cannot be changed from a chat`, {
    hint: "It guards who may do what. Change it in the configuration file, or on its machine: svc config set <key> <value>",
  })
}

/** What was written is used at once, without waiting for the watch of the file. */
function use(core: Core, path: ConfigPath): ConfigChangeReport["effect"] {
  const { mode } = core.config().gateway.reload
  if (mode === "off") return "after-restart"
  core.holder.reload()
  if (mode === "restart") return "restarting"
  if (!takesRestart(formatConfigPath(path))) return "now"
  return mode === "hot" ? "after-restart" : "restarting"
}
