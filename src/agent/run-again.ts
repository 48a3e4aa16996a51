// A turn once more, because somebody asked for it: a run of its own in the same session, which names the one that it
// repeats. From the start, what came in is asked again, as it was when the first turn had it whole; from a step, the
// journal up to that step comes along, and the model is asked as if it had not gone on.
import { AppError, type Ids, type Json } from "../kernel/index.ts"
import {
  type JobRow,
  type Step,
  type Store,
  type Write,
  insertStep,
  markProvenance,
  readSteps,
} from "../store/index.ts"
import type { PromptStep } from "./turn-prompt.ts"
import { type TurnInput, turnJob, turnJobKind } from "./turn-input.ts"

export interface RunAgain {
  runId: string
  /** A step of the model, or the one after the last of a run that has come to nothing; unset: from the start. */
  step?: number | undefined
  /** The same wish, sent twice, is one run. */
  key?: string | undefined
}

const source = { source: "gateway", account: "run-again" }

/** Rejects with `turn-not-found`, `conflict` while the run is open, and `bad-request` where it cannot be repeated so. */
export async function runAgain(
  { store, ids }: { store: Store; ids: Ids },
  { runId, step, key }: RunAgain,
): Promise<{ runId: string }> {
  const job = findJob(store, runId)
  const steps = await readSteps(store, job.id)
  const taken = step === undefined ? [] : stepsBefore(steps, step)
  const again = { runId, ...(step === undefined ? {} : { step }) }
  const input = { ...inputOf(job, steps), again }
  const next = ids.uuid()
  const entry = {
    ...source,
    deliveryId: `${runId}:${key ?? next}`,
    payload: again as unknown as Json,
    answer: { runId: next },
    jobs: [turnJob(next, input)],
  }
  const [result] = await store.ingestBatch([entry], async (write) => copySteps(write, next, input, taken))
  return result?.kind === "duplicate" ? (result.answer as { runId: string }) : { runId: next }
}

function findJob(store: Store, runId: string): JobRow {
  const job = store.handle.prepare("select * from job where run_id = ?").get(runId) as JobRow | undefined
  if (!job) throw new AppError("turn-not-found", `There is no run ${runId.slice(0, 60)}`)
  if (job.kind !== turnJobKind) {
    throw new AppError("bad-request", `A run of the kind ${job.kind} is not repeated`, {
      hint: "Turns can be run again: answers to messages, and runs of webhooks",
    })
  }
  if (job.state === "ready" || job.state === "running") {
    throw new AppError("conflict", "This run is not over yet", { hint: "Stop it first, or wait for its end" })
  }
  return job
}

/** What the first turn was asked, with the files and the messages that it had taken in; but for how it waited its turn. */
function inputOf(job: JobRow, steps: readonly Step[]): TurnInput {
  const payload = JSON.parse(job.payload) as TurnInput
  const prompt = steps.find(({ kind }) => kind === "prompt")?.data as PromptStep | undefined
  const { join: _join, queue: _queue, ref: _ref, steered: _steered, ...input } = prompt?.input ?? payload
  // Where it belongs is kept in the job alone when a chat moves.
  return { ...input, sessionKey: payload.sessionKey, route: payload.route }
}

function stepsBefore(steps: readonly Step[], n: number): Step[] {
  const last = steps.at(-1)
  const model = steps.filter(({ kind }) => kind === "assistant").map((step) => step.n)
  // Behind the last step stands one that has failed, unless the last is the answer.
  const isAnswered = last?.kind === "assistant" && (last.data as { toolCalls: unknown[] }).toolCalls.length === 0
  const possible = last === undefined || isAnswered ? model : [...model, last.n + 1]
  if (possible.includes(n)) return steps.filter((step) => step.n < n)
  throw new AppError("bad-request", `Step ${n} is none that this run can go on from`, {
    hint:
      possible.length === 0 ? "It has no steps: run it again from the start" : `Possible are: ${possible.join(", ")}`,
  })
}

/** What they hold of others' words, they hold again. Nothing is copied where the wish was a repeated one. */
function copySteps(write: Write, runId: string, input: TurnInput, steps: readonly Step[]): void {
  const id = write.prepare("select id from job where run_id = ?").get(runId)?.["id"]
  if (typeof id !== "number") return
  for (const step of steps) {
    if (step.kind !== "prompt") {
      insertStep(write, id, step)
      continue
    }
    // The events in it were shown by the first turn, and are nobody's to settle again.
    const { eventRoom: _room, ...prompt } = step.data as PromptStep
    write
      .prepare("insert into step (job_id, n, kind, data, created_at) values (?, ?, 'prompt', ?, ?)")
      .run(id, step.n, JSON.stringify({ ...prompt, input, events: 0 }), write.now)
    const { origin, trusted, foreign } = prompt
    markProvenance(write, id, { origin: foreign ?? origin, trusted: trusted && !foreign })
  }
}
