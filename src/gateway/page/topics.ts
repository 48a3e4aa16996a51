// What the event stream tells of the store's tables: summaries, so that a list can take an entry over as it is.
import type { Store } from "../../store/index.ts"
import { deliveriesByIds } from "../delivery-rows.ts"
import { runsByIds } from "../store.ts"
import type { Topic } from "./feed.ts"

const written = ["insert", "update"] as const

export function storeTopics(store: Store): Topic[] {
  const ids = (list: readonly (number | string)[]) => list.map(Number)
  return [
    {
      name: "run",
      scope: "admin",
      tables: [{ table: "job", id: "row.id", on: written }],
      read: (list) => runsByIds(store, ids(list)),
    },
    {
      name: "step",
      scope: "admin",
      tables: [{ table: "step", id: "row.job_id", on: ["insert"] }],
      read: (list) => lastSteps(store, ids(list)),
    },
    {
      name: "delivery",
      scope: "admin",
      tables: [{ table: "outbox", id: "row.id", on: written }],
      read: (list) => deliveriesByIds(store, ids(list)),
    },
    {
      name: "hook",
      scope: "admin",
      tables: [{ table: "hook_delivery", id: "row.id", on: written }],
      read: (list) => list.map((id) => ({ id: Number(id) })),
    },
    {
      name: "session",
      scope: "admin",
      tables: [{ table: "session", id: "row.key", on: ["insert", "update", "delete"] }],
      read: (list) => list.map((key) => ({ key: String(key) })),
    },
    // Of these the page asks anew what it shows: that they have changed is enough.
    {
      name: "waiting",
      scope: "admin",
      tables: [
        { table: "approval", id: "'approvals'", on: written },
        { table: "pairing_request", id: "'pairing'", on: ["insert", "delete"] },
      ],
      read: (list) => list.map((what) => ({ what })),
    },
  ]
}

function lastSteps(store: Store, ids: readonly number[]): object[] {
  return store.handle
    .prepare(
      `select job.run_id as runId, max(step.n) as n from step join job on job.id = step.job_id
       where step.job_id in (select value from json_each(?)) group by step.job_id`,
    )
    .all(JSON.stringify(ids)) as object[]
}
