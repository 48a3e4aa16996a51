// What tools have sent, by run: the same send in the same run is made once, whatever crashes in between.
import type { NewOutbox, OutboxRow, Store, Write } from "../../../store/index.ts"

export interface SendKey {
  runId: string
  digest: string
}

/** Outbox ids of an earlier call with the same content in the same run; one that came to nothing may be made again. */
export function earlierSend(store: Store, { runId, digest }: SendKey): number[] | undefined {
  const row = store.handle
    .prepare(
      `select deliveries from tool_send where run_id = ? and digest = ? and exists (
         select 1 from outbox where state != 'dead' and id in (select value from json_each(deliveries)))`,
    )
    .get(runId, digest) as { deliveries: string } | undefined
  return row && (JSON.parse(row.deliveries) as number[])
}

/** The rows and the note that they were sent, in one transaction; the rows belong to the run's job. */
export async function addRows(
  store: Store,
  key: SendKey | undefined,
  runId: string,
  rows: NewOutbox[],
): Promise<number[]> {
  return await store.write(async (write) => {
    const earlier = key && earlierSend(store, key)
    if (earlier) return earlier
    const jobId = jobOf(write, runId)
    const ids = rows.map((row) => write.addOutbox(jobId === undefined ? row : { ...row, jobId }))
    if (key) {
      write
        .prepare(
          `insert into tool_send (run_id, digest, deliveries, created_at) values (?, ?, ?, ?)
           on conflict do update set deliveries = excluded.deliveries, created_at = excluded.created_at`,
        )
        .run(key.runId, key.digest, JSON.stringify(ids), write.now)
    }
    return ids
  })
}

/** A tool has sent it, and not the turn itself as its answer. */
export function isOfTool({ handle }: Store, { id, job_id: jobId }: Pick<OutboxRow, "id" | "job_id">): boolean {
  const row = handle
    .prepare(
      `select 1 from tool_send where run_id = (select run_id from job where id = ?)
         and exists (select 1 from json_each(deliveries) where value = ?) limit 1`,
    )
    .get(jobId, id)
  return row !== undefined
}

function jobOf(write: Write, runId: string): number | undefined {
  const row = write.prepare("select id from job where run_id = ?").get(runId) as { id: number } | undefined
  return row?.id
}

interface ChatKey {
  channel: string
  account: string
  chatId: string
}

/** Whether this very run has sent the message. */
export function isOfRun(
  store: Store,
  runId: string,
  { channel, account, chatId }: ChatKey,
  messageId: string,
): boolean {
  const row = store.handle
    .prepare(
      `select 1 from outbox where channel = ? and account = ? and chat_id = ? and remote_id = ? and kind <> 'edit'
         and job_id = (select id from job where run_id = ?) limit 1`,
    )
    .get(channel, account, chatId, messageId, runId)
  return row !== undefined
}

/** What the outbox says of a message that the bot has sent itself; undefined for a message of somebody else. */
export function ownMessage(store: Store, { channel, account, chatId }: ChatKey, messageId: string): string | undefined {
  const row = store.handle
    .prepare(
      `select payload from outbox where channel = ? and account = ? and chat_id = ? and remote_id = ?
       order by id desc limit 1`,
    )
    .get(channel, account, chatId, messageId) as { payload: string } | undefined
  return row?.payload
}
