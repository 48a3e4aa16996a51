// The table of nodes.
import type { NodeRow, Store, Write } from "../store/index.ts"

export function readNodes(store: Store): NodeRow[] {
  return store.handle.prepare("select * from node").all() as unknown as NodeRow[]
}

const columns = [
  "id",
  "key",
  "name",
  "platform",
  "version",
  "state",
  "code",
  "address",
  "asked_at",
  "told_at",
  "decided_at",
  "decided_by",
  "last_seen_at",
] as const satisfies readonly (keyof NodeRow)[]

const saving = `insert or replace into node (${columns.join(", ")}) values (${columns.map(() => "?").join(", ")})`

export function saveNode({ prepare }: Write, row: NodeRow): void {
  prepare(saving).run(...columns.map((column) => row[column]))
}

export function deleteNode({ prepare }: Write, id: string): void {
  prepare("delete from node where id = ?").run(id)
}
