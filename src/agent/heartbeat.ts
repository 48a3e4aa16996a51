// The heartbeat: a turn of the main session that asks whether anything needs attention. It runs at an interval and
// at once when something woke it; waiting events override quiet hours, an empty HEARTBEAT.md and a switched-off interval.
import { BudgetExceeded } from "../budget/index.ts"
import { durationMs } from "../kernel/duration.ts"
import { type Clock, type Ids, type Log, readInside } from "../kernel/index.ts"
import { type Route, type SessionSettings, type Sessions, mainKey } from "../sessions/index.ts"
import {
  type JobEnd,
  type JobRow,
  type Store,
  type Write,
  describeRunDelivery,
  hasEvents,
  openJobs,
  readRunDelivery,
  readSteps,
} from "../store/index.ts"
import type { HeartbeatConfig } from "./config.ts"
import { endEvents } from "./events.ts"
import { type LastHeartbeat, createLastHeartbeat } from "./last-heartbeat.ts"
import { heartbeatToken, isHeartbeatAck } from "./prompt.ts"
import { producedMedia } from "./tool-runner.ts"
import { type TurnInput, heartbeatJob, heartbeatJobKind } from "./turn-input.ts"
import { type TurnOptions, type Turns, endFailed, keepTranscript } from "./turn.ts"

export interface HeartbeatOptions {
  store: Store
  sessions: Sessions
  turns: Turns
  turnOptions: TurnOptions
  clock: Clock
  ids: Ids
  log: Log
  /** Settings of an agent; undefined when it runs none at an interval. */
  settings: (agentId: string) => HeartbeatConfig
  /** Agents that run heartbeats at an interval. */
  agents: () => string[]
  workspace: (agentId: string) => string
  /** Host's time zone unless `agents.defaults.userTimezone` says otherwise. */
  timeZone: () => string
  /** The route of an alert by `target` and `to`; null when it goes nowhere. */
  resolveRoute: (agentId: string, target: string, to: string | undefined) => Route | null
  /** What the operator calls the main session (`session.mainKey`). */
  mainName?: () => string
  /** What of heartbeats is shown where they go. */
  visibility: (route: Route | null) => HeartbeatVisibility
}

export interface HeartbeatVisibility {
  showOk: boolean
  showAlerts: boolean
  useIndicator: boolean
}

/** `manual`: somebody wants one now, whatever speaks against it. */
type Reason = "wake" | "interval" | "hook" | "manual"

/** How the heartbeats of an agent stand. Times in milliseconds since the epoch. */
export interface HeartbeatState {
  agentId: string
  session: string
  /** 0: none at an interval. */
  everyMs: number
  nextAt?: number
  target: string
  route: Route | null
  shows: HeartbeatVisibility
  waitingEvents: boolean
  /** Why the next would ask no model, as things are now. */
  wouldSkip?: string
  /** The last that has ended. */
  last?: { runId: string; at: number; reason: Reason; outcome: string }
  /** One that waits or runs. */
  open?: "ready" | "running"
}

/** The same alert again within this time says nothing new. */
const repeatMs = 24 * 60 * 60 * 1000

/** The next one of an agent. */
interface Beat {
  everyMs: number
  /** Milliseconds since the epoch. */
  nextAt: number
  timer: NodeJS.Timeout
}

export function createHeartbeat(options: HeartbeatOptions) {
  const beats = new Map<string, Beat>()
  const lastHeartbeat = createLastHeartbeat(options.store)
  const end = (agentId: string) => {
    clearInterval(beats.get(agentId)?.timer)
    beats.delete(agentId)
  }
  const begin = (agentId: string, everyMs: number) => {
    const pauseMs = Math.min(everyMs, 2 ** 31 - 1)
    const planned = () => options.clock.now() + pauseMs
    const timer = setInterval(() => {
      beat.nextAt = planned()
      wakeAtInterval(options, agentId)
    }, pauseMs)
    timer.unref()
    const beat: Beat = { everyMs, nextAt: planned(), timer }
    beats.set(agentId, beat)
  }
  return {
    /** Begins the intervals; to be called again after a change of the configuration. What it did not change goes on. */
    start() {
      const agents = options.agents()
      for (const agentId of beats.keys()) if (!agents.includes(agentId)) end(agentId)
      for (const agentId of agents) {
        const everyMs = durationMs(options.settings(agentId).every) ?? 0
        if (beats.get(agentId)?.everyMs === everyMs) continue
        end(agentId)
        if (everyMs > 0) begin(agentId, everyMs)
      }
    },
    stop() {
      for (const agentId of beats.keys()) end(agentId)
    },
    /** One is run as soon as its session is free. Returns its run. */
    async runNow(agentId: string): Promise<string> {
      const runId = options.ids.uuid()
      const job = { ...heartbeatJob(runId, sessionOf(options, agentId), "manual"), coalesce: false }
      await options.store.write(async (write) => write.addJob(job))
      return runId
    },
    look: (agentId: string) => look(options, lastHeartbeat, agentId, beats.get(agentId)?.nextAt),
    /** The handler of jobs of kind `heartbeat`. */
    handle: (job: JobRow, signal: AbortSignal) => handle(options, job, signal),
    /** After the last attempt of one that fails in ways we did not foresee: what woke it is shown by the next. */
    onDead: async (job: JobRow, _error: string, write: Write) =>
      endEvents(options, write, job, eventsOf(job), { blame: true }),
  }
}

export type Heartbeat = ReturnType<typeof createHeartbeat>

function wakeAtInterval(options: HeartbeatOptions, agentId: string): void {
  options.store
    .write(async (write) => write.addJob(heartbeatJob(options.ids.uuid(), sessionOf(options, agentId), "interval")))
    .catch((error: unknown) => options.log.warn({ err: error, agent: agentId }, "heartbeat not queued"))
}

function look(
  options: HeartbeatOptions,
  lastHeartbeat: LastHeartbeat,
  agentId: string,
  nextAt: number | undefined,
): HeartbeatState {
  const { store } = options
  const settings = options.settings(agentId)
  const session = sessionOf(options, agentId)
  const route = options.resolveRoute(agentId, settings.target, settings.to)
  const jobs = openJobs(store, session)
  const row = lastHeartbeat(session, jobs)
  const open = jobs.find((job) => job.kind === heartbeatJobKind)
  const wouldSkip = skipReason(options, agentId, session, "interval")
  return {
    agentId,
    session,
    everyMs: durationMs(settings.every) ?? 0,
    ...(nextAt === undefined ? {} : { nextAt }),
    target: settings.to === undefined ? settings.target : `${settings.target} ${settings.to}`,
    route,
    shows: options.visibility(route),
    waitingEvents: hasEvents(store, session),
    ...(wouldSkip === undefined ? {} : { wouldSkip }),
    ...(row ? { last: lastOf(store, row) } : {}),
    ...(open?.state === "ready" || open?.state === "running" ? { open: open.state } : {}),
  }
}

function lastOf(store: Store, row: JobRow): NonNullable<HeartbeatState["last"]> {
  const { reason } = JSON.parse(row.payload) as { reason: Reason }
  return { runId: row.run_id, at: row.finished_at ?? 0, reason, outcome: heartbeatOutcome(store, row).words }
}

/** What came of one that has ended, in a few words. `isSettled: false` while something that it said waits to be sent. */
export function heartbeatOutcome(
  store: Pick<Store, "handle">,
  row: Pick<JobRow, "id" | "state" | "error" | "result">,
): { words: string; isSettled: boolean } {
  const told = outcomeOfJob(row)
  if (!told.startsWith("queued for ")) return { words: told, isSettled: true }
  // What was queued when the turn ended may have arrived since then, or never will.
  const delivery = readRunDelivery(store, row.id)
  return { words: describeRunDelivery(delivery) ?? told, isSettled: delivery.state !== "queued" }
}

function outcomeOfJob(row: Pick<JobRow, "state" | "error" | "result">): string {
  if (row.state !== "done") return `${row.state === "dead" ? "failed" : row.state}: ${row.error ?? "no reason given"}`
  try {
    const { skipped, delivered } = JSON.parse(row.result ?? "{}") as { skipped?: string; delivered?: string }
    return skipped === undefined ? (delivered ?? "done") : `skipped: ${skipped}`
  } catch {
    return row.result ?? "done"
  }
}

/** `heartbeat.session`: a key of the agent's own, or the main session. */
function sessionOf(options: HeartbeatOptions, agentId: string): string {
  const wanted = options.settings(agentId).session?.toLowerCase()
  if (wanted === undefined || wanted === "main" || wanted === options.mainName?.().toLowerCase())
    return mainKey(agentId)
  return wanted.startsWith("agent:") ? wanted : `agent:${agentId}:${wanted}`
}

async function handle(options: HeartbeatOptions, job: JobRow, signal: AbortSignal): Promise<JobEnd> {
  const { reason } = JSON.parse(job.payload) as { reason: Reason }
  const { agentId } = eventsOf(job)
  // One that had begun goes on: the events it was woken for are no longer waiting, but in its journal.
  const hasBegun = (await readSteps(options.store, job.id)).length > 0
  const skip = hasBegun ? undefined : skipReason(options, agentId, job.lane_key, reason)
  if (skip !== undefined) {
    options.log.debug({ run: job.run_id, reason: skip }, "heartbeat skipped")
    return { result: JSON.stringify({ skipped: skip }) }
  }
  try {
    const turn = await options.turns.run(job, () => makeInput(options, agentId, job.lane_key), signal)
    return finish(options, job, agentId, turn)
  } catch (error) {
    // No failure: its owner has been told of the cap, and what woke it is shown by the next.
    if (error instanceof BudgetExceeded) {
      const result = JSON.stringify({ skipped: error.message })
      return { result, commit: async (write) => endEvents(options, write, job, eventsOf(job), {}) }
    }
    // Nobody asked, so nobody is told.
    return endFailed(options, job, eventsOf(job), error)
  }
}

function eventsOf(job: JobRow) {
  const agentId = /^agent:([^:]+):/.exec(job.lane_key)?.[1] ?? "main"
  return { purpose: "heartbeat", sessionKey: job.lane_key, agentId } as const
}

/** Why there is nothing to ask the model; undefined when there is. */
function skipReason(
  options: HeartbeatOptions,
  agentId: string,
  sessionKey: string,
  reason: Reason,
): string | undefined {
  if (reason === "manual") return undefined
  if (hasEvents(options.store, sessionKey)) return undefined
  // The event that woke it was shown by another turn in the meantime.
  if (reason !== "interval") return "no events are waiting"
  const settings = options.settings(agentId)
  if (isUnseen(options, agentId)) return "nothing of it would be shown"
  if (!isActive(settings, options.timeZone(), options.clock.now())) return "outside active hours"
  if (isEffectivelyEmpty(readHeartbeatFile(options, agentId))) return "HEARTBEAT.md is empty"
  return undefined
}

/** Neither an acknowledgment nor an alert nor a line of the status: the model would be asked for nobody. */
function isUnseen(options: HeartbeatOptions, agentId: string): boolean {
  const { target, to } = options.settings(agentId)
  const { showOk, showAlerts, useIndicator } = options.visibility(options.resolveRoute(agentId, target, to))
  return !showOk && !showAlerts && !useIndicator
}

function isActive(settings: HeartbeatConfig, hostZone: string, now: number): boolean {
  const hours = settings.activeHours
  if (!hours) return true
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone
  const timeZone = hours.timezone === "local" ? local : hours.timezone === "user" ? hostZone : hours.timezone
  const format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hour12: false })
  const time = format.format(now)
  if (hours.start <= hours.end) return time >= hours.start && time < hours.end
  return time >= hours.start || time < hours.end
}

/** A file that exists but holds only blank lines, headings and empty list bullets says that nothing is to be done. */
function isEffectivelyEmpty(text: string | undefined): boolean {
  return text?.split("\n").every((line) => /^(?:#.*|[-*+](?:\s*\[[ x]\])?)?$/.test(line.trim())) ?? false
}

const heartbeatFileName = "HEARTBEAT.md"
const maxHeartbeatBytes = 1024 * 1024
/** What of it the agent is shown. */
const shownCharacters = 16_000

/** Undefined when there is none that may be read. */
function readHeartbeatFile({ workspace, log }: HeartbeatOptions, agentId: string): string | undefined {
  const file = readInside(workspace(agentId), heartbeatFileName, maxHeartbeatBytes)
  if (file.kind === "file") return file.data.toString("utf8")
  if (file.kind === "refused") log.warn({ agentId, reason: `it ${file.reason}` }, "HEARTBEAT.md is not read")
  return undefined
}

function makeInput(options: HeartbeatOptions, agentId: string, sessionKey: string): TurnInput {
  const settings = options.settings(agentId)
  const { target } = settings
  const route = options.resolveRoute(agentId, target, settings.to)
  const isLost = route === null && target !== "none"
  return {
    agentId,
    sessionKey,
    purpose: "heartbeat",
    origin: "system",
    trusted: true,
    text: `${settings.prompt}${heartbeatFile(options, agentId)}`,
    route,
    ...(isLost ? { routeProblem: `there is no chat for the target ${target} yet` } : {}),
    ...(settings.model === undefined ? {} : { model: settings.model }),
    ...(settings.includeReasoning ? { showsReasoning: true } : {}),
  }
}

/** The agent has no file tool: what its owner wrote down is put in front of it. */
function heartbeatFile(options: HeartbeatOptions, agentId: string): string {
  const text = readHeartbeatFile(options, agentId)
  if (text === undefined) return "\n\n(There is no HEARTBEAT.md.)"
  return `\n\nHEARTBEAT.md:\n${text.slice(0, shownCharacters)}`
}

function finish(
  options: HeartbeatOptions,
  job: JobRow,
  agentId: string,
  turn: Awaited<ReturnType<Turns["run"]>>,
): JobEnd {
  const { text, toolResults, reasoning } = turn.result
  const { showOk, showAlerts } = options.visibility(turn.input.route)
  const settings = options.settings(agentId)
  const media = producedMedia(toolResults)
  const end: JobEnd = { state: "done" }
  end.commit = async (write) => {
    endEvents(options, write, job, turn.input, { isAnswered: true })
    const kept = options.sessions.find(turn.session.key)?.settings ?? {}
    const hasMedia = [...media].some((path) => text.includes(`MEDIA:${path}`))
    const isAck = isHeartbeatAck(text, hasMedia, settings.ackMaxChars)
    const verdict = isAck
      ? "nothing needs attention"
      : showAlerts
        ? repetition(kept, text, write.now)
        : "an alert that is not shown: showAlerts is off"
    // A look that found nothing says nothing to later turns; every half hour it would only fill the context.
    const isQuiet = isAck && turn.shownEvents === 0 && turn.result.messages.length === 1
    if (!isQuiet) keepTranscript(options.turnOptions, write, job, turn)
    const { isTainted } = turn.result
    const delivery = { input: turn.input, jobId: job.id, media, isError: false, isTainted }
    if (verdict !== undefined) {
      if (isAck && showOk) options.turnOptions.deliver(write, { ...delivery, text: heartbeatToken, showsAck: true })
      end.result = JSON.stringify({ text: text.slice(0, 500), delivered: verdict })
      return
    }
    options.sessions.touch(write, turn.session)
    // An alert that had nowhere to go was not told: it may come again.
    if (turn.input.route !== null) {
      options.sessions.saveSettings(write, turn.session, { ...kept, lastAlert: { text, at: write.now } })
    }
    const thought = settings.includeReasoning && reasoning !== "" ? { reasoning, isReasoningApart: true } : {}
    const delivered = options.turnOptions.deliver(write, { ...delivery, text, ...thought })
    end.result = JSON.stringify({ text: text.slice(0, 500), delivered })
  }
  return end
}

function repetition(settings: SessionSettings, text: string, now: number): string | undefined {
  const last = settings.lastAlert
  if (last && last.text === text && now - last.at < repeatMs) return "the same alert was sent within a day"
  return undefined
}
