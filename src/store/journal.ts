// The journal of a turn: each finished step is a row before the next one starts, so that a crash continues after it.
import { lowerProvenance } from "./provenance.ts"
import type { WriteOptions } from "./group-commit.ts"
import type { Store, Write } from "./store.ts"

export interface Step<Data = unknown> {
  n: number
  kind: string
  data: Data
}

export async function readSteps(store: Store, jobId: number): Promise<Step[]> {
  const rows = await store.db.selectFrom("step").selectAll().where("job_id", "=", jobId).orderBy("n").execute()
  return rows.map((row) => ({ n: row.n, kind: row.kind, data: JSON.parse(row.data) as unknown }))
}

/**
 * A step that brought words of others, or was written under them, lowers what the job sends from here on. Durable when it
 * resolves; a second writer of the same step fails, so two owners of one job cannot both go on.
 */
export async function writeStep(store: Store, jobId: number, step: Step, options?: WriteOptions): Promise<void> {
  await store.write(async (write) => insertStep(write, jobId, step), options)
}

/** The same inside a transaction that does more. */
export function insertStep(write: Write, jobId: number, step: Step): void {
  const { tainted, foreign } = step.data as { tainted?: boolean; foreign?: boolean }
  write
    .prepare("insert into step (job_id, n, kind, data, created_at) values (?, ?, ?, ?, ?)")
    .run(jobId, step.n, step.kind, JSON.stringify(step.data), write.now)
  if (tainted || foreign) lowerProvenance(write, jobId)
}

/** Whether a call of a tool has begun of which no result is known yet. */
export function isToolRunning(store: Store, jobId: number): boolean {
  const row = store.handle
    .prepare("select sum(kind = 'tool-start') > sum(kind = 'tool-result') as running from step where job_id = ?")
    .get(jobId)
  return row?.["running"] === 1
}
