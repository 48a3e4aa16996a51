// What waits in one lane goes on in another: its chat got another id. Order stays; what runs ends in the new lane.
import type { Json } from "../kernel/index.ts"
import type { JobRow, OutboxRow } from "./schema.ts"
import type { Write } from "./store.ts"

export interface JobChange {
  /** Of the payload of each open job, and of each prompt that a running one has kept. */
  payload: (value: Json) => Json
  /** Whose message it is: by that those of one person are found again, and answered together. */
  sender: (sender: string) => string
}

export function moveJobs(write: Write, from: string, to: string, change: JobChange): number {
  const rows = write
    .prepare("select * from job where lane_key = ? and state in ('ready', 'running') order by id")
    .all(from) as unknown as JobRow[]
  for (const row of rows) {
    write
      .prepare("update job set lane_key = ?, payload = ?, sender = ? where id = ?")
      .run(to, changed(row.payload, change.payload), row.sender === null ? null : change.sender(row.sender), row.id)
    const prompt = write.prepare("select data from step where job_id = ? and n = 0").get(row.id)
    if (prompt) {
      write
        .prepare("update step set data = ? where job_id = ? and n = 0")
        .run(changed(String(prompt["data"]), change.payload), row.id)
    }
  }
  if (rows.length > 0) chooseHead(write, "job", to, "('ready', 'running')", "running", "class > 0, id")
  return rows.length
}

/** `change` is given what has not been sent yet, and says what becomes of it. */
export function moveOutbox(
  write: Write,
  from: string,
  to: string,
  change: (row: OutboxRow) => { chatId: string; route: Json; payload: Json },
): number {
  const rows = write
    .prepare("select * from outbox where lane_key = ? and state in ('new', 'sending') order by id")
    .all(from) as unknown as OutboxRow[]
  for (const row of rows) {
    write.prepare("update outbox set lane_key = ? where id = ?").run(to, row.id)
    if (row.state !== "new") continue
    const { chatId, route, payload } = change(row)
    write
      .prepare("update outbox set chat_id = ?, route = ?, payload = ? where id = ?")
      .run(chatId, JSON.stringify(route), JSON.stringify(payload), row.id)
  }
  if (rows.length > 0) chooseOutboxHead(write, to)
  return rows.length
}

/** Of a chat in which rows have come to be open that were not, or not here. */
export function chooseOutboxHead(write: Write, lane: string): void {
  chooseHead(write, "outbox", lane, "('new', 'sending')", "sending")
}

/** The first in this order is the head, unless one is under way: then the next head is chosen when it ends. */
function chooseHead(
  write: Write,
  table: "job" | "outbox",
  lane: string,
  open: string,
  underWay: string,
  order = "id",
): void {
  write.prepare(`update ${table} set head = (state = ?) where lane_key = ? and state in ${open}`).run(underWay, lane)
  write
    .prepare(
      `update ${table} set head = 1
       where id = (select id from ${table} where lane_key = ?1 and state in ${open} order by ${order} limit 1)
         and not exists (select 1 from ${table} where lane_key = ?1 and state in ${open} and state = ?2)`,
    )
    .run(lane, underWay)
}

function changed(json: string, change: JobChange["payload"]): string {
  return JSON.stringify(change(JSON.parse(json) as Json))
}
