// The first id of a table at or after a moment. Ids follow time, so a few steps find it and no index on the time is needed;
// where a clock was set back, rows near that moment may fall on either side.
import type { Store } from "../store/index.ts"

const columns = { job: "created_at", outbox: "created_at", hook_delivery: "received_at" } as const

export function idAt(store: Store, table: keyof typeof columns, time: number): number {
  const { prepare } = store.handle
  // Each by itself is the first or last row of the table; asked for together they are looked for in all of it.
  const [lowest, highest] = ["min", "max"].map((end) => prepare(`select ${end}(id) as id from ${table}`).get()?.["id"])
  const first = prepare(`select id, ${columns[table]} as at from ${table} where id >= ? order by id limit 1`)
  let low = Number(lowest ?? 1)
  let high = Number(highest ?? 0) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = first.get(middle) as { id: number; at: number } | undefined
    // Between ids there may be gaps; what is looked at is the next row that there is.
    if (row === undefined || row.at >= time) high = middle
    else low = row.id + 1
  }
  return low
}
