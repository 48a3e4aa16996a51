// Runs that came from webhooks: their state, their reply and what became of it, and waiting for their end. Nothing here asks the store again and
// again: a wait is woken when its job stops.
import { type RunDelivery, type Store, describeRunDelivery, readRunDelivery } from "../store/index.ts"
import type { HookRun } from "./contract.ts"

export interface HookRuns {
  /** Undefined when there is no such run, or it did not come from a webhook. */
  read(runId: string): HookRun | undefined
  /** The same for a token of its own scope: undefined, too, for what it has not asked for itself. */
  readFor(tokenId: string, runId: string): HookRun | undefined
  /** The run once it has ended; undefined when the time is up or the signal aborts first. */
  wait(runId: string, timeoutMs: number, signal: AbortSignal): Promise<HookRun | undefined>
  /** The same run once its messages have been sent, or not: when the time is up, as it is then. */
  settled(run: HookRun, timeoutMs: number, signal: AbortSignal): Promise<HookRun>
}

export interface HookRunsOptions {
  store: Store
  /** Tells of every job that stops running; returns the way to leave. */
  onStopped: (listener: (runId: string) => void) => () => void
  /** Resolves when these rows of the outbox wait no more, at the latest after the time. */
  waitForDeliveries: (ids: readonly number[], limits: { timeoutMs: number; signal: AbortSignal }) => Promise<unknown>
}

interface RunRow {
  id: number
  state: HookRun["state"]
  error: string | null
  result: string | null
  created_at: number
  finished_at: number | null
}

const sqlRun = `select id, state, error, result, created_at, finished_at from job
  where run_id = ? and kind = 'turn' and json_extract(payload, '$.purpose') = 'hook'`
const sqlAskedBy = "select json_extract(payload, '$.hook.tokenId') as tokenId from job where run_id = ?"
const sqlReply = "select data from step where job_id = ? and kind = 'assistant' order by n desc limit 1"

export function createHookRuns(options: HookRunsOptions): HookRuns {
  const { handle } = options.store
  const waiting = new Map<string, Set<() => void>>()
  let leave: (() => void) | undefined
  const read = (runId: string): HookRun | undefined => {
    const row = handle.prepare(sqlRun).get(runId) as unknown as RunRow | undefined
    if (!row) return undefined
    const result = row.result === null ? undefined : (JSON.parse(row.result) as { text?: string; delivered?: string })
    const delivery = readRunDelivery(options.store, row.id)
    return {
      runId,
      state: row.state,
      reply: row.state === "done" ? (wholeReply(row.id) ?? result?.text ?? null) : null,
      delivered: describeRunDelivery(delivery) ?? result?.delivered ?? null,
      delivery,
      error: row.error,
      createdAt: row.created_at,
      finishedAt: row.finished_at,
    }
  }
  // A job's result holds the beginning of its reply; the journal has the whole of it.
  const wholeReply = (jobId: number): string | undefined => {
    const step = handle.prepare(sqlReply).get(jobId) as { data: string } | undefined
    return step && (JSON.parse(step.data) as { text?: string }).text
  }
  const ended = (runId: string): HookRun | undefined => {
    const run = read(runId)
    return run && run.state !== "ready" && run.state !== "running" ? run : undefined
  }
  const listen = (runId: string, wake: () => void): (() => void) => {
    leave ??= options.onStopped((stopped) => waiting.get(stopped)?.forEach((listener) => listener()))
    const listeners = waiting.get(runId) ?? new Set()
    waiting.set(runId, listeners.add(wake))
    return () => {
      listeners.delete(wake)
      if (listeners.size === 0) waiting.delete(runId)
      if (waiting.size > 0) return
      leave?.()
      leave = undefined
    }
  }
  return {
    read,
    readFor(tokenId, runId) {
      const asked = handle.prepare(sqlAskedBy).get(runId) as { tokenId: string | null } | undefined
      return asked?.tokenId === tokenId ? read(runId) : undefined
    },
    async settled(run, timeoutMs, signal) {
      const waiting = queuedIds(run.delivery)
      if (waiting.length === 0 || timeoutMs <= 0) return run
      await options.waitForDeliveries(waiting, { timeoutMs, signal })
      return read(run.runId) ?? run
    },
    wait: (runId, timeoutMs, signal) =>
      new Promise((resolve) => {
        const finish = (run: HookRun | undefined) => {
          clearTimeout(timer)
          signal.removeEventListener("abort", giveUp)
          unlisten()
          resolve(run)
        }
        const giveUp = () => finish(undefined)
        const look = () => {
          const run = ended(runId)
          if (run) finish(run)
        }
        const timer = setTimeout(giveUp, timeoutMs)
        const unlisten = listen(runId, look)
        signal.addEventListener("abort", giveUp, { once: true })
        if (signal.aborted) giveUp()
        else look()
      }),
  }
}

function queuedIds({ messages }: RunDelivery): number[] {
  return messages.filter(({ state }) => state === "queued").map(({ id }) => id)
}
