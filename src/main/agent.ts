// The agent with everything it needs: sessions, models, tools, turns, heartbeats, the lanes that run them, delivery.
import { join } from "node:path"
import {
  type Heartbeat,
  type TurnInput,
  type TurnObserver,
  type TurnOptions,
  type Turns,
  TurnStopped,
  type TurnView,
  compactJobKind,
  createCompaction,
  createHeartbeat,
  createSkillsReader,
  createTurns,
  heartbeatJobKind,
  liveTimeText,
  selectSkills,
  turnJobKind,
} from "../agent/index.ts"
import { type Approvals, approvalExpiryKind } from "../approvals/index.ts"
import type { Channel } from "../channels/contract.ts"
import {
  type CommandServices,
  type TerminalOutlet,
  commandJobKind,
  createTerminalOutlet,
  lateFilesJobKind,
} from "../channels/index.ts"
import type { Config } from "../config/index.ts"
import {
  type ChannelSender,
  type Delivery,
  type DeliveryOptions,
  FlightLog,
  type LostOptions,
  OutboxWorker,
  createDelivery,
  createResendHandler,
  resendJobKind,
  responsePrefix,
  streamReply,
  tellLost,
} from "../delivery/index.ts"
import type { Problem } from "../gateway/index.ts"
import { callbackChannel, queueCallback } from "../hooks/index.ts"
import { AppError, explainHandles } from "../kernel/index.ts"
import {
  type ModelRegistry,
  type ModelSelection,
  type ToolSchema,
  createDescribePicture,
  isSelectableModel,
} from "../models/index.ts"
import { type Route, type Sessions, createSessions } from "../sessions/index.ts"
import { type JobHandler, LaneRunner, cancelWaiting, recoverJobs } from "../store/index.ts"
import { type ToolChanges, composeApprovals } from "./approvals.ts"
import { callbackSender } from "./callback-sender.ts"
import { createTabWaits, tabWaitKind } from "./tab-waits.ts"
import { composeCommands } from "./commands.ts"
import { type Core, userTimeZone, workspaceFilesOf, workspaceOf } from "./core.ts"
import { alertRoute, heartbeatAgents, heartbeatOf, heartbeatVisibility } from "./heartbeats.ts"
import { mainAgentId } from "./main-agent.ts"
import { type MemoryParts, composeMemory } from "./memory.ts"
import { modelsView } from "./models/view.ts"
import { type OwnersChatParts, ownersChat } from "./owners-chat.ts"
import { type Pause, createPause } from "./pause.ts"
import { type Spending, composeSpending } from "./spending.ts"
import { isLetIn, isStillHeard, onlyToHeard, onlyWhileHeard } from "./still-heard.ts"
import { confirmRulesOf, schemasForCheck, toolPolicyOf } from "./tools.ts"

export interface AgentParts extends Spending {
  sessions: Sessions
  pause: Pause
  approvals: Approvals
  memory: MemoryParts
  /** Those that an agent may use. */
  skills: TurnOptions["skills"]
  delivery: Delivery
  runner: LaneRunner
  worker: OutboxWorker
  heartbeat: Heartbeat
  /** Channels and terminals. */
  senders: () => ReadonlyMap<string, ChannelSender>
  /** Where answers to `svc agent` go. */
  terminal: TerminalOutlet
  /** Ends a turn that somebody has watched being written, also one that waits to go on after a restart. */
  stopTurn(turn: { runId: string; laneKey: string }): Promise<void>
  /** What a picture shows, by a model that can see; undefined when there is none. */
  describePicture: ReturnType<typeof createDescribePicture>
  /** Whether a word names a model that a session may choose. */
  isModel(name: string): boolean
  /** The tools as a model is shown them, for checks of models. */
  toolSchemas(agentId: string): ToolSchema[]
  start(): Promise<void>
}

export interface AgentLinks {
  tools: TurnOptions["tools"]
  toolsReady: NonNullable<TurnOptions["toolsReady"]>
  /** Changes of other servers' tools that an owner has allowed. */
  toolChanges: () => ToolChanges
  restarts: CommandServices["restarts"]
  /** What does not work now, looked at for somebody who asks once. */
  problems(): Promise<readonly Problem[]>
  channels: () => ReadonlyMap<string, Channel>
  /** Of what else waits in lanes. */
  jobs: Readonly<Record<string, JobHandler>>
  /** Runs an owner's commands in the sandbox. */
  shell: CommandServices["shell"]
  nodes: CommandServices["nodes"]
}

const silent: TurnObserver = { end: () => undefined }

export function composeAgent(core: Core, links: AgentLinks): AgentParts {
  const { store, clock, ids, log, background, crashPoint } = core
  const sessions = createSessions({ store, ids, config: () => core.config().session })
  const memory = composeMemory(core)
  const terminal = createTerminalOutlet({ newStream: () => ids.uuid() })
  const senders = () => sendersOf(links, terminal)
  const spending = composeSpending(core, { sessions, senders, channels: links.channels })
  const { models } = spending
  const approvals = composeApprovals(core, { ...links, sessions, senders })
  const pause = createPause(core, { runner: () => runner, senders })
  const parts = { ...links, ...spending, pause, sessions, approvals, senders }
  const prefix = (input: TurnInput) => prefixOf(core.config(), { models, sessions }, input)
  const letIn = (route: Route) => isLetIn(links.channels(), route)
  const delivery = composeDelivery(core, { sessions, senders, isLetIn: letIn, responsePrefix: prefix })
  const turnOptions: TurnOptions = {
    ackMaxChars: () => core.config().agents.defaults.heartbeat.ackMaxChars,
    store,
    sessions,
    models,
    approvals,
    profile: (agentId) => profileOf(core.config(), agentId),
    clock,
    timeText: liveTimeText(() => core.config().agents.defaults),
    ids,
    log: log.child({ part: "agent" }),
    crashPoint,
    deliver(write, turn) {
      queueCallback(write, turn)
      return delivery.deliverTurn(write, turn)
    },
    observe(input, runId, view) {
      // It looks at what was sent before: where that cannot be read, nothing has begun yet that is to be ended.
      const early = streamReply({ store, senders, responsePrefix: prefix, background, log }, input, runId, view)
      const watched = terminal.observe(input, runId) ?? observe(links, input, runId, view)
      return early ? both(watched, early) : watched
    },
    skills: composeSkills(core),
    ...ofPlace(core, links, memory),
  }
  const turns = createTurns(turnOptions)
  const heartbeat = composeHeartbeat(core, { turns, turnOptions, delivery })
  const heard = (handler: JobHandler) => onlyWhileHeard({ ...links, log }, handler)
  const handlers: Record<string, JobHandler> = blameless(core, {
    [turnJobKind]: heard({ run: turns.handle, onDead: turns.onDead }),
    [heartbeatJobKind]: { run: heartbeat.handle, onDead: heartbeat.onDead },
    [lateFilesJobKind]: channelJob(links, lateFilesJobKind),
    [compactJobKind]: compaction(senders, turnOptions, memory.notebook),
    ...waits(core, approvals, links.jobs),
    [commandJobKind]: heard(composeCommands(core, { ...parts, runner: () => runner, heartbeat: () => heartbeat })),
  })
  handlers[resendJobKind] = createResendHandler({ store, wake: () => worker.wake() })
  const runner: LaneRunner = composeRunner(core, handlers, pause)
  const worker: OutboxWorker = composeWorker(core, senders, { ...links, sessions })
  return {
    ...spending,
    pause,
    sessions,
    senders,
    approvals,
    memory,
    skills: turnOptions.skills,
    delivery,
    runner,
    worker,
    heartbeat,
    terminal,
    describePicture: composeVision(core, models),
    isModel: (name) => isSelectableModel(modelsView(core.config()), mainAgentId(core.config()), name),
    stopTurn: (turn) => stopTurn(core, runner, turn),
    toolSchemas: (agentId) => schemasForCheck(turnOptions, agentId),
    async start() {
      await spending.budget.recover()
      await pause.load()
      await recover(core, handlers)
      for (const channel of links.channels().values()) await channel.noteLists?.()
      await worker.start()
      runner.start()
      heartbeat.start()
    },
  }
}

function composeDelivery(
  core: Core,
  parts: Pick<DeliveryOptions, "sessions" | "senders" | "isLetIn" | "responsePrefix">,
): Delivery {
  return createDelivery({
    ...parts,
    ackMaxChars: () => core.config().agents.defaults.heartbeat.ackMaxChars,
    mediaRoot: join(core.environment.stateFolder, "media"),
    log: core.log.child({ part: "delivery" }),
  })
}

async function stopTurn({ store }: Core, runner: LaneRunner, turn: { runId: string; laneKey: string }): Promise<void> {
  if (runner.abortRun(turn.runId, new TurnStopped({ wasSeen: true }))) return
  await store.write(async (write) => cancelWaiting(store, write, turn.laneKey, (job) => job.run_id === turn.runId))
}

/** What was waited for and has not come in time. */
function waits(core: Core, approvals: Approvals, others: AgentLinks["jobs"]): Record<string, JobHandler> {
  return {
    ...others,
    [approvalExpiryKind]: { run: approvals.expire },
    [tabWaitKind]: { run: createTabWaits(core).expire },
  }
}

/** A lack of handles is a failure like that of the disk: the job is put back, and no attempt is counted. */
function blameless({ eventLoop }: Core, handlers: Record<string, JobHandler>): Record<string, JobHandler> {
  const wrapped = Object.entries(handlers).map(([kind, handler]): [string, JobHandler] => [
    kind,
    {
      ...handler,
      async run(job, signal) {
        const end = eventLoop.beginWork(job.run_id)
        try {
          return await handler.run(job, signal)
        } catch (error) {
          throw explainHandles(error)
        } finally {
          end()
        }
      },
    },
  ])
  return Object.fromEntries(wrapped)
}

/** What a turn asks of its channel, and of the folder of its agent. */
function ofPlace(
  core: Core,
  links: AgentLinks,
  memory: MemoryParts,
): Pick<TurnOptions, "tools" | "toolsReady" | "isHeard" | "workspaceFiles" | "preparation" | "compactRule"> {
  return {
    tools: (place) => [...links.tools(place), ...memory.tools(place)],
    toolsReady: links.toolsReady,
    isHeard: (input) => isStillHeard(links.channels(), input),
    workspaceFiles: (agentId, place) => workspaceFilesOf(core, agentId, place),
    compactRule: () => compactRuleOf(core.config()),
    preparation: ({ route }) => (route === null ? undefined : links.channels().get(route.channel)?.preparation),
  }
}

function compactRuleOf({ memory }: Config) {
  return memory.autoCompact ? { at: memory.compactAt } : undefined
}

function sendersOf(links: AgentLinks, { sender }: TerminalOutlet): Map<string, ChannelSender> {
  const chats = [...links.channels()].map(([name, channel]): [string, ChannelSender] => [name, channel.sender])
  return new Map([...chats, [sender.channel, sender]])
}

function compaction(
  senders: () => ReadonlyMap<string, ChannelSender>,
  turnOptions: TurnOptions,
  notebook: MemoryParts["notebook"],
): JobHandler {
  const say: Parameters<typeof createCompaction>[0]["say"] = (route, text) =>
    senders().get(route.channel)?.plan(route, { text, media: [] }) ?? []
  return createCompaction({ ...turnOptions, say, notebook })
}

/** The channels are made after the lanes that run their jobs. */
function channelJob(links: AgentLinks, kind: string): JobHandler {
  const handler = () => {
    const found = [...links.channels().values()].find((channel) => channel.jobs[kind])?.jobs[kind]
    if (!found) throw new AppError("not-ready", `No channel runs jobs of kind ${kind}`)
    return found
  }
  return {
    run: (job, signal) => handler().run(job, signal),
    onDead: async (job, error, write) => await handler().onDead?.(job, error, write),
  }
}

function composeHeartbeat(
  core: Core,
  { turns, turnOptions, delivery }: { turns: Turns; turnOptions: TurnOptions; delivery: Delivery },
): Heartbeat {
  const { store, clock, ids, log } = core
  return createHeartbeat({
    store,
    sessions: turnOptions.sessions,
    turns,
    turnOptions,
    clock,
    ids,
    log: log.child({ part: "heartbeat" }),
    settings: (agentId) => heartbeatOf(core.config(), agentId),
    agents: () => heartbeatAgents(core.config()),
    workspace: (agentId) => workspaceOf(core, agentId),
    timeZone: () => userTimeZone(core.config()),
    resolveRoute: (agentId, target, to) => alertRoute(delivery, agentId, target, to),
    mainName: () => core.config().session.mainKey,
    visibility: (route) => heartbeatVisibility(core.config(), route),
  })
}

function composeWorker(
  core: Core,
  senders: () => Map<string, ChannelSender>,
  links: AgentLinks & OwnersChatParts,
): OutboxWorker {
  const { store, clock, background, crashPoint, log, ids, kept } = core
  // Results posted to a webhook's sender take the outbox too, but are no chat that anything could be sent to.
  const callback = callbackSender(core)
  const heard = (sender: ChannelSender) => onlyToHeard({ store, channels: links.channels, log }, sender)
  const outlets = () => {
    const chats = [...senders()].map(([name, sender]): [string, ChannelSender] => [name, heard(sender)])
    return new Map(chats).set(callbackChannel, callback)
  }
  const lost: LostOptions = {
    senders,
    ownersChat: (agentId) => ownersChat(links, agentId),
    hide: (text) => core.redactor.hideRegistered(text),
  }
  return new OutboxWorker({
    store,
    clock,
    background,
    crashPoint,
    ids,
    kept,
    senders: outlets,
    flights: new FlightLog(join(core.environment.stateFolder, "in-flight")),
    tellLost: (write, row, error) => tellLost(lost, write, row, error),
    onUncertain: () => core.config().delivery.onUncertain,
    canShowButtons: (route) => links.channels().get(route.channel)?.commands.canShowButtons(route) ?? false,
    log: log.child({ part: "outbox" }),
  })
}

function composeRunner(core: Core, handlers: Record<string, JobHandler>, pause: Pause): LaneRunner {
  const { store, clock, log, background, kept } = core
  return new LaneRunner({
    store,
    handlers,
    kept,
    maxConcurrent: () => core.config().agents.defaults.maxConcurrent,
    maxHooks: () => core.config().hooks.maxConcurrent,
    paused: () => pause.state() !== undefined,
    clock,
    log: log.child({ part: "lanes" }),
    background,
  })
}

async function recover({ store, log, eventLoop }: Core, handlers: Record<string, JobHandler>): Promise<void> {
  const hung = new Set(eventLoop.lastHang()?.work)
  const { resumed, dead } = await recoverJobs(store, {
    hungRuns: () => hung,
    onDead: async (job, error, write) => await handlers[job.kind]?.onDead?.(job, error, write),
  })
  eventLoop.forgetHang()
  if (resumed > 0) log.info({ jobs: resumed }, "jobs of an earlier process go on")
  for (const job of dead)
    log.error({ run: job.run_id, lane: job.lane_key }, "job given up: the process ended each time that it ran")
}

function composeVision(core: Core, models: ModelRegistry): AgentParts["describePicture"] {
  const allowed = () => Object.keys(core.config().agents.defaults.models ?? {})
  return createDescribePicture({ models, allowed, log: core.log.child({ part: "models" }) })
}

function composeSkills(core: Core): AgentParts["skills"] {
  const read = createSkillsReader(core.log)
  return (agentId) => {
    const agent = core.config().agents.list.find((entry) => entry.id === agentId)
    return selectSkills(read(workspaceOf(core, agentId)), agent?.skills)
  }
}

function profileOf(config: Config, agentId: string) {
  const agent = config.agents.list.find((entry) => entry.id === agentId)
  const manner = agent?.identity?.theme
  const tools = toolPolicyOf(config, agentId)
  return {
    name: agent?.identity?.name ?? agent?.name ?? "the agent",
    timeoutSeconds: config.agents.defaults.timeoutSeconds,
    confirm: confirmRulesOf(config, agentId),
    limits: config.agents.defaults.limits,
    ...(manner === undefined ? {} : { manner }),
    ...(tools === undefined ? {} : { tools }),
  }
}

function prefixOf(config: Config, parts: Pick<AgentParts, "models" | "sessions">, input: TurnInput): string {
  return responsePrefix(config.messages.responsePrefix, () => {
    const { agentId } = input
    const session = parts.sessions.find(input.sessionKey)?.settings
    const model = input.model ?? session?.model
    const thinking = input.thinking ?? session?.thinking
    const selected = describeModel(parts.models, { agentId, model, thinking })
    const agent = config.agents.list.find((entry) => entry.id === agentId)
    return {
      model: selected?.id,
      thinkingLevel: selected?.thinking,
      identityName: agent?.identity?.name ?? agent?.name,
    }
  })
}

/** A model that the configuration has lost meanwhile must not cost the reply that it wrote. */
function describeModel(models: ModelRegistry, selection: ModelSelection) {
  try {
    return models.describe(selection)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

function observe(links: AgentLinks, input: TurnInput, runId: string, view: TurnView): TurnObserver {
  // Nobody waits for the answer to a heartbeat or a webhook: no typing for them.
  if (input.route === null || input.purpose !== "chat") return silent
  return links.channels().get(input.route.channel)?.observe(input, runId, view) ?? silent
}

function both(one: TurnObserver, other: TurnObserver): TurnObserver {
  return {
    onStep(step) {
      one.onStep?.(step)
      other.onStep?.(step)
    },
    onDelta(delta) {
      one.onDelta?.(delta)
      other.onDelta?.(delta)
    },
    onRestart() {
      const seen = [one.onRestart?.() ?? "", other.onRestart?.() ?? ""]
      return seen.find((text) => text !== "") ?? ""
    },
    end() {
      one.end()
      other.end()
    },
  }
}
