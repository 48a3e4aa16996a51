// What every part stands on: environment, configuration, log, the lock of the state folder, the store.
import { join } from "node:path"
import {
  type Config,
  type ConfigHolder,
  type ConfigSnapshot,
  type Environment,
  addVariables,
  createConfigHolder,
  readEnvironment,
  resolveHome,
  secretsOf,
} from "../config/index.ts"
import { type WorkspaceFile, readWorkspaceFiles } from "../agent/index.ts"
import type { ChatappOptions } from "../channels/index.ts"
import {
  type Background,
  type Clock,
  type CrashPoint,
  type HandlePlan,
  type Ids,
  type Log,
  type LogLevel,
  type Redactor,
  type EventLoopWatch,
  type LostLines,
  type SteadyClock,
  createBackground,
  createLog,
  createLogConsole,
  createRedactor,
  createSteadyClock,
  noCrash,
  planHandles,
  readHandleLimit,
  systemClock,
  systemIds,
  watchEventLoop,
  makeFolder,
} from "../kernel/index.ts"
import { type Audit, type Tokens, createAudit, createTokens } from "../gateway/index.ts"
import {
  type FolderLock,
  type KeepTimes,
  KeptWrites,
  type Store,
  type StoreOptions,
  acquireStateLock,
  openStore,
} from "../store/index.ts"
import { version } from "./version.ts"

export interface GatewayOptions {
  stateDir?: string
  configPath?: string
  port?: number
  /** Begins anew where the store is damaged, missing or empty; a good store stays. */
  newStore?: boolean
  /** Errors only on the console; the log file is written all the same. */
  quiet?: boolean
  logLevel?: string
  /** Starts everything but what takes in, works or sends, on loopback, and ends: for a copy of a state folder. */
  selfTest?: boolean
  /** File of the command line, for work that is done by a process of its own. */
  program?: string
  /** Advice with the name by which this program can be called here. */
  named?: (text: string) => string
  /** Called once everything is ready. */
  onReady?: (ready: { pid: number; port: number; controlPort: number; stateFolder: string }) => void
  /** Where a test may kill the process; the shipped program has none. */
  crashPoint?: CrashPoint
  /** For tests that cannot wait as long as the platform wants. */
  pollTiming?: ChatappOptions["pollTiming"]
  /** Default: the system's. */
  clock?: Clock
  /** For tests whose disk fails. */
  sync?: StoreOptions["sync"]
}

export interface Core {
  environment: Environment
  holder: ConfigHolder
  config: () => Config
  /** What the parts were made with. */
  begun: ConfigSnapshot
  log: Log
  flushLog: () => void
  lostLogLines: () => LostLines
  eventLoop: EventLoopWatch
  redactor: Redactor
  background: Background
  clock: SteadyClock
  ids: Ids
  crashPoint: CrashPoint
  pollTiming: ChatappOptions["pollTiming"]
  store: Store
  audit: Audit
  /** Those with scopes. */
  tokens: Tokens
  /** Whether the store can be written, and the results that wait for it. */
  kept: KeptWrites
  lock: FolderLock
  bootId: string
  startedAt: string
  /** What of the limit of open files is kept for which use. */
  handles: HandlePlan
}

const dayMs = 24 * 60 * 60 * 1000

/** Throws AppError: `config-invalid`, `config-emptied`, `already-running`, or what the store says. */
export async function openCore(options: GatewayOptions): Promise<Core> {
  const environment = readEnvironment(withOverrides(process.env, options))
  makeFolder(environment.stateFolder)
  const redactor = createRedactor()
  if (environment.chatappBotToken !== undefined) redactor.add(environment.chatappBotToken)
  for (const secret of secretsOf(environment.envFile)) redactor.add(secret)
  const { log, setLevels, flush, lost } = openLog(environment, redactor, options)
  const handles = planHandles(readHandleLimit())
  if (handles.warning !== undefined) log.warn({ limit: handles.limit }, handles.warning)
  const bootId = systemIds.uuid()
  // The edge: nobody behind it sees the wall clock jump.
  const clock = createSteadyClock(options.clock ?? systemClock)
  const startedAt = new Date(clock.now()).toISOString()
  const holder = createConfigHolder({
    path: environment.configPath,
    env: environment.variables,
    stateFolder: environment.stateFolder,
    log: log.child({ part: "config" }),
  })
  const begun = holder.snapshot()
  let lock: FolderLock | undefined
  let eventLoop: EventLoopWatch | undefined
  try {
    const learn = () => {
      for (const secret of holder.snapshot().secrets) redactor.add(secret)
      setLevels(...levelsOf(holder.current(), options))
    }
    learn()
    holder.subscribe(learn)
    lock = await acquireStateLock(environment.stateFolder, { pid: process.pid, bootId, startedAt })
    eventLoop = watchEventLoop({ folder: environment.stateFolder, bootId, log: log.child({ part: "event loop" }) })
    tellOfHang(eventLoop, log)
    const crashPoint = options.crashPoint ?? noCrash
    const kept = new KeptWrites({ clock, log: log.child({ part: "store" }) })
    const opened = await openStore({
      folder: environment.stateFolder,
      bootId,
      clock,
      ids: systemIds,
      log: log.child({ part: "store" }),
      crashPoint,
      keep: () => keepTimes(holder.current()),
      version: version(),
      newStore: options.newStore,
      ...(options.sync === undefined ? {} : { sync: options.sync }),
    })
    const store = kept.observe(opened)
    const background = createBackground(log)
    const audit = createAudit({ store, clock, log: log.child({ part: "audit" }), background })
    return {
      // Whoever checks a change of the file needs what the login shell has set.
      environment: addVariables(environment, holder.snapshot().shell),
      holder,
      config: () => holder.current(),
      begun,
      log,
      flushLog: flush,
      lostLogLines: lost,
      eventLoop,
      redactor,
      background,
      clock,
      ids: systemIds,
      crashPoint,
      pollTiming: options.pollTiming,
      store,
      audit,
      tokens: createTokens({ store, clock, ids: systemIds, background }),
      kept,
      lock,
      bootId,
      startedAt,
      handles,
    }
  } catch (error) {
    holder.stop()
    await eventLoop?.stop()
    await lock?.release()
    throw error
  }
}

/** Of the log file and of the console. */
function levelsOf({ logging }: Config, { quiet, logLevel }: GatewayOptions): [LogLevel, LogLevel] {
  const wanted = logLevel as LogLevel | undefined
  return [wanted ?? logging.level, quiet ? "error" : (wanted ?? logging.consoleLevel)]
}

function keepTimes({ hooks, session, storage }: Config): KeepTimes {
  return {
    hookDeliveriesMs: hooks.keepDays * dayMs,
    hookDeliveriesBytes: hooks.keepMb * 1024 * 1024,
    hookSessionsMs: hooks.keepSessionDays * dayMs,
    finishedMs: storage.keepDays * dayMs,
    waitingEventsMs: storage.keepEventDays * dayMs,
    endedSessionsMs: session.keepDays === undefined ? undefined : session.keepDays * dayMs,
  }
}

function tellOfHang(eventLoop: EventLoopWatch, log: Log): void {
  const hang = eventLoop.lastHang()
  if (!hang) return
  const { since, ms, work, stack } = hang
  log.error({ since, ms, work, stack }, "the gateway before this one was ended while it hung")
}

function withOverrides(variables: NodeJS.ProcessEnv, options: GatewayOptions): NodeJS.ProcessEnv {
  return {
    ...variables,
    ...(options.stateDir === undefined ? {} : { SVC_STATE_DIR: options.stateDir }),
    ...(options.configPath === undefined ? {} : { SVC_CONFIG_PATH: options.configPath }),
    ...(options.port === undefined ? {} : { SVC_GATEWAY_PORT: String(options.port) }),
  }
}

function openLog(environment: Environment, redactor: Redactor, options: GatewayOptions) {
  const level = (options.logLevel ?? "info") as LogLevel
  const console = createLogConsole(process.stderr, 2)
  // Nothing of ours writes there, but somebody else's code may, and its reader may be gone.
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", () => undefined)
  const handle = createLog({
    folder: join(environment.stateFolder, "logs"),
    level,
    redactor,
    console: {
      write: console.write,
      colour: process.stderr.isTTY && !environment.variables["NO_COLOR"],
      level: options.quiet ? "error" : level,
    },
  })
  const flush = () => {
    handle.flush()
    console.close()
  }
  return { ...handle, flush }
}

/** `agents.defaults.workspace` or the agent's own. */
export function workspaceOf(core: Core, agentId: string): string {
  const { agents } = core.config()
  const own = agents.list.find((agent) => agent.id === agentId)?.workspace ?? agents.defaults.workspace
  if (own === undefined) return join(core.environment.stateFolder, "workspace")
  return resolveHome(own, core.environment.home, core.environment.stateFolder)
}

/** What stands in the workspace for the agent's prompt. */
export function workspaceFilesOf(core: Core, agentId: string, { isPrivate }: { isPrivate: boolean }): WorkspaceFile[] {
  const { agents, memory } = core.config()
  const { maxChars, totalChars } = agents.defaults.workspacePrompt
  const limits = { maxChars, totalChars, memoryChars: memory.enabled ? memory.promptChars : 0 }
  return readWorkspaceFiles(workspaceOf(core, agentId), { isPrivate, limits, log: core.log })
}

/** The process keeps the zone that it began with; asking for it takes a tenth of a millisecond, several times a turn. */
const hostTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** In which days begin and end for the user: `agents.defaults.userTimezone`, else the host's. */
export function userTimeZone(config: Config): string {
  return config.agents.defaults.userTimezone ?? hostTimeZone
}
