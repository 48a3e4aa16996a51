// Which failures still count: those of the last week that nobody has dismissed. The rows themselves stay.
import { isJsonObject } from "../kernel/index.ts"
import { type FailureWindow, type Store, forgetLostLog } from "../store/index.ts"

const windowMs = 7 * 24 * 60 * 60 * 1000
const key = "failures.dismissed"

export interface Failures {
  window(): FailureWindow
  /** All that there are now have been seen. */
  dismiss(): Promise<void>
}

export async function openFailures(store: Store): Promise<Failures> {
  const kept = await store.meta.get(key)
  let seen = { outboxId: numberOf(kept, "outboxId"), jobId: numberOf(kept, "jobId") }
  return {
    window: () => ({ ...seen, since: store.clock.now() - windowMs }),
    async dismiss() {
      const next = { outboxId: newest(store, "outbox"), jobId: newest(store, "job") }
      await store.write(async () => forgetLostLog(store.handle))
      await store.meta.set(key, next)
      seen = next
    },
  }
}

function numberOf(kept: unknown, name: string): number {
  const value = isJsonObject(kept as never) ? (kept as Record<string, unknown>)[name] : undefined
  return typeof value === "number" ? value : 0
}

function newest(store: Store, table: "outbox" | "job"): number {
  return (store.handle.prepare(`select coalesce(max(id), 0) as id from ${table}`).get() as { id: number }).id
}
