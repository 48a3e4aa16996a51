// Rows of the outbox by what they belong to, and setting one aside that has failed.
import { AppError } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import type { DeliverySummary } from "./api.ts"
import { deliveryColumns, deliverySummary, noDelivery, previewSql } from "./store.ts"

const selected = `${deliveryColumns.join(", ")}, job.run_id, ${previewSql} as payload
  from outbox left join job on job.id = outbox.job_id`
const mostOfJob = 200

/** Those that are still there, oldest first. */
export function deliveriesByIds(store: Store, ids: readonly number[]): DeliverySummary[] {
  return summaries(
    store.handle
      .prepare(`select ${selected} where outbox.id in (select value from json_each(?)) order by outbox.id`)
      .all(JSON.stringify(ids)),
  )
}

export function deliveriesOfJob(store: Store, jobId: number): DeliverySummary[] {
  return summaries(
    store.handle.prepare(`select ${selected} where outbox.job_id = ? order by outbox.id limit ${mostOfJob}`).all(jobId),
  )
}

function summaries(rows: unknown): DeliverySummary[] {
  return (rows as Parameters<typeof deliverySummary>[0][]).map(deliverySummary)
}

/** Throws `not-found`, and `conflict` for what has not failed. */
export async function dismissDelivery(store: Store, id: number): Promise<void> {
  await store.write(async ({ prepare }) => {
    const { changes } = prepare(
      "update outbox set state = 'dropped' where id = ? and state in ('dead', 'uncertain')",
    ).run(id)
    if (Number(changes) > 0) return
    const row = prepare("select state from outbox where id = ?").get(id)
    if (!row) throw noDelivery(id)
    throw new AppError("conflict", `Delivery ${id} is ${row["state"]}; only dead or uncertain ones can be dismissed`)
  })
}
