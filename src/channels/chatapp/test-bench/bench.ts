// For tests: a channel on a real store in a temporary folder, against the emulator, with a real outbox worker.
import { join } from "node:path"
import { Writable } from "node:stream"
import pino from "pino"
import { type Emulator, startEmulator } from "../../../../emulator/index.ts"
import { type Config, configSchema } from "../../../config/index.ts"
import { OutboxWorker } from "../../../delivery/worker.ts"
import {
  type Background,
  type Clock,
  type CrashPoint,
  type Log,
  type Redactor,
  createBackground,
  createRedactor,
  noCrash,
  systemClock,
  systemIds,
} from "../../../kernel/index.ts"
import { createSessions } from "../../../sessions/index.ts"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { type JobRow, type OutboxRow, type Store, openStore } from "../../../store/index.ts"
import { type Channel, type ChatappOptions, type Pairing, createChatappChannel, createPairing } from "../../index.ts"
import type { PollTiming } from "../polling.ts"
import { endAll } from "../../../../test/support/ends.ts"
import { withPlansWatched } from "../../../../test/support/plans.ts"
import { newStateFolder } from "../../../../test/support/state-folder.ts"

export interface BenchOptions {
  chatapp?: Record<string, unknown>
  /** Other parts of the configuration. */
  config?: Record<string, unknown>
  emulator?: Emulator
  /** Goes on with the state of an earlier bench. */
  folder?: string
  clock?: Clock
  crashPoint?: CrashPoint
  pollTiming?: Partial<PollTiming>
  /** Shared with other benches; default: one of its own. */
  runtimeFolder?: string
  environment?: { chatappBotToken?: string }
  fetching?: ChatappOptions["fetching"]
  describePicture?: ChatappOptions["describePicture"]
  /** Without it the configuration cannot be written. */
  renameConfig?: ChatappOptions["renameConfig"]
}

export interface Bench {
  emulator: Emulator
  store: Store
  channel: Channel
  pairing: Pairing
  folder: string
  redactor: Redactor
  /** Every log line so far, before any sink's redaction. */
  logLines: string[]
  /** Turns that the channel wanted to end. */
  stoppedRuns: string[]
  setConfig(chatapp: Record<string, unknown>): void
  jobs(): (JobRow & { input: TurnInput })[]
  outbox(): OutboxRow[]
  /** Resolves when the condition holds after a commit or a log line. */
  until(condition: () => boolean, what: string): Promise<void>
  stop(): Promise<void>
  /** Also the emulator. */
  end(): Promise<void>
}

export const quickPolls: Partial<PollTiming> = {
  holdSeconds: 5,
  conflictMs: 100,
  storeRetryMs: 20,
  minBackoffMs: 20,
  maxBackoffMs: 100,
  restartMs: 50,
  confirmMs: 100,
}

export async function startBench(options: BenchOptions = {}): Promise<Bench> {
  const emulator = options.emulator ?? (await startEmulator({ seed: 3 }))
  const folder = options.folder ?? (await newStateFolder())
  const logLines: string[] = []
  const stoppedRuns: string[] = []
  const waiting = new Set<() => void>()
  const changed = () => waiting.forEach((check) => check())
  const log = recordingLog(logLines, changed)
  const { clock = systemClock, crashPoint = noCrash } = options
  const redactor = createRedactor()
  const bootId = systemIds.uuid()
  const store = await withPlansWatched(openStore({ folder, bootId, clock, ids: systemIds, log, crashPoint }))
  store.onAdded(changed)
  const background = createBackground(log)
  let config = configFor(emulator, options.chatapp ?? {}, options.config)
  const sessions = createSessions({ store, ids: systemIds, config: () => config.session })
  const pairing = createPairing({ store, clock, ids: systemIds, log })
  const channel = createChatappChannel({
    store,
    config: () => config,
    renameConfig: options.renameConfig ?? (() => ({ kind: "invalid", issues: [] })),
    defaultAgentId: () => "main",
    pairing,
    clock,
    ids: systemIds,
    log,
    redactor,
    background,
    crashPoint,
    stateFolder: folder,
    runtimeFolder: options.runtimeFolder ?? join(folder, "run"),
    environment: options.environment ?? {},
    describePicture: options.describePicture ?? (async () => undefined),
    rememberRoute: (write, key, agentId, route) => sessions.rememberRoute(write, key, agentId, route),
    waitForDeliveries: (ids, limits) => worker.waitFor(ids, limits),
    stopTurn: async ({ runId }) => (stoppedRuns.push(runId), changed()),
    ...(options.fetching ? { fetching: options.fetching } : {}),
    pollTiming: { ...quickPolls, ...options.pollTiming },
  })
  const worker: OutboxWorker = createWorker({ store, clock, log, background, channel, config: () => config })
  await worker.start()
  await channel.start()
  let stopped = false
  const bench: Bench = {
    emulator,
    store,
    channel,
    pairing,
    folder,
    redactor,
    logLines,
    stoppedRuns,
    setConfig(chatapp) {
      config = configFor(emulator, chatapp, options.config)
    },
    jobs() {
      const rows = store.handle.prepare("select * from job order by id").all() as unknown as JobRow[]
      return rows.map((row) => ({ ...row, input: JSON.parse(row.payload) as TurnInput }))
    },
    outbox: () => store.handle.prepare("select * from outbox order by id").all() as unknown as OutboxRow[],
    async until(condition, what) {
      await until(waiting, condition, what)
      // Rows can be read a moment before they are on the disk; what follows from them comes after that.
      if (!stopped) await store.write(async () => undefined).catch(() => undefined)
      await new Promise((resolve) => setImmediate(resolve))
    },
    async stop() {
      if (stopped) return
      stopped = true
      await endAll([() => channel.stop(), () => worker.stop(1000), () => background.idle(), () => store.close()])
    },
    end: () => endAll([bench.stop, () => emulator.stop()]),
  }
  return bench
}

function recordingLog(lines: string[], changed: () => void): Log {
  return pino(
    { level: "trace" },
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString())
        changed()
        done()
      },
    }),
  )
}

function configFor(emulator: Emulator, chatapp: Record<string, unknown>, more: Record<string, unknown> = {}): Config {
  const channel = { apiRoot: emulator.url, botToken: emulator.token, ...chatapp }
  return configSchema.parse({ ...more, channels: { chatapp: channel } })
}

function until(waiting: Set<() => void>, condition: () => boolean, what: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const check = () => {
    if (!condition()) return
    waiting.delete(check)
    clearTimeout(timer)
    resolve()
  }
  const timer = setTimeout(() => {
    waiting.delete(check)
    reject(new Error(`did not happen within a minute: ${what}`))
  }, 60_000)
  waiting.add(check)
  check()
  return promise
}

function createWorker(parts: {
  store: Store
  clock: Clock
  log: Log
  background: Background
  channel: Channel
  config: () => Config
}): OutboxWorker {
  const { channel, config, ...common } = parts
  return new OutboxWorker({
    ...common,
    senders: () => new Map([[channel.name, channel.sender]]),
    crashPoint: noCrash,
    ids: systemIds,
    onUncertain: () => config().delivery.onUncertain,
    canShowButtons: (route) => channel.commands.canShowButtons(route),
  })
}
