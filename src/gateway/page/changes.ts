// Which rows have changed, for the event stream: while pages listen, triggers of the store's own connection note the ids
// in a temporary table, inside the very transaction that changes them, so that what is rolled back is not told. Without
// listeners there are no triggers and no cost.
import type { Store } from "../../store/index.ts"

export interface WatchedTable {
  /** What a change is called; a word of ours, never of a caller. */
  topic: string
  table:
    | "job"
    | "step"
    | "outbox"
    | "hook_delivery"
    | "approval"
    | "event"
    | "session"
    | "pairing_request"
    | "message"
    | "web_message"
  /** Expression for the id, `row` standing for the changed row. */
  id: string
  on: readonly ("insert" | "update" | "delete")[]
}

export interface Changes {
  /** Resolves when every further change is noted. */
  begin(): Promise<void>
  end(): Promise<void>
  /** What has changed since the last time, by topic; empty too while a transaction is open, whose end is not known. */
  take(): Map<string, (number | string)[]>
}

const noted = "temp.page_change"

export function createChanges(store: Store, tables: readonly WatchedTable[]): Changes {
  const { raw, prepare } = store.handle
  const names = tables.flatMap(({ topic, table, on }) => on.map((event) => `page_${topic}_${table}_${event}`))
  return {
    begin: () =>
      // As a writer among the others: what is made inside another's transaction would go with it.
      store.write(async () => {
        raw.exec(`create table if not exists ${noted} (topic text, id, primary key (topic, id)) without rowid`)
        for (const watched of tables) for (const event of watched.on) raw.exec(trigger(watched, event))
      }),
    end: () =>
      store.write(async () => {
        for (const name of names) raw.exec(`drop trigger if exists temp.${name}`)
        raw.exec(`delete from ${noted}`)
      }),
    take() {
      const found = new Map<string, (number | string)[]>()
      if (raw.isTransaction) return found
      const rows = prepare(`select topic, id from ${noted} limit 2000`).all() as {
        topic: string
        id: number | string
      }[]
      if (rows.length === 0) return found
      const remove = prepare(`delete from ${noted} where topic = ? and id = ?`)
      for (const { topic, id } of rows) {
        remove.run(topic, id)
        found.set(topic, [...(found.get(topic) ?? []), id])
      }
      return found
    },
  }
}

/**
 * An `or ignore` would not hold: what a statement that sets a trigger off says of conflicts goes before it, an upsert's update
 * "abort" (https://www.sqlite.org/lang_createtrigger.html), and then the change itself would fail.
 */
function trigger({ topic, table, id }: WatchedTable, event: "insert" | "update" | "delete"): string {
  const changed = id.replaceAll("row.", event === "delete" ? "old." : "new.")
  return `create temp trigger if not exists page_${topic}_${table}_${event} after ${event} on main.${table} begin
    insert into page_change select '${topic}', ${changed}
      where not exists (select 1 from page_change where topic = '${topic}' and id = ${changed});
  end`
}
