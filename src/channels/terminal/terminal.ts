// `svc agent`: message -> one durable entry -> turn or command -> outbox row, which the terminal reads. A terminal that
// went away, or a gateway that started anew meanwhile, loses nothing: the run is asked for again by its id.
import type { TurnInput, TurnObserver } from "../../agent/turn-input.ts"
import type { ChannelSender } from "../../delivery/contract.ts"
import { AppError, type Json, isJsonObject } from "../../kernel/index.ts"
import type { JobRow, Store } from "../../store/index.ts"
import type {
  TerminalAccepted,
  TerminalFollow,
  TerminalMessage,
  TerminalProgress,
  TerminalRunState,
  TerminalSaid,
} from "./contract.ts"
import { terminalChannel } from "./contract.ts"
import { type IntakeOptions, planTerminalMessage } from "./intake.ts"
import { LiveTexts } from "../shared/live.ts"
import { type TerminalPayload, createTerminalSender } from "./sender.ts"

export interface TerminalOptions extends IntakeOptions {
  store: Store
  /** Whenever a job stops running; returns the way to leave. */
  onJobStopped: (listener: (runId: string) => void) => () => void
  stopTurn: (turn: { runId: string; laneKey: string }) => Promise<void>
  isPaused: () => boolean
}

export interface Terminal {
  /** Durable when it resolves. */
  accept(message: TerminalMessage): Promise<TerminalAccepted>
  /** What has come of a run; waits for news. Throws `turn-not-found`. */
  follow(runId: string, wanted: TerminalFollow, signal: AbortSignal): Promise<TerminalProgress>
  /** Ends a run that has not ended. What had been written by then is its answer. */
  stop(runId: string): Promise<TerminalProgress>
}

/** What the composition makes first: the lanes need both, and the rest of the terminal needs the lanes. */
export interface TerminalOutlet {
  sender: ChannelSender
  live: LiveTexts
  observe(input: TurnInput, runId: string): TurnObserver | undefined
}

export function createTerminalOutlet({ newStream }: { newStream: () => string }): TerminalOutlet {
  const live = new LiveTexts(newStream)
  return {
    sender: createTerminalSender(),
    live,
    observe: ({ route, purpose }, runId) =>
      route?.channel === terminalChannel && purpose === "chat" ? live.observe(runId) : undefined,
  }
}

export function createTerminal(options: TerminalOptions, { live }: TerminalOutlet): Terminal {
  const { store, onJobStopped, stopTurn } = options
  const look = (runId: string, wanted: TerminalFollow) => progressOf(options, live, runId, wanted)
  return {
    async accept(message) {
      const { entry, answer } = planTerminalMessage(options, message)
      const result = await store.ingest(entry)
      return result.kind === "accepted" ? answer : { ...firstAnswer(result.answer), isRepeat: true }
    },
    async follow(runId, wanted, signal) {
      const until = performance.now() + wanted.waitSeconds * 1000
      for (;;) {
        const news = nextNews({ live, onJobStopped }, runId)
        try {
          const progress = look(runId, wanted)
          const left = until - performance.now()
          if (isEnded(progress.state) || hasNews(progress, wanted) || left <= 0 || signal.aborted) return progress
          await news.within(left, signal)
        } finally {
          news.leave()
        }
      }
    },
    async stop(runId) {
      const job = jobOf(store, runId)
      if (job.state === "ready" || job.state === "running") await stopTurn({ runId, laneKey: job.lane_key })
      return look(runId, { after: 0, waitSeconds: 0 })
    },
  }
}

function isEnded(state: TerminalRunState): boolean {
  return state !== "waiting" && state !== "running"
}

function hasNews({ stream, text }: TerminalProgress, wanted: TerminalFollow): boolean {
  return text !== "" || (stream !== "" && wanted.stream !== undefined && stream !== wanted.stream)
}

/** Listens before it is looked, so that nothing comes in between. */
function nextNews(
  { live, onJobStopped }: { live: LiveTexts; onJobStopped: TerminalOptions["onJobStopped"] },
  runId: string,
) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const tell = (changed: string) => {
    if (changed === runId) resolve()
  }
  const leaves = [live.onChange(tell), onJobStopped(tell)]
  let timer: NodeJS.Timeout | undefined
  let leaveSignal = () => undefined as void
  return {
    within(ms: number, signal: AbortSignal): Promise<void> {
      timer = setTimeout(resolve, ms)
      const onAbort = () => resolve()
      signal.addEventListener("abort", onAbort, { once: true })
      leaveSignal = () => signal.removeEventListener("abort", onAbort)
      return promise
    },
    leave() {
      clearTimeout(timer)
      leaveSignal()
      for (const leave of leaves) leave()
    },
  }
}

function firstAnswer(answer: Json | null): TerminalAccepted {
  if (answer !== null && isJsonObject(answer)) {
    const { runId, session } = answer
    if (typeof runId === "string" && typeof session === "string") return { runId, session }
  }
  throw new AppError("conflict", "This id was used before, for something else", { hint: "Take another --id" })
}

function jobOf(store: Store, runId: string): JobRow & { session: string } {
  const row = store.handle.prepare("select * from job where run_id = ?").get(runId) as unknown as JobRow | undefined
  const input = row && (JSON.parse(row.payload) as Partial<TurnInput> | null)
  if (!row || input?.route?.channel !== terminalChannel) {
    throw new AppError("turn-not-found", "No terminal has asked for this run", { hint: "Runs stand in: svc runs list" })
  }
  return { ...row, session: input.sessionKey ?? row.lane_key }
}

const stateOf: Record<JobRow["state"], TerminalRunState> = {
  ready: "waiting",
  running: "running",
  done: "done",
  dead: "failed",
  cancelled: "stopped",
}

function progressOf(
  { store, isPaused }: TerminalOptions,
  live: LiveTexts,
  runId: string,
  wanted: TerminalFollow,
): TerminalProgress {
  const job = jobOf(store, runId)
  const waitsFor =
    job.state !== "ready" ? undefined : isPaused() ? "pause" : isLaneBusy(store, job) ? "turn" : undefined
  const { stream = "", text = "" } = live.of(runId) ?? {}
  const known = stream === wanted.stream ? wanted.after : 0
  return {
    runId,
    session: job.session,
    state: stateOf[job.state],
    stream,
    text: text.slice(known),
    after: text.length,
    messages: saidBy(store, job.id),
    ...(waitsFor === undefined ? {} : { waitsFor }),
    ...(job.error === null || job.state !== "dead" ? {} : { error: job.error }),
  }
}

function isLaneBusy(store: Store, { lane_key }: JobRow): boolean {
  return (
    store.handle.prepare("select 1 from job where lane_key = ? and state = 'running' limit 1").get(lane_key) !==
    undefined
  )
}

function saidBy(store: Store, jobId: number): TerminalSaid[] {
  const rows = store.handle
    .prepare("select id, payload from outbox where job_id = ? and channel = ? order by id")
    .all(jobId, terminalChannel) as { id: number; payload: string }[]
  return rows.map(({ id, payload }) => {
    const { text, file } = JSON.parse(payload) as TerminalPayload
    return { id, text, ...(file === undefined ? {} : { file }) }
  })
}
