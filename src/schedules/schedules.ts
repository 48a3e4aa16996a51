// Schedules: time -> occurrence row, claimed once, with the job of its turn in one transaction -> delivered like any turn.
// Nothing hangs on a timer: it only says when to look, and each look reads what has come since the last one, so a restart,
// a clock that jumps and a kill at the very moment change nothing.
import { type TurnInput, turnJob } from "../agent/index.ts"
import { AppError, type Background, type Clock, type Ids, type Log, addressesIn, sitesIn } from "../kernel/index.ts"
import { type Route, mainKey } from "../sessions/index.ts"
import { type IngestResult, type Store, type Write, isStorageFailure } from "../store/index.ts"
import type { CronConfig } from "./config.ts"
import type { ScheduleDetail, ScheduleRow, ScheduleSpec, ScheduleSummary, ScheduleWish } from "./contract.ts"
import { describeWhen, detailOf, specOf, summaryOf, timeText } from "./look.ts"
import { planTimes } from "./plan.ts"
import {
  activeSchedules,
  allSchedules,
  claimTime,
  countSchedules,
  findSchedules,
  insertSchedule,
  isOpen,
  updateSchedule,
} from "./rows.ts"
import { dueTimes, movedBy, nextTime, readWhen } from "./when.ts"

export interface SchedulesOptions {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  background: Background
  config: () => CronConfig
  /** The user's. */
  timeZone: () => string
  /** Throws `not-found`; undefined: the default one. */
  agent: (id: string | undefined) => string
  /** Throws `model-*`. */
  checkModel: (model: string, agentId: string) => void
  /** Throws `no-route`, `channel-unknown`, `target-invalid`. */
  resolveRoute: (agentId: string, target: { channel: string; to?: string; account?: string }) => Route
  /** Asks the platform whom a name means. Throws `target-invalid` when that is nobody who can be written to. */
  findTarget: (route: Route, signal: AbortSignal) => Promise<Route>
  /** While all is paused no time is claimed. */
  paused: () => boolean
  /** Tells an owner, in the transaction under way. */
  tell: (write: Write, agentId: string, text: string) => boolean
}

/** Who makes a schedule, and with what standing. */
export interface Maker {
  source: "cli" | "agent"
  by: string
  origin: TurnInput["origin"]
  trusted: boolean
  /** The chat in which it was asked for. */
  route?: Route | null
  agentId?: string
}

export interface Schedules {
  /** Takes over what the configuration says, and looks for what has come. Call again after a change of it. */
  start(): Promise<void>
  stop(): void
  /** When the wall clock is set: what was counted from a moment keeps its remaining time. Returns how to undo what is in memory. */
  followClock(write: Write, stepMs: number): () => void
  /** Looks now: a pause is over, or the clock was set. */
  look(): Promise<void>
  list(query: { ended: boolean }): ScheduleSummary[]
  /** By the id or its beginning. These throw `not-found`. */
  read(id: string): ScheduleDetail
  /** Throws `bad-request`. */
  /** The same key is the same wish, also below. */
  add(wish: ScheduleWish, maker: Maker, key?: string): Promise<ScheduleDetail>
  /** Once, at once, beside its times. */
  run(id: string, key?: string): Promise<{ runId: string; schedule: ScheduleDetail }>
  /** False when it was so already. */
  pause(id: string): Promise<ScheduleDetail>
  resume(id: string): Promise<ScheduleDetail>
  remove(id: string): Promise<ScheduleDetail>
}

/** A clock that is set, and a machine that slept, are noticed by then. */
const longestPauseMs = 30_000
/** After a look that failed: the disk is full, say. The next ones come later and later, up to the longest pause. */
const failurePauseMs = 1_000
/** More than the few questions of it take together. */
const findTargetMs = 10_000
const minuteMs = 60_000
const usualGraceMs = 60 * minuteMs
/** A reminder that comes late is better than none. */
const reminderGraceMs = 24 * 60 * minuteMs
const mostSchedules = 500

type State = SchedulesOptions & {
  timer: NodeJS.Timeout | undefined
  looking: Promise<void> | undefined
  stopped: boolean
  /** Looks that failed, one after the other. */
  failures: number
}

export function createSchedules(options: SchedulesOptions): Schedules {
  const state: State = { ...options, timer: undefined, looking: undefined, stopped: true, failures: 0 }
  const { store, clock } = options
  const place = () => ({ now: clock.now(), zone: options.timeZone() })
  const change = async (id: string, with_: (write: Write, row: ScheduleRow) => void): Promise<ScheduleDetail> => {
    const { id: whole } = find(store, id)
    await store.write(async (write) => with_(write, find(store, whole)))
    plan(state)
    return detailOf(store, find(store, whole), place())
  }
  return {
    async start() {
      state.stopped = false
      await takeConfig(state)
      await look(state)
    },
    stop() {
      state.stopped = true
      clearTimeout(state.timer)
    },
    followClock(write, stepMs) {
      for (const row of activeSchedules(store.handle)) {
        const spec = specOf(row)
        const when = movedBy(spec.when, stepMs)
        if (!when) continue
        updateSchedule(write, row.id, { spec: JSON.stringify({ ...spec, when }), since: row.since + stepMs })
      }
      // All of it is rows.
      return () => undefined
    },
    look: () => look(state),
    list: (query) => allSchedules(store.handle, query).map((row) => summaryOf(store, row, place())),
    read: (id) => detailOf(store, find(store, id), place()),
    async add(wish, maker, key) {
      const row = await add(state, wish, maker, key)
      plan(state)
      return detailOf(store, row, place())
    },
    async run(id, key) {
      const row = find(store, id)
      const runId = options.ids.uuid()
      const entry = entryOf("schedule-run", `${row.id}:${key ?? runId}`, runId)
      const [result] = await store.ingestBatch([entry], async (write, [known]) => {
        if (known?.kind === "duplicate") return
        let at = write.now
        while (
          !claimTime(write, { schedule_id: row.id, scheduled_at: at, state: "manual", run_id: runId, reason: null })
        )
          at += 1
        write.addJob(turnJob(runId, turnOf(state, row, at)))
      })
      return { runId: firstAnswer(result) ?? runId, schedule: detailOf(store, find(store, row.id), place()) }
    },
    pause: (id) => change(id, (write, row) => updateSchedule(write, row.id, { paused_at: row.paused_at ?? write.now })),
    // What came while it was paused is not made up for.
    resume: (id) =>
      change(id, (write, row) => {
        if (row.ended_at !== null) throw new AppError("conflict", "This schedule is over")
        const { when } = specOf(row)
        if (row.paused_at !== null && when.kind === "at" && when.at <= write.now) {
          throw new AppError("conflict", "The time of this schedule came while it was paused", {
            hint: `Run it now: svc cron run ${row.id}; or remove it and make another`,
          })
        }
        if (row.paused_at !== null) updateSchedule(write, row.id, { paused_at: null, since: write.now })
      }),
    remove: (id) =>
      change(id, (write, row) => {
        if (row.source === "config") {
          throw new AppError("conflict", `${row.id} stands in the configuration`, {
            hint: "Take it out of cron.jobs, set enabled: false there, or pause it: svc cron pause <id>",
          })
        }
        updateSchedule(write, row.id, { ended_at: row.ended_at ?? write.now })
      }),
  }
}

function find(store: Store, id: string): ScheduleRow {
  const found = findSchedules(store.handle, id.trim())
  const [row] = found
  if (row && found.length === 1) return row
  throw new AppError(
    "not-found",
    found.length > 1 ? `Several schedules begin with ${id}, or are called so` : `There is no schedule ${id}`,
    {
      hint: "svc cron list --all shows them",
    },
  )
}

/** What came of a wish stands with its key: sent twice, it is done once. */
function entryOf(account: string, deliveryId: string, answer: string) {
  return { source: "gateway", account, deliveryId, payload: null, answer }
}

/** Of a wish that was sent before. */
function firstAnswer(result: IngestResult | undefined): string | undefined {
  return result?.kind === "duplicate" ? String(result.answer) : undefined
}

async function add(state: State, wish: ScheduleWish, maker: Maker, key?: string): Promise<ScheduleRow> {
  const { store, ids, clock } = state
  const now = clock.now()
  const when = readWhen(wish, now, wish.timezone ?? state.timeZone())
  const agentId = state.agent(wish.agent ?? maker.agentId)
  if (wish.model !== undefined) state.checkModel(wish.model, agentId)
  const { channel = "last", account } = wish
  const isNamed = channel !== "last" || wish.to !== undefined
  const to = isNamed ? await recipientOf(state, agentId, { channel, ...given({ to: wish.to, account }) }) : undefined
  const spec: ScheduleSpec = {
    when,
    text: wish.text,
    agentId,
    session: wish.session ?? (maker.source === "agent" ? "main" : "isolated"),
    deliver: wish.deliver ?? true,
    channel,
    missed: wish.missed ?? "late",
    graceMs:
      wish.graceMinutes === undefined
        ? when.kind === "at"
          ? reminderGraceMs
          : usualGraceMs
        : wish.graceMinutes * minuteMs,
    origin: maker.origin,
    trusted: maker.trusted,
    ...given({ timeZone: wish.timezone, to, account, model: wish.model, timeoutSeconds: wish.timeoutSeconds }),
    ...given({ wakeMode: wish.wakeMode }),
    ...(maker.route && !isNamed ? { route: withoutMessage(maker.route) } : {}),
  }
  const row: ScheduleRow = {
    id: ids.uuid().replaceAll("-", "").slice(-8),
    name: wish.name ?? shortened(wish.text),
    source: maker.source,
    spec: JSON.stringify(spec),
    created_at: now,
    created_by: maker.by,
    since: now,
    paused_at: null,
    ended_at: null,
  }
  const entry = entryOf("schedule-add", key ?? row.id, row.id)
  const [result] = await store.ingestBatch([entry], async (write, [known]) => {
    if (known?.kind === "duplicate") return
    if (countSchedules(store.handle) >= mostSchedules) {
      throw new AppError("conflict", `There are ${mostSchedules} schedules already`, {
        hint: "Remove one: svc cron remove <id>; what there is: svc cron list",
      })
    }
    insertSchedule(write, row)
  })
  const first = firstAnswer(result)
  if (first !== undefined) return find(store, first)
  state.log.info({ schedule: row.id, when: describeWhen(when, state.timeZone()), by: maker.by }, "schedule made")
  return row
}

/**
 * A typing error shows at once; that nobody has written yet may change until the time has come. A person is kept by id: the
 * platform finds people under nothing else.
 */
async function recipientOf(
  state: State,
  agentId: string,
  target: { channel: string; to?: string; account?: string },
): Promise<string | undefined> {
  const route = state.resolveRoute(agentId, target)
  const found = await state.findTarget(route, AbortSignal.timeout(findTargetMs))
  return found.chatId === route.chatId ? target.to : found.chatId
}

/** What the configuration says becomes rows: these keep what has run already. What it says no more is over. */
async function takeConfig(state: State): Promise<void> {
  const { store, clock } = state
  const { enabled, jobs } = state.config()
  await store.write(async (write) => {
    const known = new Map(allSchedules(store.handle, { ended: true }).map((row) => [row.id, row]))
    for (const job of enabled ? jobs.filter((each) => each.enabled) : []) {
      const old = known.get(job.id)
      known.delete(job.id)
      try {
        takeJob(state, write, job, old?.source === "config" ? old : undefined)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        state.log.error({ schedule: job.id, reason: error.message, hint: error.hint }, "cron.jobs: not usable")
      }
    }
    for (const row of known.values()) {
      if (row.source === "config" && row.ended_at === null) updateSchedule(write, row.id, { ended_at: clock.now() })
    }
  })
}

function takeJob(state: State, write: Write, job: CronConfig["jobs"][number], old: ScheduleRow | undefined): void {
  const now = write.now
  const { id, cron, every, at, timezone, graceMinutes, agent, enabled: _enabled, ...rest } = job
  const zone = timezone ?? state.timeZone()
  const times = given({ cron, every, at })
  // Read anew at each start, a time of day would be another moment each time.
  if (at !== undefined && !/^\d{4}-/.test(at)) {
    throw new AppError("bad-request", `at: ${JSON.stringify(at.slice(0, 50))} names no day`, {
      hint: "Write 2026-12-24 18:00, or a time of every day as cron: 0 18 * * *",
    })
  }
  // A moment that has passed is a schedule that is over, and no fault of the configuration.
  const when = at !== undefined && old ? readWhen(times, 0, zone) : readWhen(times, at === undefined ? now : 0, zone)
  const before = old && specOf(old)
  const anchored = when.kind === "every" && before?.when.kind === "every" ? { ...when, from: before.when.from } : when
  const spec: ScheduleSpec = {
    ...rest,
    ...given({
      timeZone: timezone,
      to: rest.to,
      account: rest.account,
      model: rest.model,
      timeoutSeconds: rest.timeoutSeconds,
    }),
    when: anchored,
    agentId: state.agent(agent),
    graceMs: graceMinutes * minuteMs,
    origin: "owner",
    trusted: true,
  } as ScheduleSpec
  const text = JSON.stringify(spec)
  if (!old) {
    const made = { created_at: now, created_by: "configuration", since: now, paused_at: null, ended_at: null }
    return insertSchedule(write, { id, name: id, source: "config", spec: text, ...made })
  }
  const isOther = JSON.stringify(before?.when) !== JSON.stringify(anchored) || before?.timeZone !== timezone
  const isBack = old.ended_at !== null && when.kind !== "at"
  if (old.spec !== text) updateSchedule(write, id, { spec: text })
  if (isOther || isBack) updateSchedule(write, id, { since: now, ended_at: null })
}

async function look(state: State): Promise<void> {
  // One look at a time: another that is asked for meanwhile comes after it.
  while (state.looking) await state.looking
  if (state.stopped) return
  const { promise, resolve } = Promise.withResolvers<void>()
  state.looking = promise
  try {
    if (!state.paused() && state.config().enabled) {
      for (const row of activeSchedules(state.store.handle)) await takeTimes(state, row)
    }
    state.failures = 0
  } catch (error) {
    state.failures += 1
    // Said once by those who watch the store. Nothing is claimed, so nothing is lost: the next look finds it due.
    if (!isStorageFailure(error)) throw error
    state.log.debug({ err: error }, "schedules could not be looked at")
  } finally {
    state.looking = undefined
    resolve()
    plan(state)
  }
}

/** Times that have come, claimed with what follows from them in one transaction. */
async function takeTimes(state: State, { id }: ScheduleRow): Promise<void> {
  const { store, clock, log, ids } = state
  const zoneOf = (spec: ScheduleSpec) => spec.timeZone ?? state.timeZone()
  const known = findSchedules(store.handle, id)[0]
  if (!known || dueOf(state, known).length === 0) return
  await store.write(async (write) => {
    const [row] = findSchedules(store.handle, id)
    if (!row || row.paused_at !== null || row.ended_at !== null) return
    const now = clock.now()
    const spec = specOf(row)
    const due = dueOf(state, row)
    // Put off since it was looked at: one that comes once is not over.
    if (due.length === 0) return
    const { run, skip, tells } = planTimes(due, now, spec, isOpen(store.handle, id))
    const left = skip.filter(({ at, reason }) =>
      claimTime(write, { schedule_id: id, scheduled_at: at, state: "skipped", run_id: null, reason }),
    )
    for (const at of run) {
      const runId = ids.uuid()
      if (!claimTime(write, { schedule_id: id, scheduled_at: at, state: "run", run_id: runId, reason: null })) continue
      write.addJob(turnJob(runId, turnOf(state, row, at)))
      log.info({ schedule: id, run: runId, lateMs: now - at }, "schedule runs")
    }
    const end = spec.when.kind === "at" ? { ended_at: now } : {}
    updateSchedule(write, id, { since: Math.max(due.at(-1) ?? row.since, Math.min(row.since, now)), ...end })
    const last = left.at(-1)
    if (!last) return
    log.warn({ schedule: id, times: left.length, reason: last.reason }, "times of a schedule left out")
    if (!tells) return
    const count = left.length === 1 ? `its time ${timeText(last.at, zoneOf(spec))}` : `${left.length} of its times`
    // Words of a turn that had read those of others are not said as ours.
    const name = spec.trusted ? `**${row.name}**` : `\`${row.id}\``
    state.tell(write, spec.agentId, `The schedule ${name} was left out for ${count}: ${last.reason}.`)
  })
}

function dueOf(state: State, row: ScheduleRow): number[] {
  const spec = specOf(row)
  const now = state.clock.now()
  // A clock that was set back: times that were claimed stay so by their rows.
  return dueTimes(spec.when, spec.timeZone ?? state.timeZone(), Math.min(row.since, now), now)
}

function turnOf(state: State, row: ScheduleRow, at: number): TurnInput {
  const spec = specOf(row)
  const { agentId, trusted, origin, text } = spec
  const zone = spec.timeZone ?? state.timeZone()
  return {
    agentId,
    sessionKey: spec.session === "main" ? mainKey(agentId) : `agent:${agentId}:schedule:${row.id}`,
    purpose: "schedule",
    origin,
    trusted,
    header: `[schedule ${row.id}, planned for ${timeText(at, zone)}: nobody writes now. Do what it says; your answer is sent]`,
    text,
    ...(trusted && row.source !== "agent" ? { sites: [...sitesIn(text), ...addressesIn(text)] } : {}),
    ...routeOf(state, spec),
    // Words of a turn that had read those of others are not said as ours.
    ...(spec.session === "main"
      ? {}
      : { schedule: { name: trusted ? row.name : row.id, wakeMode: spec.wakeMode ?? "next-heartbeat" } }),
    ...given({ model: spec.model, timeoutSeconds: spec.timeoutSeconds }),
  }
}

function routeOf(state: State, spec: ScheduleSpec): Pick<TurnInput, "route" | "routeProblem"> {
  if (!spec.deliver) return { route: null }
  if (spec.route) return { route: spec.route }
  try {
    const { channel, to, account } = spec
    return { route: state.resolveRoute(spec.agentId, { channel, ...given({ to, account }) }) }
  } catch (error) {
    // It runs and says so: what it does may matter more than what it says.
    if (error instanceof AppError) return { route: null, routeProblem: error.message }
    throw error
  }
}

/** Looks again when the next time comes. */
function plan(state: State): void {
  clearTimeout(state.timer)
  if (state.stopped) return
  state.timer = setTimeout(() => state.background.run("look at schedules", () => look(state)), pauseBefore(state))
  state.timer.unref()
}

/** Until the next look. What is due stays so while all is paused, and while it cannot be claimed. */
function pauseBefore(state: State): number {
  if (state.paused()) return longestPauseMs
  if (state.failures > 0) return Math.min(failurePauseMs * 2 ** (state.failures - 1), longestPauseMs)
  try {
    const now = state.clock.now()
    const nexts = activeSchedules(state.store.handle).map((row) => {
      const spec = specOf(row)
      return nextTime(spec.when, spec.timeZone ?? state.timeZone(), Math.min(row.since, now)) ?? Infinity
    })
    return Math.min(Math.max(Math.min(...nexts) - now, 1), longestPauseMs)
  } catch (error) {
    // Without a next look nothing would ever run again.
    state.log.error({ err: error }, "times of schedules could not be read")
    return longestPauseMs
  }
}

function withoutMessage({ messageId: _answered, ...place }: Route): Route {
  return place
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > 50 ? `${line.slice(0, 49)}…` : line
}

/** Without what is not set. */
function given<Given extends object>(values: Given): { [Name in keyof Given]: Exclude<Given[Name], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Given]: Exclude<Given[Name], undefined>
  }
}
