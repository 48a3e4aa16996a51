// What the gateway's HTTP API can ask for: the status of everything, pairing, channels, messages sent by hand.
import { runAgain } from "../agent/index.ts"
import type { BackupSchedule } from "../backup/index.ts"
import type { Approvals } from "../approvals/index.ts"
import { readRange } from "../budget/index.ts"
import type { Channel } from "../channels/contract.ts"
import { unknownChannel, type Pairing } from "../channels/index.ts"
import { formatIssue } from "../config/index.ts"
import type { MessageChange, Target as DeliveryTarget } from "../delivery/index.ts"
import type { GatewayActions, GatewayStatus, MessageAction, MessageToSend } from "../gateway/index.ts"
import { AppError, type Json } from "../kernel/index.ts"
import type { Route } from "../sessions/index.ts"
import type { Schedules } from "../schedules/index.ts"
import { type NewOutbox, countEvents, countJobs, countOutbox, countUncertain, readDeliveryOf } from "../store/index.ts"
import type { AgentParts } from "./agent.ts"
import { scheduleActions } from "./schedules.ts"
import { pauseActions } from "./pause.ts"
import { describeDecided } from "./approvals.ts"
import { budgetActions } from "./budget.ts"
import { type Core, userTimeZone } from "./core.ts"
import { mainAgentId } from "./main-agent.ts"
import type { Failures } from "./failures.ts"
import { type Health, personWaitMs } from "./health.ts"
import { tellSessionChanged } from "./commands.ts"
import { createModelActions } from "./models/actions.ts"
import { createHeartbeatActions, indicatedHeartbeats } from "./heartbeats.ts"
import { describeWarning, findModelWarnings } from "./models/warnings.ts"
import { createPairingActions } from "./pairing.ts"
import { countWaiting, listPeople } from "./people.ts"
import { storeHealth } from "./store-health.ts"
import { backupActions } from "./backup.ts"
import { configActions } from "./settings.ts"
import { skillActions } from "./skills.ts"
import { sessionActions } from "./sessions.ts"
import { terminalActions } from "./terminal.ts"
import { version } from "./version.ts"

export interface ActionParts {
  agent: AgentParts
  chat: GatewayActions["chat"]
  channels: () => ReadonlyMap<string, Channel>
  pairing: Pairing
  browser: GatewayActions["browser"]
  hooks: GatewayActions["hooks"]
  mcp: GatewayActions["mcpServers"]
  health: Health
  schedules: Schedules
  failures: Failures
  ports: () => { gateway: number; control: number }
  requestStop: () => void
  backups: BackupSchedule
  sandbox: GatewayActions["sandbox"]
  secrets: GatewayActions["secrets"]
  nodes: GatewayActions["nodes"]
  takeovers: GatewayActions["takeovers"]
}

export function createActions(core: Core, parts: ActionParts): GatewayActions {
  const models = createModelActions({
    config: core.config,
    environment: core.holder.snapshot().environment.variables,
    registry: parts.agent.models,
    clock: core.clock,
    tools: parts.agent.toolSchemas,
  })
  const people = createPairingActions(core, parts.pairing)
  return {
    status: () => status(core, parts),
    dismissFailures: () => parts.failures.dismiss(),
    usage({ by, limit, ...texts }) {
      const place = { now: core.clock.now(), timeZone: userTimeZone(core.config()) }
      return parts.agent.ledger.summarise({ by, limit, ...readRange(texts, place) })
    },
    budget: budgetActions(core, parts.agent),
    schedules: scheduleActions(parts.schedules),
    pause: pauseActions(parts.agent.pause),
    listModels: models.list,
    testModel: models.test,
    requestStop: parts.requestStop,
    stopRun: parts.agent.stopTurn,
    browser: parts.browser,
    runAgain: (wish) => runAgain(core, wish),
    approvals: approvalActions(parts.agent.approvals),
    hooks: parts.hooks,
    terminal: terminalActions(core, parts.agent),
    chat: parts.chat,
    ...createHeartbeatActions(core, parts.agent.heartbeat),
    sandbox: parts.sandbox,
    nodes: parts.nodes,
    config: configActions(core),
    backups: backupActions(core, parts.backups),
    skills: skillActions(core),
    ...people,
    sessions: sessionActions(core, parts.agent.sessions, () => tellSessionChanged(parts.channels())),
    memory: parts.agent.memory.actions,
    mcpServers: parts.mcp,
    listPeople: () => listPeople(core, { ...parts, ...people }),
    secrets: parts.secrets,
    takeovers: parts.takeovers,
    explainAccess: ({ channel, ...question }) => channelNamed(parts, channel).explain(question),
    unpinName: (pin) => unpinName(parts, pin),
    async listChannels(options) {
      if (!options.probe) await parts.health.look(personWaitMs)
      return await listChannels(core, parts, options)
    },
    sendMessage: (message, signal) => sendMessage(core, parts, message, signal),
    changeMessage: (action, signal) => changeMessage(core, parts, action, signal),
  }
}

function approvalActions(approvals: Approvals): GatewayActions["approvals"] {
  return {
    list: (query) => approvals.list(query),
    read: (id) => approvals.read(id),
    async decide(id, decision) {
      const decided = await approvals.decide(id, decision, "gateway")
      const message = describeDecided(decided)
      if (decided.kind !== "decided") throw new AppError("conflict", message)
      return { message, approval: approvals.read(decided.row.id) }
    },
  }
}

function channelNamed(parts: ActionParts, name: string): Channel {
  const channel = parts.channels().get(name)
  if (!channel) throw unknownChannel(name, parts.channels().keys())
  return channel
}

async function unpinName(parts: ActionParts, pin: { channel: string; name: string; account?: string }) {
  const accounts = await channelNamed(parts, pin.channel).unpin(pin.name, pin.account)
  if (accounts.length > 0) return { accounts }
  throw new AppError("not-found", `Nobody is pinned under the name ${pin.name}`, {
    hint: "Pinned names stand in: svc channels status --json",
  })
}

async function listChannels(core: Core, parts: ActionParts, options: { probe: boolean; signal: AbortSignal }) {
  const lists = await Promise.all([...parts.channels().values()].map((channel) => channel.status(options)))
  const counts = countUncertain(core.store, parts.failures.window())
  return lists.flat().map((status) => {
    const own = counts.find(({ channel, account }) => channel === status.channel && account === status.account)
    return { ...status, uncertain: own?.uncertain ?? 0 }
  })
}

async function status(core: Core, parts: ActionParts): Promise<GatewayStatus> {
  const { environment, store } = core
  const issues = core.holder.issues()
  const ports = parts.ports()
  const backup = parts.backups.state()
  const failures = parts.failures.window()
  return {
    version: version(),
    pid: process.pid,
    bootId: core.bootId,
    startedAt: core.startedAt,
    stateFolder: environment.stateFolder,
    configPath: environment.configPath,
    port: ports.gateway,
    controlPort: ports.control,
    ...(await parts.health.look(personWaitMs)),
    ...(issues.length === 0 ? {} : { configProblem: issues.map(formatIssue).join("\n") }),
    store: storeHealth(core),
    jobs: countJobs(store, failures),
    outbox: countOutbox(store, failures),
    events: countEvents(store),
    waiting: countWaiting(parts),
    heartbeats: indicatedHeartbeats(core, parts.agent.heartbeat).map(({ agentId, nextAt, last, everyMs }) => ({
      agentId,
      everyMs,
      ...(nextAt === undefined ? {} : { nextAt }),
      ...(last ? { last } : {}),
    })),
    channels: await listChannels(core, parts, { probe: false, signal: AbortSignal.timeout(2_000) }),
    model: describeModel(core, parts),
    usage: { today: parts.agent.ledger.today() },
    ...(backup === undefined ? {} : { backup }),
    memoryMb: Math.round(process.memoryUsage.rss() / 1024 / 1024),
  }
}

function describeModel(core: Core, parts: ActionParts): GatewayStatus["model"] {
  const found = findModelWarnings(core.config(), core.holder.snapshot().environment.variables)
  const warnings = found.length === 0 ? {} : { warnings: found.map(describeWarning) }
  try {
    return { id: parts.agent.models.describe({ agentId: mainAgentId(core.config()) }).id, ...warnings }
  } catch (error) {
    if (error instanceof AppError) return { error: error.message, ...warnings }
    throw error
  }
}

async function sendMessage(core: Core, parts: ActionParts, wanted: MessageToSend, signal: AbortSignal) {
  const { delivery } = parts.agent
  const { channel, target, account, media, message, replyTo, threadId, silent, asVoice } = wanted
  const route = await findRoute(core, parts, { channel, to: target, account }, signal)
  const file = media === undefined ? undefined : await delivery.takeMedia(route, media, signal)
  const rows = delivery.planMessage(route, {
    message,
    ...(file === undefined ? {} : { media: [file] }),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(silent === undefined ? {} : { silent }),
    ...(asVoice === undefined ? {} : { asVoice }),
  })
  return await queue(core, parts, { ...wanted, route, rows, signal })
}

async function changeMessage(core: Core, parts: ActionParts, wanted: MessageAction, signal: AbortSignal) {
  const { channel, target, account } = wanted
  const route = await findRoute(core, parts, { channel, to: target, account }, signal)
  const rows = [parts.agent.delivery.planChange(route, changeOf(wanted))]
  return await queue(core, parts, { ...wanted, route, rows, signal })
}

/** A person waits for the answer, so what a name means is asked before anything is queued. */
async function findRoute(core: Core, parts: ActionParts, target: DeliveryTarget, signal: AbortSignal): Promise<Route> {
  const route = parts.agent.delivery.resolve(mainAgentId(core.config()), target)
  return (await parts.channels().get(route.channel)?.findTarget(route, signal)) ?? route
}

function changeOf(wanted: MessageAction): MessageChange {
  const { messageId } = wanted
  if (wanted.action === "edit") return { action: "edit", messageId, text: wanted.message }
  if (wanted.action === "react") return { action: "react", messageId, emoji: wanted.emoji }
  return { action: "delete", messageId }
}

interface Queued {
  route: Route
  rows: readonly NewOutbox[]
  dryRun?: boolean
  waitSeconds?: number
  signal: AbortSignal
}

async function queue({ store }: Core, { agent }: ActionParts, queued: Queued) {
  const { route, rows, dryRun = false, waitSeconds = 0, signal } = queued
  if (dryRun) return { deliveries: [], route: { ...route, rows: rows.map((row) => row.payload) } as Json }
  const deliveries = await store.write(async (write) => rows.map((row) => write.addOutbox(row)))
  if (waitSeconds > 0) await agent.worker.waitFor(deliveries, { timeoutMs: waitSeconds * 1000, signal })
  return { deliveries, route: route as unknown as Json, delivery: readDeliveryOf(store, deliveries) }
}
